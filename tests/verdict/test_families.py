"""Hypotheses about the whole and its parts: none pays for another."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import ComparisonVerdict as V
from runevals.records import Outcome
from runevals.verdict.compare import compare
from runevals.verdict.score import over_attempts
from tests.sample_reports import attempt, case, report


def findings(found):
    return {(h.family, h.name, h.metric): h.finding for h in found.hypotheses}


def judged_case(key, outcome, share, runs=3):
    """A case whose checks passed or failed while a judge gave its answers `share`."""
    made = case(key, "p" * runs)
    return over_attempts(made, [attempt(n, outcome, graded=share) for n in range(1, runs + 1)])


def test_a_judges_praise_does_not_pay_for_failing_facts():
    base = report([judged_case(f"k{n}", Outcome.PASSED, 0.9) for n in range(100)])
    head = [judged_case(f"k{n}", Outcome.FAILED if n < 15 else Outcome.PASSED, 0.92) for n in range(100)]
    found = compare(report(head), base, "b")
    assert found.verdict is V.REGRESSION
    assert findings(found) == {("whole", "", "pass_rate"): "lost", ("whole", "", "share"): "none"}
    assert (found.metric, found.drop) == ("pass_rate", pytest.approx(0.15))  # the numbers are of what was lost


def test_passing_facts_do_not_pay_for_a_judges_scores():
    base = report([judged_case(f"k{n}", Outcome.PASSED, 0.9) for n in range(100)])
    found = compare(report([judged_case(f"k{n}", Outcome.PASSED, 0.7) for n in range(100)]), base, "b")
    assert (found.verdict, found.metric) == (V.REGRESSION, "share")


@pytest.mark.parametrize("field", ["suite", "category", "group"])
def test_one_part_does_not_pay_for_another(field):
    def run(small, large):
        cases = [case(f"a{n}", letters, **{field: "refunds"}) for n, letters in enumerate(small)]
        return report(cases + [case(f"b{n}", letters, **{field: "rest"}) for n, letters in enumerate(large)])

    base = run(["ppp"] * 20, ["ppp"] * 150 + ["fff"] * 30)
    head = run(["ppp"] * 12 + ["fff"] * 8, ["ppp"] * 180)
    found = compare(head, base, "b")
    assert found.drop < 0
    assert found.verdict is V.REGRESSION
    assert findings(found)[field, "refunds", "pass_rate"] == "lost"


@pytest.mark.parametrize("field", ["suite", "category", "group"])
def test_a_change_cannot_spread_a_part_that_lost_over_others(field):
    def run(small, large, part):
        cases = [case(f"a{n}", letters, **{field: part(n)}) for n, letters in enumerate(small)]
        return report(cases + [case(f"b{n}", letters, **{field: "rest"}) for n, letters in enumerate(large)])

    base = run(["ppp"] * 20, ["ppp"] * 150 + ["fff"] * 30, lambda _: "refunds")
    for part in (lambda _: "rest", lambda number: f"part {number // 3}"):
        found = compare(run(["ppp"] * 12 + ["fff"] * 8, ["ppp"] * 180, part), base, "b")
        assert found.verdict is V.REGRESSION
        assert findings(found)[field, "refunds", "pass_rate"] == "lost"


def test_a_small_part_and_one_that_is_the_whole_are_not_asked_about():
    cases = [case(f"k{n}", "ppp", category="few" if n < 4 else "many", group="all") for n in range(30)]
    found = compare(report(cases), report(cases), "b")
    assert {(h.family, h.name) for h in found.hypotheses} == {("whole", ""), ("category", "many")}


def test_parts_are_corrected_for_their_number():
    def run(broken):
        letters = {n: "fff" if n in broken else "ppp" for n in range(60)}
        return report([case(f"k{n}", v, category=f"c{n % 6}") for n, v in letters.items()])

    found = compare(run({0, 6}), run(set()), "b")
    part = next(h for h in found.hypotheses if h.name == "c0")
    assert part.corrected_p == pytest.approx(min(1.0, 6 * part.p_value))
    assert part.p_value < 0.0025 * 2 < part.corrected_p


@pytest.mark.parametrize(("broken", "finding"), [(10, "small"), (14, "lost")])
def test_a_real_drop_below_the_floor_is_a_verdict_of_its_own(broken, finding):
    base = {f"k{n}": "ppp" for n in range(600)}
    found = compare(report({**base, **{f"k{n}": "fff" for n in range(broken)}}), report(base), "b")
    assert findings(found)["whole", "", "pass_rate"] == finding
    assert found.verdict is (V.SMALL if finding == "small" else V.REGRESSION)


def test_errors_of_the_base_are_taken_both_ways():
    """Half of what failed on the base ended in errors there: the head that is the same is not worse."""
    base = {f"k{n}": "ppp" if n < 80 else "epp" for n in range(120)}
    head = {f"k{n}": "ppp" if n < 80 else "fpp" for n in range(120)}
    found = compare(report(head), report(base), "b")
    assert found.verdict is not V.REGRESSION
    assert findings(found)["whole", "", "pass_rate"] == "errors"
    measured = {f"k{n}": "ppp" for n in range(120)}
    assert compare(report(head), report(measured), "b").verdict is V.REGRESSION


def test_a_judge_that_differs_leaves_too_little_to_compare():
    """Cases that only a judge looks at are no cases any more."""
    base = report([judged_case(f"k{n}", Outcome.PASSED, 0.9) for n in range(99)] + [case("fact", "ppp")])
    head = replace(base, run=replace(base.run, judge=replace(base.run.target, model="another")))
    found = compare(head, base, "b")
    assert "judge" in " ".join((found.why, *found.caveats))
