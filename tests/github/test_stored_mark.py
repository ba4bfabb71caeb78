"""The run of a mark among the artifacts of a repository's runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from runevals.github.events import Job
from runevals.github.job import JobContext
from runevals.github.stored_mark import stored_mark
from runevals.records import ModelIdentity
from runevals.reports import results_document as document
from runevals.settings.resolve import RawSettings, resolve
from runevals.verdict.outcome import decision
from tests.sample_reports import report

CASES = {"a": "pp", "b": "pp"}
TARGET = ModelIdentity(type="python")
PLANNED = frozenset((one.suite, one.key) for one in report(CASES).cases)
MERGED, TAGGED, REMOVED = ("cde"[n] * 40 for n in range(3))


@pytest.fixture
def settings(repository, hub):
    hub.history = [repository.git("rev-parse", "HEAD"), MERGED]
    return resolve(RawSettings(cwd=repository.path, environment={}))


@pytest.fixture
def store(hub, settings):
    """A run of so many days ago, with its result."""

    def add(number, days, cases=CASES, sha=MERGED, begins=None, **more):
        began = datetime.now(UTC) - timedelta(days=days)
        made = report(cases)
        made = replace(made, run=replace(made.run, target=TARGET, started_at=begins or began, commit=sha))
        hub.run(number, sha, created_at=f"{began:%Y-%m-%dT%H:%M:%SZ}", **more)
        hub.artifact(number, "runevals-x", {"results.json": document.write(decision(made, None, settings.rules))})

    return add


@pytest.fixture
def found(api, settings):
    def look(mark, *, api=api, branch="main"):
        here = JobContext(
            job=Job(branch=branch),
            api=api,
            server="",
            repository="o/r",
            workflow="evals.yml",
            run=99,
            comment_id="x",
            artifact="runevals-x",
        )
        marked = resolve(RawSettings(cwd=settings.cwd, environment={}, flags={"mark": mark}))
        return stored_mark(marked, here, marked.compare.mark, PLANNED)

    return look


def test_the_newest_that_is_old_enough(store, found, hub):
    for number, days in enumerate((60, 40, 31, 2), start=1):
        store(number, days)
    store(5, 33, branch="feature")
    run = found("30d").run
    assert run.source.startswith("run 3 on main, ccccccc, ")
    queries = [query for _, path, query, _ in hub.asked if path.endswith("/runs")]
    assert [query["created"][:2] for query in queries] == ["<="]


def test_of_a_tag_that_the_checkout_lacks_the_run_of_its_commit(store, found, hub):
    store(1, 9, sha=TAGGED, branch="v1.4")
    store(2, 1)
    hub.history.append(TAGGED)
    hub.tags = {"v1.4": TAGGED}
    assert found("v1.4").run.report.run.commit == TAGGED
    assert "Not Found" in found("v1.5").notices[0]


def test_a_result_of_a_pull_request_is_no_mark(store, found):
    store(1, 40, event="pull_request")
    store(2, 41, repository_id=2)
    assert found("30d").notices == ("no mark: no result is stored that is 30 days old",)


@pytest.mark.parametrize("mark", ["30d", "best"])
def test_a_commit_that_the_base_does_not_have_is_no_mark(store, found, settings, mark):
    """A tag that is called main, or a commit that was pushed away, with worse results: the control is run 1."""
    store(1, 50)
    for number, sha in enumerate((REMOVED, "f" * 40), start=2):
        store(number, 40, {"a": "pp", "b": "pp"} if mark == "best" else {"a": "ff", "b": "ff"}, sha=sha)
    assert found(mark).run.source.startswith("run 1 ")
    assert found(mark).run.best_of == 1


def test_where_nothing_tells_what_came_before_there_is_no_mark(store, found, hub):
    store(1, 50)
    hub.history = []
    assert found("30d").notices == ("no mark: no result is stored that is 30 days old",)


def test_a_result_of_the_future_is_no_mark(store, found):
    store(1, 50)
    store(2, 40, begins=datetime.now(UTC) + timedelta(days=2))
    assert found("best").run.source.startswith("run 1 ")


def test_the_best_of_the_newest(store, found):
    store(1, 5)
    store(2, 4, {"a": "pp", "b": "ff"})
    run = found("best").run
    assert (run.source[:5], run.best_of) == ("run 1", 2)


def test_it_is_told_once_where_nothing_can_be_asked(store, found, hub):
    assert found("30d", api=None).run is None
    assert found("best", branch=None).notices == ("no mark: nothing says of which branch best is",)
