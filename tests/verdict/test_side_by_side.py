"""Several targets beside each other, and which is not worse than another."""

from __future__ import annotations

import pytest

from runevals.records import Gate, GateRules, GateState, State
from runevals.verdict.against import against_target
from runevals.verdict.outcome import conclusion_of
from runevals.verdict.side_by_side import causes_beside, columns_of, differences
from runevals.verdict.wording import about_against, about_standing
from tests.sample_reports import case, report

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
    assert text.endswith("); not worse: by at most 3 points (p = 0.00011); 1× the cost.")


def test_a_gate_on_another_target():
    found = against(nano=STEADY)["nano"]
    for limit, state in ((0.02, GateState.PASSED), (0.01, GateState.FAILED)):
        gate = Gate(name="g", metric="against_drop", op="<=", limit=limit)
        gates = conclusion_of(report(STEADY), None, GateRules(gates=(gate,)), against=found).gates
        assert gates[0].state is state
        assert gates[0].reason.endswith(
            "these runs exclude a drop of more than 1.5 points"
            if state is GateState.PASSED
            else "these runs cannot exclude a drop of 1.5 points; more cases or repeats settle it"
        )


@pytest.mark.parametrize(
    ("cases", "both", "drop", "words"),
    [
        pytest.param({}, True, 0.0, "not worse: by at most 3 points (every", id="equal"),
        pytest.param({"k000": "f"}, True, 0.01, "not worse: by at", id="less than the margin"),
        pytest.param(dict.fromkeys(KEYS[:3], "f"), True, 0.03, "not worse: by at", id="the margin"),
        pytest.param(dict.fromkeys(KEYS[:4], "f"), True, 0.04, "; worse: 4 of 100 cases lost (−4", id="more"),
        pytest.param(dict.fromkeys(KEYS[:4], "e"), True, 0.04, "measure the cases that could not", id="errors"),
        pytest.param({}, False, 0.045, "not known yet: 0.0 points, and a loss of more", id="one side only"),
        pytest.param({"k000": "pf"}, True, 0.046, "not known yet: −0.5 points, and a loss", id="untrue"),
    ],
)
def test_of_two_deterministic_targets_every_difference_is_real(cases, both, drop, words):
    """Unless one of them contradicts itself: its own runs of a case differ."""
    steady = dict.fromkeys(KEYS[:100], "p")
    nano = report({**steady, **cases}, deterministic=both)
    reports = {"mini": report(steady, deterministic=True), "nano": nano}
    found = against_target(reports, "mini", margin=0.03, alpha=0.01)["nano"]
    assert found.drop_bound == pytest.approx(drop, abs=1e-3)
    assert words in about_against(found)
    gate = Gate(name="g", metric="against_drop", op="<=", limit=0.03)
    state = conclusion_of(nano, None, GateRules(gates=(gate,)), against=found).gates[0].state
    assert found.not_worse is (state is GateState.PASSED) is words.startswith("not worse")


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        pytest.param(0, "nano is not worse than mini: by at most 3 points (p = 0.00011); 1× the cost", id="equal"),
        pytest.param(3, "nano may be worse than mini: −1.0 points, and a loss of", id="few"),
        pytest.param(9, "nano may be worse than mini: −3.0 points", id="at the margin"),
        pytest.param(
            30,
            "nano is worse than mini: category hours fell by 100.0 points, 30 of 300 cases lost (in all −10.0 ",
            id="a category",
        ),
    ],
)
def test_a_target_is_worse_than_another_or_not_or_it_is_not_known_yet(lost, told):
    sides = {"mini": STEADY, "nano": {**STEADY, **dict.fromkeys(KEYS[:lost], "f")}}
    categories = {key: "hours" if key in KEYS[:30] else "returns" for key in KEYS}
    reports = {
        name: report([case(key, runs, category=categories[key]) for key, runs in cases.items()])
        for name, cases in sides.items()
    }
    found = against_target(reports, "mini", margin=0.03, alpha=0.01)["nano"]
    assert about_standing("nano", found).startswith(told)


LEGAL = KEYS[:50]


def of_parts(family="category", **others):
    """The reference and `others`, whose cases are of two parts: legal and the rest."""
    return {
        name: report(
            [case(key, runs, **{family: "legal" if key in LEGAL else "rest"}) for key, runs in cases.items()],
            deterministic="sure" in others,
        )
        for name, cases in {"mini": {**STEADY, **dict.fromkeys(KEYS[50:80], "f")}, **others}.items()
    }


PAID = {**STEADY, **dict.fromkeys(LEGAL[:20], "f")}  # what it loses in legal, it gains in the rest


def decided(reports, name="nano", margin=0.03, limit=None):
    """What is found of a target, and the state and the reason of a gate on it."""
    found = against_target(reports, "mini", margin=margin, alpha=0.01)[name]
    gate = Gate(name="g", metric="against_drop", op="<=", limit=margin if limit is None else limit)
    [result, *_] = conclusion_of(reports[name], None, GateRules(gates=(gate,)), against=found).gates
    return found, result


@pytest.mark.parametrize("family", ["category", "suite", "group"])
@pytest.mark.parametrize("name", ["nano", "sure"])
def test_one_part_cannot_pay_for_another(family, name):
    found, gate = decided(of_parts(family, **{name: PAID}), name)
    assert (found.state, found.not_worse, found.gain > 0) == (State.WORSE, False, True)
    assert about_standing(name, found).startswith(
        f"{name} is worse than mini: {family} legal fell by 40.0 points, 20 of 300 cases lost (in all +3.3 points"
    )
    assert [(part.family, part.name, round(part.drop, 9)) for part in found.lost_parts] == [(family, "legal", 0.4)]
    assert (gate.state, gate.observed) == (GateState.FAILED, pytest.approx(0.4))
    assert gate.reason == (
        f"against_drop is 0.4, must be <= 0.03; {family} legal fell by 40.0 points, 20 of 300 cases lost"
    )


@pytest.mark.parametrize(
    ("limit", "state"), [pytest.param(0.4, GateState.PASSED, id="of it"), pytest.param(0.39, GateState.FAILED)]
)
def test_a_margin_as_large_as_the_loss_of_a_part_allows_it(limit, state):
    found, gate = decided(of_parts(nano=PAID), margin=limit)
    assert (found.not_worse, gate.state) == (state is GateState.PASSED, state)
    found, gate = decided(of_parts(nano=PAID), limit=limit)
    assert (found.not_worse, gate.state) == (False, state)


def test_what_chance_explains_in_a_part_or_one_case_of_it_is_no_loss():
    found, gate = decided(of_parts(nano={**STEADY, **dict.fromkeys(LEGAL[:6], "f")}))
    assert (found.state, found.lost_parts, gate.state) == (State.NOT_WORSE, (), GateState.PASSED)


def test_a_part_of_which_errors_decide_is_not_known():
    """Failures would be a proven loss of it, so that they are no way to look better."""
    found, gate = decided(of_parts(nano={**STEADY, **dict.fromkeys(LEGAL[:20], "e")}))
    assert (found.state, found.lost_parts, gate.state) == (State.NOT_KNOWN, (), GateState.FAILED)
    assert "a loss of more than 3 points is not excluded: measure the cases" in about_standing("nano", found)


def test_the_columns():
    letters = {"mini": {"a": "pp", "b": "pf", "c": "pp"}, "nano": {"a": "ff", "b": "ee", "c": "pp"}}
    columns = columns_of(
        {name: conclusion_of(report(cases), None, GateRules()) for name, cases in letters.items()}
    )
    assert [(column.name, column.calls, column.latency_median_s) for column in columns] == [
        ("mini", 6, 0.5),
        ("nano", 6, 0.5),
    ]
    assert [(round(column.rate.low, 2), column.rate.value) for column in columns] == [(0.44, 5 / 6), (0.09, 0.5)]


@pytest.mark.parametrize(
    ("here", "there", "kinds"),
    [
        pytest.param("fff", "ppp", ["lost"], id="lost"),
        pytest.param("pff", "ppp", ["lost"], id="most of its runs"),
        pytest.param("ppf", "ppp", [], id="one of three runs is no loss"),
        pytest.param("fff", "fff", ["failing"], id="both fail"),
        pytest.param("ppp", "fff", ["better"], id="better"),
        pytest.param("eee", "ppp", ["unmeasured"], id="not measured"),
        pytest.param("ppp", "ppp", [], id="alike"),
    ],
)
def test_what_a_case_is_beside_another_target(here, there, kinds):
    head, other = report({"a": here}), report({"a": there})
    found = causes_beside(head, differences(head, other))
    assert [each.kind for each in found] == kinds
