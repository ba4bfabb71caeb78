"""Compare → gate → conclude over two reports."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize(("code", "exit_code"), [("budget_exhausted", 1), ("refused", 1), ("interrupted", 130)])
def test_a_loss_that_was_confirmed_before_the_run_stopped_still_blocks(code, exit_code):
    base = Baseline(report=report({f"k{n}": "p" * 12 for n in range(30)}), source="base.json")
    dead = {f"k{n}": "f" * 12 if n == 7 else "p" * 12 for n in range(30)}
    stopped = Problem(code=code, message="$1 is spent")
    verdict = incomplete(decision(report(dead), base, GateRules()), stopped, GateRules()).verdict
    assert verdict.exit_code == exit_code
    assert ("k7" in verdict.headline or "1 of 30 cases regressed" in verdict.headline) is (exit_code == 1)
    assert "$1 is spent" in verdict.headline
    noisy = {f"k{n}": "fff" if n < 10 else "ppp" for n in range(30)}
    unsure = decision(report(noisy), BASELINE, GateRules())
    assert unsure.verdict.exit_code == 1
    assert incomplete(unsure, stopped, GateRules()).verdict.exit_code == (130 if exit_code == 130 else 3)


def test_without_a_base_there_is_no_comparison():
    assert decision(report(SUITE), None, GateRules(), weakenings=(OF_SETTINGS,)).comparison is None
