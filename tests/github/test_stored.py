"""In which order earlier runs are looked at, and how often GitHub is asked for them."""

from __future__ import annotations

from itertools import islice

import pytest

from runevals.github.stored import MOST_COMMITS, StoredQuery, runs

BASE = "b" * 40
BEFORE = [f"{n:040x}" for n in range(1, 61)]  # the nearest first


@pytest.fixture
def found(api, hub):
    """(number, how far behind) of the runs that are looked at, and how often GitHub was asked."""

    def look(most=None, **more):
        wanted = StoredQuery(
            **{
                "repository": "o/r",
                "workflow": "evals.yml",
                "artifact": "runevals-x",
                "commit": BASE,
                "branch": "main",
                "before": tuple(BEFORE[:MOST_COMMITS]),
                **more,
            }
        )
        hub.asked.clear()
        looked_at = [(run.number, run.behind) for run in islice(runs(api, wanted), most)]
        return looked_at, len(hub.asked)

    return look


def test_the_runs_of_the_branch_are_listed_once_and_the_nearest_of_fifty_commits_goes_first(found, hub):
    for number, behind in enumerate((60, 50, 2, 30), start=1):
        hub.run(number, BEFORE[behind - 1])
    hub.run(5, "f" * 40)
    assert found() == ([(3, 2), (4, 30), (2, 50), (5, None), (1, None)], 2)


def test_that_of_the_base_itself_is_asked_for_alone(found, hub):
    hub.run(1, BEFORE[0])
    hub.run(2, BASE)
    assert found(most=1) == ([(2, 0)], 1)


def test_a_run_of_a_merge_queue_is_found_by_its_commit(found, hub):
    hub.run(1, BEFORE[3], branch="gh-readonly-queue/main/pr-7", event="merge_group")
    hub.run(2, BEFORE[4], event="pull_request")
    looked_at, asked = found()
    assert looked_at == [(1, 4)]
    assert asked <= 14


def stored_by(hub, number, sha, path, **more):
    hub.run(number, sha, path=f".github/workflows/{path}", **more)
    hub.artifact(number, "runevals-x", {"results.json": "{}"})


def test_a_run_of_another_workflow_file_is_found_by_what_it_stored(found, hub):
    stored_by(hub, 1, BEFORE[4], "main.yml")
    stored_by(hub, 2, BASE, "main.yml")
    stored_by(hub, 3, BASE, "main.yml", event="pull_request")
    stored_by(hub, 4, BASE, "main.yml", repository_id=2)
    stored_by(hub, 5, "e" * 40, "main.yml", branch="feature")
    hub.run(6, BEFORE[1])
    assert found(others=True) == ([(2, 0), (6, 2), (1, 5)], 6)
    assert found(others=False)[0] == [(6, 2)]
    assert found(workflow="", others=True)[0] == [(2, 0), (1, 5)]


def test_only_the_runs_of_a_named_workflow_file_are_looked_at(found, hub):
    stored_by(hub, 1, BASE, "main.yml")
    stored_by(hub, 2, BASE, "nightly.yml")
    assert found(workflow="main.yml")[0] == [(1, 0)]


def test_a_branch_without_a_result_has_those_of_the_default_branch(found, hub):
    hub.run(1, "d" * 40, branch="main")
    hub.run(2, BEFORE[30], branch="main")
    assert found(branch="release/2", default_branch="main")[0] == [(2, 31), (1, None)]
    hub.run(3, BEFORE[40], branch="release/2")
    assert found(branch="release/2", default_branch="main")[0] == [(3, 41)]
