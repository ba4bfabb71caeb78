"""Several targets beside each other, and which is not worse than another."""

from __future__ import annotations

import pytest

from runevals.records import Gate, GateRules, GateState
from runevals.verdict.against import against_target
from runevals.verdict.decide import conclusion_of
from runevals.verdict.side_by_side import side_by_side
from runevals.verdict.wording import about_against
from tests.sample_reports import report

KEYS = [f"k{number:03}" for number in range(300)]
STEADY = dict.fromkeys(KEYS, "p")


def against(margin=0.03, **others):
    reports = {"mini": report(STEADY), **{name: report(cases) for name, cases in others.items()}}
    return against_target(reports, "mini", margin=margin, alpha=0.01)


def test_holm_over_the_targets():
    alone = against(nano=STEADY)["nano"]
    both = against(nano=STEADY, pico=STEADY)["nano"]
    assert alone.margin_p_value == pytest.approx(0.97**300)
    assert both.margin_p_value == pytest.approx(2 * alone.margin_p_value)
    assert (alone.not_worse, both.drop_bound > alone.drop_bound) == (True, True)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.05])
def test_the_bound_is_where_p_reaches_alpha(share):
    cases = {**STEADY, **dict.fromkeys(KEYS[: int(300 * share)], "f")}
    found = against(nano=cases)["nano"]
    for margin, not_worse in ((found.drop_bound + 0.001, True), (found.drop_bound - 0.001, False)):
        assert against(margin, nano=cases)["nano"].not_worse is not_worse


def test_what_could_not_be_measured_counts_against_the_target():
    """It is no way to look better to fail to answer."""
    errored = against(nano={**STEADY, **dict.fromkeys(KEYS[:30], "e")})["nano"]
    failed = against(nano={**STEADY, **dict.fromkeys(KEYS[:30], "f")})["nano"]
    assert errored.margin_p_value == failed.margin_p_value == 1.0


def test_the_words():
    text = about_against(against(nano=STEADY)["nano"])
    assert text.endswith("), at most 3 points worse, p = 0.00011, at 1× the cost.")


def test_a_gate_on_another_target():
    found = against(nano=STEADY)["nano"]
    for limit, state in ((0.02, GateState.PASSED), (0.01, GateState.FAILED)):
        gate = Gate(name="g", metric="against_drop", op="<=", limit=limit)
        gates = conclusion_of(report(STEADY), None, GateRules(gates=(gate,)), against=found).gates
        assert gates[0].state is state
    assert "at most 3 points worse" in gates[0].reason


def test_the_columns():
    letters = {"mini": {"a": "pp", "b": "pf", "c": "pp"}, "nano": {"a": "ff", "b": "ee", "c": "pp"}}
    sides = side_by_side(
        {name: conclusion_of(report(cases), None, GateRules()) for name, cases in letters.items()}
    )
    assert [(column.name, column.calls, column.latency_median_s) for column in sides.columns] == [
        ("mini", 6, 0.5),
        ("nano", 6, 0.5),
    ]
    assert [(row.key, row.runs) for row in sides.differing] == [("a", [(2, 2), (0, 2)])]
