"""Compare → gate → conclude over two reports."""

from __future__ import annotations

from runevals.records import GateRules, Problem, Weakening
from runevals.verdict.decide import Baseline, decision, incomplete
from tests.sample_reports import report

SUITE = {f"k{n}": "ppp" for n in range(30)}
BASELINE = Baseline(report=report(SUITE), source="base.json")
OF_SETTINGS = Weakening(suite="runevals.yaml", key="min_effect", message="is 0.5")


def test_a_weakening_of_the_settings_comes_before_those_of_the_suites():
    head = report({key: letters for key, letters in SUITE.items() if key != "k0"})
    conclusion = decision(head, BASELINE, GateRules(), weakenings=(OF_SETTINGS,))
    assert [weakening.key for weakening in conclusion.comparison.weakenings] == ["min_effect", "k0"]


def test_an_incomplete_run_has_each_weakening_once_and_no_verdict_of_its_own():
    conclusion = decision(report(SUITE), BASELINE, GateRules(), weakenings=(OF_SETTINGS,))
    stopped = incomplete(conclusion, Problem(code="budget_exhausted", message="$1 is spent"), GateRules())
    assert stopped.comparison.weakenings == (OF_SETTINGS,)
    assert (stopped.verdict.outcome, stopped.report.complete) == ("unmeasured", False)


def test_without_a_base_there_is_no_comparison():
    assert decision(report(SUITE), None, GateRules(), weakenings=(OF_SETTINGS,)).comparison is None
