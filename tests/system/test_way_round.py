"""Ways round the gate that a change could try, or stumble into: none turns red into green."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.against_base import AGAINST, on_main, pull_request_event, weakened
from tests.ending import ended
from tests.sample_suites import EXACT, SETTINGS, TEN, WORSE, numbered

SUITE = {**EXACT, "items": numbered(60, "right")}
ITEMS = TEN["items"]
GOOD = "def answer(prompt, messages, case):\n    return 'yes'\n"
BAD = "def answer(prompt, messages, case):\n    return 'no' if prompt[0] in '123' else 'yes'\n"


@pytest.fixture
def change(repository):
    """Ten cases that pass on main, three of which the change breaks."""
    for name, content in (("evals.json", json.dumps(TEN)), ("agent.py", GOOD), ("runevals.yaml", SETTINGS)):
        on_main(repository, name, content)
    repository.write("agent.py", BAD)
    return repository


@pytest.fixture
def pull_request(change, tmp_path_factory, monkeypatch):
    """The same as a pull request's job sees it."""
    pull_request_event(tmp_path_factory.mktemp("event"), monkeypatch, change.git("rev-parse", "main"))
    return change


def stored(repository, runevals, name="base.json"):
    """A result of the good agent, outside git."""
    repository.write("agent.py", GOOD)
    assert runevals("-q", "--baseline", "none", "-o", name)[0] == 0
    repository.write("agent.py", BAD)


@pytest.mark.parametrize("baseline", [["--baseline", "base.json"], []], ids=["stored", "run now"])
def test_with_base_a_merge_of_shards_takes_the_rules_of_the_base(change, runevals, baseline):
    stored(change, runevals)
    change.write("runevals.yaml", SETTINGS + "fail_on: [measured]\n")
    for part in "12":
        assert runevals("-q", "--shard", f"{part}/2", "-o", f"{part}.json")[0] == 0
    code, out, err = runevals("merge", "1.json", "2.json", *baseline, "--base", "main")
    assert (code, "3 of 10 cases regressed" in out) == (1, True), out + err
    assert "fail_on" in out
    if baseline:
        assert runevals("merge", "1.json", "2.json", *baseline)[0] == 0  # the control: its own rules


def test_with_base_gate_takes_the_rules_of_the_base(change, runevals):
    for name, failed in (("base.xml", ""), ("head.xml", "<failure/>")):
        tests = "".join(f'<testcase name="t{n}">{failed if n < 5 else ""}</testcase>' for n in range(20))
        change.write(name, f'<testsuite name="s">{tests}</testsuite>')
    change.write("runevals.yaml", SETTINGS + "fail_on: [measured]\n")
    words = ["gate", "head.xml", "--baseline", "base.xml", "--deterministic"]
    assert runevals(*words, "--base", "main")[0] == 1
    assert runevals(*words)[0] == 0  # the control


def test_a_link_cannot_say_where_the_base_keeps_its_settings(change, runevals):
    change.git("mv", "runevals.yaml", "other.yaml")
    change.write("other.yaml", SETTINGS + "fail_on: [none]\n")
    (change.path / "runevals.yaml").symlink_to("other.yaml")
    assert runevals(*AGAINST)[0] == 1


def test_settings_that_are_a_link_on_the_base_are_followed_there(repository, runevals):
    on_main(repository, "conf.yaml", SETTINGS + "fail_on: [none]\n")
    repository.git("checkout", "-q", "main")
    (repository.path / "runevals.yaml").unlink()
    (repository.path / "runevals.yaml").symlink_to("conf.yaml")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "a link")
    repository.git("checkout", "-q", "-B", "change")
    (repository.path / "runevals.yaml").unlink()
    repository.write("runevals.yaml", SETTINGS)
    repository.write("agent.py", WORSE)
    assert runevals(*AGAINST)[0] == 0  # by the base's own fail_on


def test_settings_named_by_a_variable_are_the_bases_too(change, runevals, monkeypatch):
    on_main_again(change, "ci/r.yaml", SETTINGS.replace("[evals.json]", "[../evals.json]"))
    settings = SETTINGS.replace("[evals.json]", "[../evals.json]").replace("agent.py", "../agent.py")
    on_main_again(change, "ci/r.yaml", settings)
    change.write("ci/r.yaml", settings + "fail_on: [none]\n")
    monkeypatch.setenv("RUNEVALS_CONFIG", "ci/r.yaml")
    assert runevals(*AGAINST)[0] == 1


def on_main_again(repository, name, content):
    """Puts a file on main; what the change did stays in the work tree."""
    repository.git("stash", "-qu")
    on_main(repository, name, content)
    repository.git("stash", "pop", "-q")


def test_a_change_cannot_filter_the_cases_that_it_breaks(pull_request, runevals):
    stored(pull_request, runevals)
    items = [{**item, "category": "hard" if item["testId"] in ("k1", "k2", "k3") else "easy"} for item in ITEMS]
    on_main_again(pull_request, "evals.json", json.dumps({**TEN, "items": items}))
    pull_request.write("runevals.yaml", SETTINGS + "category: [easy]\n")
    code, out, _ = runevals("-q", "--base", "main", "-o", "out.json")
    assert code == 1, out
    assert ("runevals.yaml", "category") in weakened(pull_request)


def test_no_longer_being_called_deterministic_is_listed(change, runevals):
    change.write("runevals.yaml", SETTINGS.replace(", deterministic: true", ""))
    runevals(*AGAINST)
    assert ("runevals.yaml", "target") in weakened(change)


def test_compare_on_a_pull_request_goes_by_the_bases_gates(pull_request, runevals):
    stored(pull_request, runevals)
    runevals("-q", "--baseline", "none", "-o", "head.json")
    pull_request.write("runevals.yaml", SETTINGS + "fail_on: [none]\n")
    assert runevals("compare", "base.json", "head.json")[0] == 1


def test_a_baseline_that_the_change_brings_itself_is_refused(pull_request, runevals):
    stored(pull_request, runevals)
    pull_request.git("add", "-f", "base.json")
    code, _, err = runevals("-q", "--baseline", "base.json")
    assert code == 2
    assert "a change must not bring its own" in err


def test_results_that_the_change_puts_into_the_folder_do_not_count(pull_request, runevals):
    (pull_request.path / "bases").mkdir()
    stored(pull_request, runevals, "bases/real.json")
    own = pull_request.document("bases/real.json")
    for case in own["cases"][1:4]:
        case["status"] = case["attempts"][0]["status"] = "failed"
        case["pass_rate"] = 0.0
    own["run"]["started_at"] = "2026-11-20T00:00:00Z"
    pull_request.write("bases/zz.json", own)
    pull_request.git("add", "-f", "bases/zz.json")
    assert runevals("-q", "--baseline", "bases", "--verify", "off")[0] == 1


def test_a_shallow_checkout_of_a_pull_request_fetches_its_base(
    pull_request, runevals, tmp_path_factory, monkeypatch
):
    on_main_again(pull_request, "runevals.yaml", SETTINGS + "gates: [{metric: pass_rate, op: '>=', limit: 1}]\n")
    pull_request.git("add", "-A")
    pull_request.git("commit", "-qm", "worse, and no gates")
    pull_request.write("runevals.yaml", SETTINGS)
    pull_request.git("commit", "-qam", "no gates")
    pull_request.git("config", "uploadpack.allowAnySHA1InWant", "true")
    base = pull_request.git("rev-parse", "main")
    pull_request_event(tmp_path_factory.mktemp("event"), monkeypatch, base)
    shallow = tmp_path_factory.mktemp("shallow") / "clone"
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", "-b", "change", f"file://{pull_request.path}", str(shallow)],
        check=True,
    )
    monkeypatch.chdir(shallow)
    code, out, _ = runevals("-q")
    assert code == 1, out
    assert "pass_rate >= 1 failed" in out


def test_a_pull_request_whose_base_cannot_be_had_is_not_judged_by_its_own_rules(change, runevals, monkeypatch):
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")
    code, _, err = runevals("-q")
    assert code == 3
    assert "does not say on which base" in err
    pull_request_event(change.path, monkeypatch, "0" * 40)
    code, _, err = runevals("-q")
    assert code == 3
    assert "the base commit 0000000 is not in this checkout and cannot be fetched" in err


@pytest.mark.parametrize("how", ["absolute", "PYTHONPATH", "suite"])
def test_the_base_is_run_from_its_own_files_however_they_are_named(change, runevals, monkeypatch, how):
    words = []
    if how == "absolute":
        words = ["--target", f"python:{change.path}/agent.py:answer"]
    elif how == "PYTHONPATH":
        on_main_again(change, "src/mypkg/agent.py", GOOD)
        change.write("src/mypkg/agent.py", BAD)
        monkeypatch.setenv("PYTHONPATH", str(change.path / "src"))
        words = ["--target", "python:mypkg.agent:answer"]
    else:
        change.write("evals.json", json.dumps({**TEN, "items": ITEMS[4:]}))
        words = [str(change.path / "evals.json")]
    runevals(*words, *AGAINST)
    assert change.document()["comparison"]["base"]["totals"]["passed"] == 10


def test_the_old_form_of_a_case_is_run_with_the_code_of_the_change(change, runevals, monkeypatch):
    """PYTHONPATH leads into the change's checkout then, though the old form is in the base's."""
    on_main_again(change, "src/mypkg/agent.py", GOOD)
    first = ITEMS[0]["prompt"]
    change.write("src/mypkg/agent.py", BAD.replace("prompt[0] in '123'", f"prompt.startswith({first!r})"))
    items = [{**ITEMS[0], "prompt": f"{first} Really?"}, *ITEMS[1:]]
    change.write("evals.json", json.dumps({**TEN, "items": items}))
    monkeypatch.setenv("PYTHONPATH", str(change.path / "src"))
    assert runevals("--target", "python:mypkg.agent:answer", *AGAINST)[0] == 1


def test_a_target_that_leads_back_into_the_change_is_no_base(change, runevals, tmp_path_factory, monkeypatch):
    """As an editable install does: the import finds the work tree, whichever checkout runs."""
    link = tmp_path_factory.mktemp("site")
    (link / "agent_link.py").write_text(
        f"import sys\nsys.path.insert(0, {str(change.path)!r})\nfrom agent import answer\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(link))
    code, _, err = runevals("--target", "python:agent_link:answer", *AGAINST)
    assert code == 3
    assert "of another checkout" in err


LUCKY = """
import pathlib, random

def answer(prompt, messages, case):
    rate = {rate}
    luck = random.Random("/".join([{seed!r}, case["key"], str(case["attempt"])]))
    return "right" if luck.random() < rate else "wrong"
"""
BY_CHANCE = "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\nrepeat: 3\n"


@pytest.fixture
def chance(repository):
    repository.git("checkout", "-q", "main")
    for name, content in (("evals.json", SUITE), ("runevals.yaml", BY_CHANCE)):
        repository.write(name, content)
    repository.write("agent.py", LUCKY.format(rate=0.97, seed="a"))
    repository.write(".gitignore", "base.json\nout.json\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "chance")
    repository.git("checkout", "-qB", "change")
    return repository


def test_a_base_that_breaks_while_it_is_verified_leaves_the_red_standing(chance, runevals):
    assert runevals("-q", "-o", "base.json")[0] == 0
    chance.git("checkout", "-q", "main")
    chance.write("agent.py", "def answer(prompt):\n    raise OSError('no network')\n")
    chance.git("commit", "-qam", "broken")
    chance.git("checkout", "-qB", "change")
    base = chance.document("base.json")
    base["run"]["commit"] = chance.git("rev-parse", "HEAD")
    chance.write("base.json", base)
    chance.write("agent.py", LUCKY.format(rate="0.2 if case['key'] < 'k2' else 1.0", seed="b"))
    code, out, _ = runevals("-q", "--baseline", "base.json", "-o", "out.json")
    assert code == 1, out
    assert "cannot be run: it measured 0 of 60 cases: target_failed: OSError: no network (agent.py:2)" in out, out


def test_what_main_accepted_since_the_stored_result_is_not_blamed_on_the_change(
    chance, runevals, tmp_path_factory, monkeypatch
):
    assert runevals("-q", "-o", "base.json")[0] == 0
    on_main(chance, "agent.py", LUCKY.format(rate=0.5, seed="c"))
    chance.write("README.md", "Hello.")
    pull_request_event(tmp_path_factory.mktemp("event"), monkeypatch, chance.git("rev-parse", "main"))
    code, out, _ = runevals("-q", "--baseline", "base.json", "--changed-only", "-o", "out.json")
    assert code == 0, out
    assert "does not confirm the difference" in out


def test_verify_off_is_told(chance, runevals):
    assert runevals("-q", "-o", "base.json")[0] == 0
    chance.write("agent.py", LUCKY.format(rate=0.4, seed="b"))
    code, out, _ = runevals("-q", "--baseline", "base.json", "--verify", "off", "-o", "out.json")
    assert code == 1, out
    assert "Decided on the stored base: verify: off" in out


def test_a_judge_that_the_first_change_brings_is_used(change, runevals):
    change.write("agent.py", GOOD)
    suite = {**TEN, "default_evaluators": {"Relevance": {}}}
    change.write("evals.json", json.dumps(suite))
    change.write("runevals.yaml", SETTINGS + "judge: recorded:judge.jsonl\n")
    lines = [json.dumps({"case": f"k{n}", "evaluator": "Relevance", "score": 5, "reason": "r"}) for n in range(10)]
    change.write("judge.jsonl", "\n".join(lines))
    code, out, err = runevals(*AGAINST)
    ended(code, 0, out + err, without=["none is configured"])
    assert ("runevals.yaml", "judge") in weakened(change)


def test_names_that_are_no_text_break_nothing(change, runevals):
    change.write("agent.py", GOOD)
    name = os.fsencode(change.path) + b"/data-\xff.txt"
    with open(name, "wb") as file:  # noqa: PTH123 - a name of bytes
        file.write(b"x")
    change.git("checkout", "-qb", os.fsdecode(b"br-\xff"))
    assert runevals(*AGAINST)[0] == 0
    assert runevals("-q", "--base", "main", "--changed-only", "-o", "out.json")[0] == 0


def test_a_circle_of_links_breaks_nothing(change, runevals):
    change.write("agent.py", GOOD)
    for name in ("loop", "loop.md", "evals-loop.json"):
        (change.path / name).symlink_to(name)
    assert runevals(*AGAINST)[0] == 0


@pytest.mark.parametrize(
    ("added", "wrong", "expected"),
    [
        (" ", "'no' if prompt.startswith('1?') else 'yes'", 1),  # white space is no edit
        (" Please.", "'no' if prompt == '1? Please.' else 'yes'", 0),  # made stricter: the old form passes
        (" Please.", "'no' if prompt.startswith('1?') else 'yes'", 1),  # the edit hides nothing
    ],
)
def test_an_edit_is_no_way_to_hide_a_lost_case(change, runevals, added, wrong, expected):
    items = [{**item, "prompt": item["prompt"] + added} if item["testId"] == "k1" else item for item in ITEMS]
    change.write("evals.json", json.dumps({**TEN, "items": items}))
    change.write("agent.py", GOOD.replace("'yes'", wrong))
    code, out, _ = runevals(*AGAINST, "-o", "out.md")
    assert code == expected, out
    if added != " ":
        assert "New failures" in (change.path / "out.md").read_text("utf-8")
        assert "k1 was edited, passed on the base and fails now" in out
        assert ("k1 was edited, passed on the base and fails now; its old form still passes" in out) is (
            expected == 0
        )
