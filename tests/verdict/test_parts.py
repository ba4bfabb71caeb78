"""The whole and its parts: which are found lost, and what errors leave open."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runevals.records import Reason, RegressionRule, State
from runevals.verdict.parts import WHOLE, metric_test, parts_of
from runevals.verdict.sides import Sides
from tests.sample_reports import case, report

RULE = RegressionRule()
ORDER = [State.NOT_WORSE, State.NOT_KNOWN, State.WORSE]
LETTERS = st.text("pfe", min_size=1, max_size=3)
SUITES = st.lists(st.tuples(LETTERS, LETTERS, st.sampled_from(["x", "y"])), min_size=1, max_size=30)
QUIET = settings(max_examples=100, deadline=None)


def parts(cases, **options):
    """Of (base, head, category)."""
    sides = Sides.of(*(
        report([case(f"k{n}", each[side], category=each[2]) for n, each in enumerate(cases)]) for side in (1, 0)
    ))  # fmt: skip
    return parts_of(sides.due, RULE, **options)


def states(cases):
    return {(each.family, each.name, each.metric): each.state for each in parts(cases).findings}


def rank(cases):
    return max((ORDER.index(state) for state in states(cases).values()), default=0)


def test_a_category_that_is_lost_is_found_though_another_gains():
    cases = [("ppp", "fff", "x")] * 20 + [("fff", "ppp", "y")] * 20
    assert states(cases) == {
        ("whole", "", "pass_rate"): State.NOT_WORSE,
        ("category", "x", "pass_rate"): State.WORSE,
        ("category", "y", "pass_rate"): State.NOT_WORSE,
    }


@pytest.mark.parametrize(("size", "families"), [(4, ["whole"]), (5, ["whole", "category"])])
def test_a_part_has_five_cases(size, families):
    found = parts([("p", "p", "x")] * size + [("p", "p", None)] * 9).findings
    assert [each.family for each in found] == families


def test_a_part_with_all_cases_is_the_whole():
    assert [each.family for each in parts([("p", "p", "x")] * 9).findings] == ["whole"]


def test_only_what_is_asked_for_is_tested():
    cases = [("ppp", "ppp", "x")] * 9 + [("ppp", "ppp", "y")] * 9
    assert [each.name for each in parts(cases, only=[("category", "x")]).findings] == ["x"]
    assert [each.family for each in parts(cases, only=[WHOLE]).findings] == ["whole"]


def test_a_drop_below_the_smallest_that_blocks_is_named():
    cases = [("p" * 40, "f" * 8 + "p" * 32, None)] * 40 + [("p" * 40, "p" * 40, None)] * 560
    [whole] = parts(cases).findings
    assert (whole.state, whole.reason) == (State.NOT_WORSE, Reason.SMALL)
    assert whole.p_value < 0.01
    assert whole.drop == pytest.approx(0.0133, abs=1e-3)


def test_nothing_measured_is_nothing_found():
    assert parts([]).findings == ()
    assert metric_test([], "pass_rate") is None


@pytest.mark.parametrize(
    ("errors", "state"),
    [
        pytest.param(0, State.WORSE, id="none"),
        pytest.param(6, State.NOT_KNOWN, id="as many as are lost"),
    ],
)
def test_errors_that_would_decide_leave_it_open(errors, state):
    lost = [("ppp", "fee" if n < errors else "fff", None) for n in range(6)]
    assert states(lost + [("ppp", "ppp", None)] * 24)[*WHOLE, "pass_rate"] is state


@QUIET
@given(SUITES)
def test_the_same_on_both_sides_is_not_worse(cases):
    assert rank([(base.replace("e", "f"), base.replace("e", "f"), place) for base, _, place in cases]) == 0


@QUIET
@given(SUITES)
def test_a_loss_is_none_the_other_way_round(cases):
    mirrored = states([(head, base, place) for base, head, place in cases])
    both = [key for key, state in states(cases).items() if State.WORSE is state is mirrored.get(key)]
    assert both == []


@QUIET
@given(SUITES, st.data())
def test_a_further_loss_never_improves_it(cases, data):
    cases = [(base.replace("e", "f"), head.replace("e", "f"), place) for base, head, place in cases]
    passing = [n for n, (_, head, _) in enumerate(cases) if "p" in head]
    if passing:
        place = data.draw(st.sampled_from(passing))
        base, head, category = cases[place]
        worse = [*cases[:place], (base, head.replace("p", "f", 1), category), *cases[place + 1 :]]
        assert rank(worse) >= rank(cases)


@QUIET
@given(SUITES, st.data())
def test_an_error_in_place_of_a_value_never_clears(cases, data):
    place = data.draw(st.integers(0, len(cases) - 1))
    base, head, category = cases[place]
    if "p" in head or "f" in head:
        index = data.draw(st.sampled_from([n for n, letter in enumerate(head) if letter != "e"]))
        errs = head[:index] + "e" + head[index + 1 :]
        before, after = states(cases), states([*cases[:place], (base, errs, category), *cases[place + 1 :]])
        for key in before.keys() & after.keys():
            assert ORDER.index(after[key]) >= min(ORDER.index(before[key]), 1)
