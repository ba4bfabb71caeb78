"""What a gate says of a run."""

from __future__ import annotations

import pytest

from runevals.records import GateResult, GateState


@pytest.mark.parametrize(
    ("gate", "unmeasured"),
    [
        ({"name": "measured"}, True),
        ({"name": "few errors", "metric": "errors", "observed": 0.2}, True),
        ({"name": "judged", "metric": "judge_coverage", "observed": 0.5}, True),
        ({"name": "judged", "metric": "judge_coverage"}, False),  # nothing is in its scope
        ({"name": "floor", "metric": "pass_rate", "observed": 0.5}, False),
    ],
)
def test_a_failed_gate_on_what_was_measured_says_nothing_about_the_answers(gate, unmeasured):
    assert GateResult(state=GateState.FAILED, reason="", **gate).unmeasured is unmeasured
    assert not GateResult(state=GateState.PASSED, reason="", **gate).unmeasured


def test_nor_does_a_gate_that_errors_would_decide():
    assert GateResult(name="floor", state=GateState.NOT_APPLICABLE, reason="", undecided=True).unmeasured
