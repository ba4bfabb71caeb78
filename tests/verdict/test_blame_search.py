"""Which hunks lost a case, found by runs with some of them put back."""

from __future__ import annotations

import random

import pytest

from runevals.verdict.blame_search import most_runs, search_case, searched, usual_runs


class StubModel:
    """Answers by the hunks that are put back; counts its runs."""

    def __init__(self, is_lost, *, base=1.0, head=0.0, errors=lambda _put_back: False):
        self.is_lost, self.base, self.head, self.errors = is_lost, base, head, errors
        self.random = random.Random(1)
        self.calls, self.runs = [], 0

    def measure(self, put_back, needed):
        self.calls.append((set(put_back), set(needed)))
        self.runs += sum(needed.values())
        if self.errors(put_back):
            return {}
        rate = self.head if self.is_lost(put_back) else self.base
        return {key: [float(self.random.random() < rate) for _ in range(runs)] for key, runs in needed.items()}


def search(model, hunks, **options):
    return searched({"C1": search_case(hunks, **options)}, model.measure)["C1"]


TRUTHS = [
    pytest.param(lambda put_back: 2 not in put_back, {2}, {2}, id="one"),
    pytest.param(lambda put_back: not put_back & {1, 6}, {1, 6}, {1}, id="only together: either restores it"),
    pytest.param(lambda put_back: not put_back >= {0, 6}, {0, 6}, {0, 6}, id="each alone: both restore it"),
    pytest.param(lambda put_back: not put_back >= {0, 3, 4}, {0, 3, 4}, {0, 3, 4}, id="each of three alone"),
    pytest.param(lambda put_back: not put_back & {2, 3, 5}, {2, 3, 5}, {2}, id="three only together"),
]


@pytest.mark.parametrize(("is_lost", "lost_by", "put_back"), TRUTHS)
@pytest.mark.parametrize("rates", [(1.0, 0.0), (0.9, 0.1)])
def test_the_hunks_that_lost_it_are_named_and_no_other(is_lost, lost_by, put_back, rates):
    model = StubModel(is_lost, base=rates[0], head=rates[1])
    result = search(model, 7, deterministic=rates == (1.0, 0.0))
    assert (result.lost_by, result.put_back, result.why_not) == (lost_by, put_back, None)
    assert model.runs <= most_runs(7)
    if rates == (1.0, 0.0):
        assert (result.head, result.restored) == ((0.0,), (1.0,))
    else:
        assert len(result.head) >= 8
        assert sum(result.head) < sum(result.restored)


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("hunks", [1, 2, 3, 8, 20])
def test_the_usual_runs_are_enough_if_one_hunk_lost_it(hunks, deterministic):
    for hunk in range(hunks):
        model = StubModel(lambda put_back, hunk=hunk: hunk not in put_back)
        limit = usual_runs(hunks, deterministic=deterministic)
        assert search(model, hunks, deterministic=deterministic, limit=limit).lost_by == {hunk}


@pytest.mark.parametrize(
    ("model", "options", "why"),
    [
        pytest.param(StubModel(lambda _: False), {}, "passes", id="it passes now"),
        pytest.param(StubModel(lambda _: True), {}, "elsewhere", id="lost with everything put back"),
        pytest.param(StubModel(lambda p: not p, base=0.6, head=0.5), {}, "noise", id="too small a difference"),
        pytest.param(StubModel(lambda p: 0 not in p), {"limit": 20}, "limit", id="too few runs"),
        pytest.param(StubModel(lambda _: True, errors=lambda p: not p), {}, "unmeasured", id="the head errors"),
    ],
)
def test_what_is_not_found_has_its_reason(model, options, why):
    result = search(model, 4, **options)
    assert (result.why_not, result.lost_by) == (why, frozenset())


def test_a_set_of_hunks_that_cannot_be_run_counts_as_one_that_does_not_restore():
    model = StubModel(lambda p: 0 not in p, errors=lambda p: p == {0, 1})
    result = search(model, 4, deterministic=True)
    assert result.lost_by == {0}


@pytest.mark.parametrize("options", [{"deterministic": True}, {}])
@pytest.mark.parametrize("cause", [0, 2, 3, 5])
def test_hunks_that_cannot_run_without_each_other_are_not_named_beside_the_one_that_lost_it(cause, options):
    pair = {1, 4}
    model = StubModel(lambda p: cause not in p, errors=lambda p: len(p & pair) == 1)
    result = search(model, 6, **options)
    assert (result.lost_by, result.put_back, result.why_not) == ({cause}, {cause}, None)


def test_hunks_that_can_run_without_each_other_are_not_run_alone_to_the_limit():
    model = StubModel(lambda put_back: not put_back >= {0, 1, 2, 3, 4})
    result = search(model, 5, deterministic=True, limit=14)
    assert (result.put_back, result.why_not) == ({0, 1, 2, 3, 4}, None)


def test_a_single_hunk_takes_only_the_runs_of_both_sides():
    model = StubModel(lambda p: not p)
    assert (search(model, 1).lost_by, model.runs) == ({0}, 16)


def test_a_search_that_is_stopped_says_so_for_the_cases_that_are_left():
    model = StubModel(lambda p: 5 not in p)
    found = searched({"C1": search_case(8)}, lambda *words: model.measure(*words) if model.runs < 40 else None)
    assert (found["C1"].why_not, found["C1"].lost_by) == ("stopped", frozenset())


def test_cases_that_need_the_same_hunks_put_back_share_it():
    model = StubModel(lambda p: 5 not in p)
    cases = {key: search_case(8) for key in ("C1", "C2", "C3")}
    found = searched(cases, model.measure)
    assert {key: result.lost_by for key, result in found.items()} == {key: {5} for key in cases}
    assert all(keys == set(cases) for _, keys in model.calls)


def test_the_most_runs_grow_with_the_halvings():
    assert [most_runs(hunks) for hunks in (1, 2, 3, 4, 5, 8, 9)] == [32, 96, 160, 160, 224, 224, 288]
