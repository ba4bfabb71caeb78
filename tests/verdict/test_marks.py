"""A run against a mark: small losses add up, and the best of many runs was lucky."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import pytest
from msgspec.structs import replace

from runevals.records import Gate, GateRules, GateState, Links, Mark, MarkRun, RegressionRule, State
from runevals.reports import comment, console, html
from runevals.reports import results_document as document
from runevals.verdict.compare import compare
from runevals.verdict.marks import against_mark
from runevals.verdict.outcome import decision
from runevals.verdict.wording import about_mark, since_mark
from tests.sample_reports import report

RULE = RegressionRule()


def marked(base, mark=Mark(tag="v1.4"), **more):  # noqa: B008 - a frozen record
    return MarkRun(mark=mark, source="run 3 on main", report=base, **more)


def lossy(lost, cases=300):
    """A run in which one of three runs fails in so many cases: each is a third of a case."""
    return report({f"k{n}": "fpp" if n < lost else "ppp" for n in range(cases)})


def test_losses_that_never_blocked_are_seen_together():
    steps = [lossy(17 * step) for step in range(11)]  # 1.9 points each
    for before, now in pairwise(steps):
        assert compare(now, before, "b").state is not State.WORSE
    found = against_mark(steps[-1], marked(steps[0]), RULE)
    assert found is not None
    assert (found.sure, found.cases, found.metric) == (True, 300, "pass_rate")
    assert since_mark(found) == "−18.9 points since v1.4 (p < 0.0001)"
    assert about_mark(found).startswith(
        "Pass rate 100.0 % → 81.1 %, −18.9 points since v1.4 (p < 0.0001), in the 300 cases that are unchanged "
        "since (mark v1.4: run 3 on main; 95 % interval "
    )


def test_of_two_sure_losses_the_larger_counts():
    """A small fall of many scores is clearer than the loss of a few cases, and must not hide it from a gate."""
    before = report({f"k{n}": [1.0, 1.0, 1.0] for n in range(200)})
    now = report({f"k{n}": [0.45 if n < 12 else 0.95 if n < 100 else 1.0] * 3 for n in range(200)})
    found = against_mark(now, marked(before), RULE)
    assert (found.metric, round(found.drop, 3), found.sure) == ("pass_rate", 0.06, True)


def test_the_mark_that_is_the_best_of_many_runs_is_held_to_more():
    rng, rule = random.Random(1), RegressionRule(alpha=0.05)

    def run():
        letters = ("".join(rng.choices("pf", (4, 1), k=2)) for _ in range(30))
        return report({f"k{n}": runs for n, runs in enumerate(letters)})

    uncorrected = corrected = 0
    for _ in range(40):  # nothing changes
        runs = [run() for _ in range(12)]
        best, head = max(runs, key=lambda one: one.totals.pass_rate), run()
        uncorrected += against_mark(head, marked(best, Mark()), rule).sure
        corrected += against_mark(head, marked(best, Mark(), best_of=12), rule).sure
    assert uncorrected > 4
    assert corrected <= 2


def test_what_is_another_case_now_does_not_count():
    before, now = report({"a": "ppp", "b": "ppp"}), report({"b": "ppp", "c": "fff"})
    assert against_mark(now, marked(before), RULE).cases == 1
    assert against_mark(report({"c": "p"}), marked(before), RULE) is None
    assert against_mark(report({"a": "eee"}), marked(before), RULE) is None


def test_a_target_that_always_answers_alike_needs_no_p():
    before, now = (report({"a": letter, "b": "p"}, deterministic=True) for letter in "pf")
    found = against_mark(now, marked(before), RULE)
    assert (found.sure, since_mark(found)) == (True, "−50.0 points since v1.4")


def test_where_another_judge_graded_his_scores_are_left_out():
    before = report({f"k{n}": [0.9, 0.9] for n in range(9)})
    now = replace(before, run=replace(before.run, judge=replace(before.run.target, model="another")))
    found = against_mark(now, marked(before), RULE)
    assert found is None or "another judge graded then" in about_mark(found)


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        (Mark(days=30), "−18.9 points since 2026-11-20 (p < 0.0001)"),
        (Mark(), "−18.9 points against the best stored run (p < 0.0001)"),
        (Mark(tag="145"), "−18.9 points since 145 (p < 0.0001)"),
    ],
)
def test_how_a_mark_is_named(mark, told):
    assert since_mark(against_mark(lossy(170), marked(lossy(0), mark), RULE)) == told


@pytest.mark.parametrize(
    ("lost", "errored", "state"),
    [
        pytest.param(170, False, GateState.FAILED, id="a loss beyond the limit"),
        pytest.param(30, False, GateState.PASSED, id="a real one within it"),
        pytest.param(2, False, GateState.PASSED, id="noise"),
        pytest.param(60, True, GateState.NOT_APPLICABLE, id="what errored would decide"),
        pytest.param(None, False, GateState.NOT_APPLICABLE, id="no mark"),
    ],
)
def test_a_gate_can_block_what_was_lost_since_the_mark(lost, errored, state):
    gate = Gate(name="slow", metric="mark_drop", op="<=", limit=0.05)
    rules = GateRules(gates=(gate,))
    head = lossy(lost or 0)
    if errored:
        head = report(
            {case.key: "eee" if n >= 285 else "fpp" if n < lost else "ppp" for n, case in enumerate(head.cases)}
        )
    found = decision(head, None, rules, mark=None if lost is None else marked(lossy(0)))
    assert next(gate for gate in found.gates if gate.name == "slow").state is state
    assert (found.verdict.outcome == "failed") is (state is GateState.FAILED)
    assert (found.mark is None) is (lost is None)
    if state is GateState.FAILED:
        assert found.verdict.headline == (
            "The gate slow failed: mark_drop is 0.1889, must be <= 0.05; −18.9 points since v1.4 (p < 0.0001)"
        )


def test_every_report_says_it_once_and_the_document_keeps_it():
    found = decision(lossy(170), None, GateRules(), mark=marked(lossy(0)))
    for render in (console.render, lambda one: comment.render(one, Links()), html.render):
        assert render(found).count("points since v1.4 (p ") == 1
    assert "<summary>⚠ The long run&#58; −18.9 points</summary>" in comment.render(found, Links())
    kept = document.parse(document.write(found), "it").mark
    assert kept == replace(found.mark, started_at=found.mark.started_at.replace(microsecond=0))
    without = document.write(decision(lossy(0), None, GateRules()))
    assert "mark" not in json.loads(without)
