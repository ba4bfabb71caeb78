"""Where a base's report comes from."""

from __future__ import annotations

import gzip
import time
from datetime import timedelta
from http.server import SimpleHTTPRequestHandler

import pytest
from msgspec.structs import replace

from runevals.records import ModelIdentity
from runevals.records.errors import ExternalError, InvalidDocument, InvalidSettings
from runevals.reports import results_document as document
from runevals.run.baseline.from_files import read_baseline, require_whole
from runevals.settings.resolve import RawSettings, resolve
from runevals.verdict.outcome import decision
from tests.json_server import Answer, json_server
from tests.sample_reports import case, report
from tests.serving import Quiet, serving


@pytest.fixture
def named(tmp_path):
    def settle(baseline):
        return resolve(RawSettings(cwd=tmp_path, environment={}, flags={"baseline": str(baseline)}))

    return settle


@pytest.fixture
def store(tmp_path):
    """Writes a run's document, `age` runs ago."""

    def write(name, cases, age=0, *, run=None, **more):
        made = report(cases, **more)
        started_at = made.run.started_at - timedelta(days=age)
        info = replace(made.run, **{"started_at": started_at, "commit": "c0" * 4, **(run or {})})
        path = tmp_path / "runs" / name
        path.parent.mkdir(exist_ok=True)
        settings = resolve(RawSettings(cwd=tmp_path, environment={}))
        path.write_text(document.write(decision(replace(made, run=info), None, settings.rules)), encoding="utf-8")
        return path

    return write


def test_a_file_is_read_and_named(named, store):
    found, _ = read_baseline(named(store("base.json", {"a": "p"})))
    assert found.source == "base.json of c0c0c0c, run 2026-11-20 12:00 UTC"
    assert [case.key for case in found.report.cases] == ["a"]


def test_of_a_folder_the_newest_three_measured_runs_are_pooled(named, store):
    for age, outcomes in enumerate(("pf", "pp", "ff", "pp", "pp")):
        store(f"run-{9 - age}.json", {"a": outcomes}, age)
    store("broken.json", {"a": "ee"}, -1)
    path = store("other.json", {"a": "p"})
    path.write_text("{}", encoding="utf-8")
    found, _ = read_baseline(named(path.parent))
    assert found.report.cases[0].values == (1.0, 0.0, 1.0, 1.0, 0.0, 0.0)
    assert found.source.endswith("and 2 like it")
    assert found.report.run.commit == "c0c0c0c0"


def test_a_copy_of_a_result_is_not_one_more_run(named, store):
    path = store("base.json", {"a": "p"})
    path.with_suffix(".json.gz").write_bytes(gzip.compress(path.read_bytes()))
    found, _ = read_baseline(named(path.parent))
    assert found.report.cases[0].values == (1.0,)
    store("same-second.json", {"a": "f"})
    assert sorted(read_baseline(named(path.parent))[0].report.cases[0].values) == [0.0, 1.0]


def judged_by(model):
    return ModelIdentity(type="openai", model=model, prompt_hash="p")


@pytest.mark.parametrize(
    ("run", "why"),
    [
        pytest.param({"commit": "c1" * 4}, "another commit", id="commit"),
        pytest.param({"commit": None}, "no commit is named", id="no commit"),
        pytest.param({"target": ModelIdentity(type="openai", model="gpt-5")}, "another target", id="target"),
        pytest.param({"judge": judged_by("severe")}, "another judge", id="judge"),
    ],
)
def test_a_run_that_was_made_otherwise_is_left_out_of_the_pool_and_named(named, store, run, why):
    store("new.json", {"a": "p"})
    store("alike.json", {"a": "p"}, 1)
    folder = store("other.json", {"a": "f"}, 2, run=run).parent
    found, notices = read_baseline(named(folder))
    assert found.report.cases[0].values == (1.0, 1.0)
    assert notices == (f"left out of the pool of baselines: other.json ({why})",)


def test_runs_without_a_commit_are_not_known_to_be_of_one(named, store):
    store("new.json", {"a": "p"}, run={"commit": None})
    folder = store("old.json", {"a": "f"}, 1, run={"commit": None}).parent
    assert read_baseline(named(folder))[0].report.cases[0].values == (1.0,)


def test_commits_with_the_same_files_are_pooled(repository, store, named):
    first = repository.git("rev-parse", "HEAD")
    repository.git("commit", "-q", "--allow-empty", "-m", "nothing")
    store("new.json", {"a": "p"}, run={"commit": repository.git("rev-parse", "HEAD")})
    folder = store("old.json", {"a": "f"}, 1, run={"commit": first}).parent
    assert read_baseline(named(folder))[0].report.cases[0].values == (1.0, 0.0)


def test_a_run_without_errored_cases_goes_before_a_newer_one_with_some(named, store):
    store("new.json", {"a": "p", "b": "e"}, run={"commit": "c1" * 4})
    folder = store("old.json", {"a": "p", "b": "p"}, 1).parent
    found, notices = read_baseline(named(folder))
    assert found.report.run.commit == "c0" * 4
    assert notices == ("left out of the pool of baselines: new.json (another commit)",)


def test_a_milder_judge_of_the_newest_run_hides_no_loss(named, store):
    """60 cases, judged severely twice (3 of 5) and mildly now (5); the change is judged mildly too (4)."""
    for age, (judge, share) in enumerate((("mild", 1.0), ("severe", 0.5), ("severe", 0.5))):
        cases = {f"k{n}": [share] * 3 for n in range(60)}
        folder = store(f"{age}.json", cases, age, run={"judge": judged_by(judge)}).parent
    settings = named(folder)
    found, notices = read_baseline(settings)
    head = report({f"k{n}": [0.75] * 3 for n in range(60)})
    head = replace(head, run=replace(head.run, judge=judged_by("mild")))
    conclusion = decision(head, found, settings.rules)
    assert conclusion.verdict.exit_code == 1
    assert conclusion.comparison.drop == pytest.approx(0.25)
    assert notices == ("left out of the pool of baselines: 1.json (another judge), 2.json (another judge)",)


def test_runs_from_before_a_fix_hide_no_loss(named, store):
    """Main was fixed yesterday, 70 → 90 %; the change takes it to 80 %."""
    passing = {0: 90, 1: 70, 2: 70}
    for age, count in passing.items():
        cases = {f"k{n:02}": "p" if n < count else "f" for n in range(100)}
        folder = store(f"{age}.json", cases, age, run={"commit": "c1" * 4 if age else "c0" * 4}).parent
    settings = named(folder)
    head = report({f"k{n:02}": "p" if n < 80 else "f" for n in range(100)})
    assert decision(head, read_baseline(settings)[0], settings.rules).verdict.exit_code == 1


def test_cases_of_other_content_are_not_pooled(named, store):
    store("new.json", [case("a", "p"), case("b", "p")])
    folder = store("old.json", [case("a", "f", fingerprint="older"), case("b", "f")], 1).parent
    found, _ = read_baseline(named(folder))
    assert [case.values for case in found.report.cases] == [(1.0,), (1.0, 0.0)]


def test_deterministic_runs_are_not_pooled(named, store):
    store("new.json", {"a": "p"}, deterministic=True)
    folder = store("old.json", {"a": "f"}, 1, deterministic=True).parent
    assert read_baseline(named(folder))[0].report.cases[0].values == (1.0,)


@pytest.mark.parametrize("deterministic", [False, True])
def test_a_folder_with_results_of_several_suites_is_the_base_of_all(named, store, deterministic):
    def suite(name, key, letters):
        return [case(key, letters, suite=f"{name}/evals.json")]

    store("chat.json", suite("chat", "a", "p"), deterministic=deterministic)
    store("chat-before.json", suite("chat", "a", "f"), 1, deterministic=deterministic)
    store("rag.json", suite("rag", "b", "p"), 2, deterministic=deterministic)
    store("both.json", suite("chat", "a", "f") + suite("rag", "b", "f"), 3, deterministic=deterministic)
    other = {"run": {"commit": "c1" * 4}, "deterministic": deterministic}
    folder = store("old.json", suite("gone", "c", "p"), **other).parent
    found, _ = read_baseline(named(folder))
    values = {one.key: one.values for one in found.report.cases}
    assert values == ({"a": (1.0,), "b": (1.0,)} if deterministic else {"a": (1.0, 0.0, 0.0), "b": (1.0,)})


def test_a_folder_with_results_of_parts_of_a_suite_is_the_base_of_all_its_cases(named, store):
    store("chat.json", {"a": "p", "b": "f"})
    store("chat-before.json", {"a": "f", "b": "p"}, 1)
    store("rag.json", {"c": "f"}, 2)
    folder = store("rag-before.json", {"b": "p", "c": "p", "d": "p"}, 3).parent
    found, _ = read_baseline(named(folder))
    values = {one.key: one.values for one in found.report.cases}
    assert values == {"a": (1.0, 0.0), "b": (0.0, 1.0, 1.0), "c": (0.0,), "d": (1.0,)}


def test_an_empty_folder_is_told(named, tmp_path):
    with pytest.raises(InvalidSettings, match="holds no results document"):
        read_baseline(named(tmp_path))


def test_an_address_is_fetched(named, store, monkeypatch):
    path = store("base.json", {"a": "p"})
    monkeypatch.chdir(path.parent)

    class Handler(Quiet, SimpleHTTPRequestHandler):
        pass

    with serving(Handler) as address:
        assert read_baseline(named(f"{address}/base.json"))[0].report.cases[0].key == "a"
        with pytest.raises(ExternalError, match="404"):
            read_baseline(named(f"{address}/absent.json"))
    with pytest.raises(ExternalError, match="cannot be fetched"):
        read_baseline(named(f"{address}/base.json"))


def test_no_password_and_no_signature_of_an_address_is_shown(named, store, monkeypatch):
    """The source of the base is in the comment on the pull request."""
    path = store("base.json", {"a": "p"})
    path.with_name("none.json").write_text("[]", encoding="utf-8")
    monkeypatch.chdir(path.parent)

    class Handler(Quiet, SimpleHTTPRequestHandler):
        pass

    with serving(Handler) as address:
        signed = f"{address.replace('//', '//ann:password@')}/%s.json?signature=secret"
        found, _ = read_baseline(named(signed % "base"))
        assert found.source.startswith(f"{address}/base.json of c0c0c0c")
        told = [str(_refused(read_baseline, named(signed % name))) for name in ("absent", "none")]
    told.append(str(_refused(read_baseline, named(signed % "base"))))
    assert not [text for text in told if "password" in text or "secret" in text]


def _refused(call, *arguments):
    with pytest.raises((ExternalError, InvalidDocument)) as raised:
        call(*arguments)
    return raised.value


def test_a_baseline_that_arrives_byte_by_byte_does_not_hold_the_job(named, monkeypatch):
    monkeypatch.setattr("runevals.run.baseline.from_files.TOTAL_S", 0.3)
    with json_server(lambda *_: Answer(raw=b"{" * 100_000, drip_s=0.01)) as server:
        start = time.monotonic()
        with pytest.raises(ExternalError, match="was not complete within"):
            read_baseline(named(f"{server.url}/base.json"))
        assert time.monotonic() - start < 60  # all of it takes 1000


def test_a_result_that_calls_itself_incomplete_and_does_not_say_why_is_refused():
    require_whole(report({"a": "p"}), "a.json")  # the control
    with pytest.raises(InvalidDocument, match=r"a\.json is of a run that was not complete"):
        require_whole(replace(report({"a": "p"}), complete=False), "a.json")
