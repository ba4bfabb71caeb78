"""Which cases are searched, and why nothing was found."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Finding, Reason, State
from runevals.run.blame.search import lost_cases
from tests.reports.conclusions import conclusion
from tests.sample_reports import case, checked, report


def test_confirmed_cases_come_first_and_those_that_pass_are_left_out():
    base = report([case(key, "ppp") for key in ("A", "B", "C", "D")])
    head = report([case("A", "fff"), case("B", "fff"), case("C", "ppp"), case("D", "ffp", quarantined=True)])
    comparison = conclusion(head, base).comparison
    findings = [
        Finding(family="case", suite=one.suite, name=one.key, state=State.WORSE, reason=Reason.PROVEN)
        for one in head.cases
        if one.key in ("B", "C")
    ]
    found = lost_cases(replace(comparison, findings=tuple(findings)))
    assert [key for _, key in found] == ["B", "A"]


def test_a_case_that_passes_with_a_lower_score_is_searched_for_what_lowered_it():
    """If the loss is more than chance; a run with a score from the middle on is as on the base."""
    scored = [[replace(case(key, "p"), attempts=(checked(1, [[score]]),)) for key in "AB"] for score in (0.9, 0.5)]
    base, head = map(report, scored)
    proven = Finding(family="case", suite="evals/evals.json", name="A", state=State.WORSE, reason=Reason.PROVEN)
    comparison = replace(conclusion(head, base).comparison, findings=(proven,))
    [((_, key), least)] = lost_cases(comparison).items()
    assert key == "A"
    assert [*least.values()] == [pytest.approx(0.7)]
