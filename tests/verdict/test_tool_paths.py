"""Which tools were called, in which order, against the base's own runs."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Gate, GateRules, Links, ToolCall
from runevals.reports import comment, console
from runevals.verdict.outcome import decide
from runevals.verdict.tool_paths import path_f1, tool_paths
from tests.sample_reports import case, report


@pytest.mark.parametrize(
    ("path", "other", "f1"),
    [
        ("", "", 1.0),
        ("ab", "ab", 1.0),
        ("ab", "ba", 0.5),
        ("ab", "acb", 0.8),
        ("aab", "ab", 0.8),
        ("", "a", 0.0),
        ("abcbdab", "bdcaba", 8 / 13),
        ("ab" * 500, "ba" * 500, 999 / 1000),
    ],
)
def test_f1_is_of_the_longest_common_subsequence(path, other, f1):
    assert path_f1(tuple(path), tuple(other)) == pytest.approx(f1)
    assert path_f1(tuple(other), tuple(path)) == pytest.approx(f1)


def calling(key, *paths, outcomes="ppp"):
    """A case whose runs called these tools, a letter each; None: not reported."""
    made = case(key, outcomes[: len(paths)])
    attempts = []
    for attempt, path in zip(made.attempts, paths, strict=True):
        calls = None if path is None else tuple(ToolCall(name=name) for name in path)
        attempts.append(replace(attempt, turns=(replace(attempt.turns[0], tool_calls=calls),)))
    return replace(made, attempts=tuple(attempts))


def test_each_run_is_compared_with_the_most_similar_run_of_the_base():
    """A path that the base takes now and then is none of the change's; errored runs have none."""
    base = [calling("a", "xy", "yx"), calling("b", "x", "x"), calling("c", "x"), calling("d", "x")]
    head = [calling("a", "yx", "yx"), calling("b", "x", "xyy"), calling("c", None), calling("d", "", outcomes="e")]
    found = tool_paths(base, head)
    assert (found.cases, found.f1, found.changed) == (2, pytest.approx((1 + (1 + 0.5) / 2) / 2), ("b",))
    assert tool_paths(base[2:], head[2:]) is None
    sides = [[replace(calling("a", path), suite=suite) for suite, path in (("1", of), ("2", "x"))] for of in "xy"]
    assert tool_paths(*sides).changed == ("a",), "a key may be in several suites"


@pytest.mark.parametrize(
    ("limit", "exit_code"), [pytest.param(None, 0, id="no gate"), (0.7, 0), pytest.param(0.9, 1, id="too far")]
)
def test_it_informs_unless_a_gate_names_it(limit, exit_code):
    base = report([calling("a", "xy"), calling("b", "x")])
    head = report([calling("a", "yx"), calling("b", "x")])
    gates = () if limit is None else (Gate(name="path", metric="same_path_as_base", op=">=", limit=limit),)
    concluded = decide(base, head, GateRules(gates=gates))
    assert concluded.verdict.exit_code == exit_code
    told = "ool calls differ from the base's in 1 of 2 cases (a): F1 0.75"
    assert told in console.render(concluded)
    assert "Tool calls differ from the base" in comment.render(concluded, Links())


def test_a_gate_on_it_is_not_passed_by_a_target_that_reports_no_calls():
    gate = Gate(name="path", metric="same_path_as_base", op=">=", limit=0.1)
    sides = [report([calling("a", None)]) for _ in range(2)]
    concluded = decide(*sides, GateRules(gates=(gate,)))
    assert concluded.verdict.exit_code == 1
    assert {one.name: one.state for one in concluded.gates}["path"] == "failed"
