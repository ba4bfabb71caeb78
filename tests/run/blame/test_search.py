"""Which cases are searched, and why nothing was found."""

from __future__ import annotations

from msgspec.structs import replace

from runevals.records import Finding, Reason, State
from runevals.run.blame.search import lost_cases, lower_scores
from tests.reports.conclusions import conclusion
from tests.sample_reports import case, report


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


def test_cases_that_pass_with_a_lower_score_are_named_as_not_searched():
    base = report([case(key, "ppp") for key in ("A", "B")])
    comparison = conclusion(report([case("A", "fff"), case("B", "ppp")]), base).comparison
    [change] = comparison.of_kind("regressed")
    worse = replace(change, key="B", change="worse", head=change.base)
    [found] = lower_scores(replace(comparison, changes=(change, worse)))
    assert (found.key, found.calls, found.reason) == ("B", 0, "it still passes, with a lower score")
