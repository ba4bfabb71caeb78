"""Suites that cannot be compared with those of the base."""

from __future__ import annotations

from runevals.records import ComparisonVerdict, GateRules
from runevals.run.baseline.on_base_suite import on_base_suite, still_incomparable
from runevals.run.request import RunRequest
from runevals.settings.resolve import defaults
from runevals.verdict.decide import Baseline, decision
from tests.sample_reports import case, report

BASELINE = Baseline(report=report({f"k{n}": "ppp" for n in range(20)}), source="base.json")
EDITED = [case(f"k{n}", "ppp", fingerprint=f"edited {n}") for n in range(20)]


def test_suites_that_can_be_compared_are_not_run_again():
    conclusion = decision(BASELINE.report, BASELINE, GateRules())
    assert on_base_suite(conclusion, BASELINE, RunRequest(settings=defaults())) is conclusion


def test_without_a_commit_of_the_base_the_verdict_stays():
    conclusion = decision(report(EDITED), BASELINE, GateRules())
    assert conclusion.comparison.verdict is ComparisonVerdict.INCOMPARABLE
    assert on_base_suite(conclusion, BASELINE, RunRequest(settings=defaults())) is conclusion


def test_the_reason_why_the_suite_of_the_base_was_not_run_is_a_caveat():
    conclusion = decision(report(EDITED), BASELINE, GateRules())
    told = still_incomparable(conclusion, "the head cannot be run there: no agent.py", GateRules())
    assert told.comparison.caveats[-1] == "the head cannot be run there: no agent.py"
    assert told.verdict == conclusion.verdict
