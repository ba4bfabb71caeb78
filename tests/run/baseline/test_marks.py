"""Which of the results that are kept here is the one that a mark names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from runevals.records import GateRules, ModelIdentity
from runevals.reports import results_document as document
from runevals.run.baseline.marks import kept_mark, run_of_mark
from runevals.settings.file import BaseSide
from runevals.settings.resolve import RawSettings, resolve
from runevals.verdict.outcome import decision
from tests.sample_reports import case, report

CASES = {"a": "pp", "b": "pp", "c": "pf"}
PLANNED = frozenset((one.suite, one.key) for one in report(CASES).cases)


@pytest.fixture
def kept(project):
    """Writes a run's document, of so many days ago."""

    def write(name, cases, days, *, folder=".evals/results", **run):
        made = report(cases)
        started_at = datetime.now(UTC) - timedelta(days=days)
        made = replace(made, run=replace(made.run, started_at=started_at, **run))
        text = document.write(decision(made, None, GateRules()))
        return project.write(f"{folder}/{name}", text)

    return write


@pytest.fixture
def found(project):
    def look(mark, planned=PLANNED, **flags):
        settings = resolve(RawSettings(cwd=project.path, environment={}, flags={"mark": mark, **flags}))
        return kept_mark(settings, planned)

    return look


def test_the_newest_that_is_old_enough(kept, found):
    for days in (3, 29, 31, 45):
        kept(f"of-{days}.json", CASES, days)
    assert found("30d").run.source.startswith("of-31.json, run ")
    assert found("1d").run.source.startswith("of-3.json")
    assert found("90d").notices == ("no mark: no result is stored that is 90 days old",)


def test_what_is_no_result_of_these_cases_is_passed_over(project, kept, found):
    kept("other.json", {"x": "p"}, 40)
    kept("errored.json", dict.fromkeys(CASES, "e"), 41)
    project.write(".evals/results/broken.json", '{"started_at": "2020-01-01T00:00:00Z"}')
    project.write(".evals/results/text.json", "not even JSON")
    kept("mostly-errored.json", {"a": "pp", "b": "e", "c": "e"}, 42)
    kept("one-case.json", {"a": "pp"}, 43, settings={"filter": ["a"]})
    kept("good.json", {**CASES, "d": "ss"}, 50)
    assert found("30d").run.source.startswith("good.json")


def test_the_best_has_most_of_the_cases_and_says_of_how_many_it_is(kept, found):
    kept("worse.json", {**CASES, "b": "ff"}, 1)
    kept("best.json", CASES, 2)
    kept("small.json", {"a": "pp"}, 3)
    run = found("best").run
    assert (run.source[:9], run.best_of) == ("best.json", 2)


def test_an_older_run_of_fewer_cases_is_whole(kept, found):
    kept("older.json", {"a": "pp"}, 40)
    assert found("30d").run.source.startswith("older.json")


def test_the_best_is_of_the_same_target(kept, found):
    kept("other.json", CASES, 1, target=ModelIdentity(type="openai", model="large"))
    kept("own.json", {**CASES, "b": "ff"}, 2, target=ModelIdentity(type="openai", model="small"))
    run = found("best", target="openai:small").run
    assert (run.source[:8], run.best_of) == ("own.json", 1)


def test_of_equal_pass_rates_the_best_has_the_best_score(kept, found):
    """Otherwise the newest is the mark, and a slow decline of a judge's scores is never seen."""
    kept("declined.json", {"a": [0.5, 0.5], "b": [1.0, 1.0], "c": [1.0, 1.0]}, 1)
    kept("first.json", {"a": [1.0, 1.0], "b": [1.0, 1.0], "c": [1.0, 1.0]}, 2)
    assert found("best").run.source[:10] == "first.json"


def test_a_folder_of_baselines_is_looked_at_too(kept, found):
    folder = kept("old.json", CASES, 40, folder="runs").parent
    assert found("30d", baseline=str(folder)).run.source.startswith("old.json")


def test_of_a_tag_the_run_of_its_commit(repository, kept, found):
    repository.git("tag", "-a", "v1.4", "-m", "v1.4")
    commit = repository.git("rev-parse", "HEAD")
    kept("newer.json", CASES, 1, commit="0" * 40)
    kept("edited.json", CASES, 2, commit=commit, uncommitted="2f5a81c0d3e4")
    assert found("v1.4").notices == ("no mark: no result is stored of the commit of v1.4",)
    kept("tagged.json", CASES, 9, commit=commit)
    assert found("v1.4").run.source.startswith("tagged.json")
    assert found("v9").notices == ("no mark: git knows no tag v9 here",)


def test_a_change_cannot_bring_a_mark_along(repository, kept):
    kept("planted.json", dict.fromkeys(CASES, "ff"), 40)
    repository.git("add", "-f", ".evals/results/planted.json")
    told = RawSettings(cwd=repository.path, environment={}, flags={"mark": "30d"})
    side = BaseSide(commit=repository.git("rev-parse", "main"))
    assert kept_mark(resolve(told), PLANNED).run is not None
    assert kept_mark(replace(resolve(told), base_side=side), PLANNED).run is None


@pytest.mark.parametrize(
    ("told", "notices"), [({}, 0), ({"mark": "30d"}, 1), ({"mark": "30d", "shard": "1/2"}, 0)]
)
def test_it_is_looked_for_only_where_it_is_wanted_and_of_the_whole(project, told, notices):
    settings = resolve(RawSettings(cwd=project.path, environment={}, flags=told))
    assert len(run_of_mark(settings, [case("a", "p")], None).notices) == notices
