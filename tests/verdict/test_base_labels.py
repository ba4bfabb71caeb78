"""What is in the scope of a gate, where the base of a change says so."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Gate, GateRules, Scope
from runevals.verdict.outcome import Baseline, decision
from tests.sample_reports import case, report

REST = [case(f"k{n}", "p", tags=("safety",), category="safety") for n in range(9)]
SCOPES = {
    "tag": Scope(tag="safety"),
    "category": Scope(category="safety"),
    "suite": Scope(suite="evals/*"),
    "case": Scope(case="k*"),
}
LOST = {
    "tag": {"tags": ()},
    "category": {"category": "easy"},
    "suite": {"suite": "b/b.json"},
    "case": {"key": "x"},
}


def gated(base, head, metric="pass_rate", op=">=", limit=1.0, *, scope, guarded=True):
    """The state of a gate with this scope; the base fails the first case as well, so that nothing regressed."""
    gate = Gate(name="mine", metric=metric, op=op, limit=limit, scope=scope)
    rules = GateRules(gates=(gate,), labels_of_base=guarded)
    found = decision(report([head, *REST]), Baseline(report=report([base, *REST]), source="b"), rules)
    return next(gate.state for gate in found.gates if gate.name == "mine")


@pytest.mark.parametrize("label", SCOPES)
def test_a_case_does_not_leave_the_scope_of_a_gate(label):
    base = case("k10", "f", tags=("safety",), category="safety")
    scope = SCOPES[label]
    assert gated(base, base, scope=scope) == "failed"
    moved = replace(base, **LOST[label])
    assert gated(base, moved, scope=scope) == "failed"
    assert gated(base, moved, scope=scope, guarded=False) == "passed"  # what is merged goes by its own labels


def test_a_case_that_was_moved_into_quarantine_stays_in_its_gates():
    base = case("k10", "f", tags=("safety",))
    moved = replace(base, suite="b/b.json", quarantined=True)
    assert gated(base, moved, scope=SCOPES["tag"]) == "failed"
    assert gated(replace(base, quarantined=True), moved, scope=SCOPES["tag"]) == "passed"


@pytest.mark.parametrize("label", SCOPES)
def test_nor_do_its_weakening_and_its_regression(label):
    base = case("k10", "ppp", tags=("safety",), category="safety", critical=True)
    moved = replace(case("k10", "fff"), **{"tags": base.tags, "category": base.category, **LOST[label]})
    moved = replace(moved, fingerprint=base.fingerprint)
    assert gated(base, moved, "regressions", "<=", 0, scope=SCOPES[label]) == "failed"
    assert gated(base, moved, "weakening", "<=", 0, scope=SCOPES[label]) == "failed"


def test_cases_that_a_change_puts_into_a_scope_count_once_they_are_merged():
    base = case("k10", "f")
    assert gated(base, replace(base, tags=("safety",)), scope=SCOPES["tag"]) == "passed"


def test_new_cases_have_labels_of_their_own():
    gate = Gate(name="mine", metric="pass_rate", op=">=", limit=1.0, scope=SCOPES["tag"])
    rules = GateRules(gates=(gate,), labels_of_base=True)
    head = report([case("new", "f", tags=("safety",)), *REST])
    found = decision(head, Baseline(report=report(REST), source="b"), rules)
    assert next(gate.state for gate in found.gates if gate.name == "mine") == "failed"
