"""The search for hunks that change nothing. Its error rates: `benchmarks/ablate_sim.py`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runevals.verdict.ablate_search import FIRST, MORE, OF_WHOLE, ablation, planned_runs

CASES = [("s", name) for name in "abc"]


def searched(hunks, passes, *, deterministic=True, limit=None, cases=CASES):
    """`passes(case, hunks that are out)` → the values of the runs, or None to stop."""
    requests = []  # the hunks that are out

    def measure(out, some, number):
        requests.append(out)
        values = {case: passes(case, out) for case in some}
        stop = None in values.values()
        return None if stop else {case: [float(value)] * number for case, value in values.items()}

    return ablation(hunks, cases, measure, deterministic=deterministic, limit=limit), requests


def needs(*hunks):
    """Every one of these hunks is needed by a case of its own."""
    return lambda case, out: not any(CASES[place] == case and hunk in out for place, hunk in enumerate(hunks))


@given(st.integers(1, 40), st.sets(st.integers(0, 39), max_size=3), st.booleans())
def test_exactly_the_hunks_that_no_case_needs_are_idle(hunks, wanted, deterministic):
    wanted = sorted(hunk for hunk in wanted if hunk < hunks)
    result, _ = searched(hunks, needs(*wanted), deterministic=deterministic)
    assert result.needed == set(wanted)
    assert result.idle == set(range(hunks)) - set(wanted)
    assert result.confirmed == bool(result.idle)
    assert result.runs <= planned_runs(hunks, len(CASES), deterministic=deterministic)


def test_of_two_hunks_that_say_the_same_one_stays():
    result, _ = searched(6, lambda case, out: not {1, 4} <= out)
    assert len(result.needed & {1, 4}) == 1
    assert len(result.idle) == 5


def test_a_case_that_fails_with_the_whole_prompt_is_not_looked_at():
    result, _ = searched(4, lambda case, out: case != CASES[0])
    assert (result.noisy, result.idle) == ([CASES[0]], {0, 1, 2, 3})
    nothing, requests = searched(4, lambda case, out: False)
    assert (nothing.idle, nothing.untried, len(requests)) == (frozenset(), {0, 1, 2, 3}, 1)


def test_a_limit_leaves_hunks_untried_and_keeps_the_runs_that_confirm():
    result, requests = searched(32, needs(3, 20), limit=24)
    assert result.untried
    assert result.idle
    assert result.confirmed
    assert result.runs <= 24
    assert requests[-1] == result.idle


def test_a_stop_ends_it_without_a_proposal():
    result, _ = searched(8, lambda case, out: None if out else True)
    assert (result.idle, result.confirmed, len(result.untried)) == (frozenset(), False, 8)


@pytest.mark.parametrize(
    ("first", "more", "lost"),
    [
        ([1.0, 1.0, 1.0], None, False),
        ([0.0, 0.0, 0.0], None, True),
        ([1.0, 1.0, 0.0], [1.0, 1.0, 1.0], False),
        ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0], True),
    ],
)
def test_a_noisy_case_runs_again_before_it_is_called_lost(first, more, lost):
    answers = iter([[1.0] * OF_WHOLE, first, *([] if more is None else [more]), [1.0] * OF_WHOLE])
    runs = []

    def measure(out, cases, number):
        runs.append(number)
        return {CASES[0]: next(answers)}

    result = ablation(1, CASES[:1], measure, deterministic=False)
    assert runs == [OF_WHOLE, FIRST, *([] if more is None else [MORE]), *([] if lost else [OF_WHOLE])]
    assert (result.needed, result.idle) == (({0}, set()) if lost else (set(), {0}))
