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

    def look(most=None):
        wanted = StoredQuery(
            repository="o/r",
            workflow="evals.yml",
            artifact="runevals-x",
            commit=BASE,
            branch="main",
            before=tuple(BEFORE[:MOST_COMMITS]),
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
