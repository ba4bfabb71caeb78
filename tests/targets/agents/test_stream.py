"""Streams that are broken in any way have no answer."""

from __future__ import annotations

import pytest

from runevals.targets.agents import stream as module
from tests.targets.agents.streams import lines, read, recorded

END = {"type": "result", "subtype": "success", "result": "Done."}


@pytest.mark.parametrize("agent", ["claude-code", "codex", "copilot", "gemini-cli"])
def test_without_its_final_event_there_is_no_answer(agent):
    whole = recorded(agent, "write").splitlines(keepends=True)
    answer = read(agent, b"".join(whole[:-1]))
    assert (answer.problem.code, answer.problem.message) == ("target_failed", "it ended without its final event")


@pytest.mark.parametrize("agent", ["claude-code", "codex", "copilot", "gemini-cli"])
def test_half_a_final_event_is_none(agent):
    answer = read(agent, recorded(agent, "write")[:-40])
    assert answer.problem.code == "target_unparseable"
    assert "not a JSON object" in answer.problem.message


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (lines(END) + b'{"type": "\xff"}\n', "not UTF-8"),
        (lines(END) + b"[1]\n", "not a JSON object"),
        (lines({"type": "assistant", "message": {}}, END), "an event of type assistant cannot be read"),
        (lines({"type": "assistant", "message": {"content": [{"type": "tool_use"}]}}, END), "cannot be read"),
        (b"", "without its final event"),
    ],
)
def test_what_cannot_be_read_is_no_answer(output, reason):
    assert reason in read("claude-code", output).problem.message


def test_a_huge_line_is_no_answer(monkeypatch):
    monkeypatch.setattr(module, "MOST_LINE_BYTES", 5000)
    assert "a line longer than" in read("claude-code", lines(END) + b"x" * 6000).problem.message


def test_notices_before_the_first_event_are_passed_over():
    assert read("claude-code", b"warning: no colours\n" + lines(END)).text == "Done."


def test_a_call_that_is_nested_too_deep_is_no_answer():
    deep: object = 1
    for _ in range(200):
        deep = [deep]
    call = {"type": "tool_use", "id": "1", "name": "Bash", "input": deep}
    assert (
        read("claude-code", lines({"type": "assistant", "message": {"content": [call]}}, END)).problem is not None
    )


def _init(**fields):
    return {"type": "system", "subtype": "init", "session_id": "s", **fields}


def _call(**fields):
    return {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "1", **fields}]}}


COPILOT_END = {"type": "result", "exitCode": 0}
GEMINI_END = {"type": "result", "status": "success"}


@pytest.mark.parametrize(
    ("agent", "events"),
    [
        ("claude-code", [{**END, "total_cost_usd": "abc"}]),
        ("claude-code", [{**END, "total_cost_usd": -5.0}]),
        ("claude-code", [{**END, "total_cost_usd": float("nan")}]),
        ("claude-code", [{**END, "total_cost_usd": float("inf")}]),
        ("claude-code", [{**END, "result": {"text": "Done."}}]),
        ("claude-code", [{**END, "session_id": 7}]),
        ("claude-code", [{**END, "usage": [1]}]),
        ("claude-code", [{**END, "permission_denials": [{"tool_name": {"name": "Bash"}}]}]),
        ("claude-code", [_init(model={"id": "claude-x"}), END]),
        ("claude-code", [_init(skills=[{"name": "pdf"}]), END]),
        ("claude-code", [_call(name=None), END]),
        ("claude-code", [_call(name="Bash", input={"timeout": float("nan")}), END]),
        (
            "claude-code",
            [{"type": "assistant", "message": {"content": [{"type": "text", "text": {"a": 1}}]}}, END],
        ),
        ("codex", [{"type": "thread.started", "thread_id": {}}, {"type": "turn.completed"}]),
        (
            "codex",
            [
                {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": 1}},
                {"type": "turn.completed"},
            ],
        ),
        ("copilot", [{"type": "assistant.message", "data": {"model": {"id": "x"}}}, COPILOT_END]),
        ("copilot", [{"type": "session.skills_loaded", "data": {"skills": [{"name": 1}]}}, COPILOT_END]),
        ("copilot", [{**COPILOT_END, "sessionId": ["s"]}]),
        ("gemini-cli", [{"type": "init", "session_id": "s", "model": ["gemini"]}, GEMINI_END]),
        ("gemini-cli", [{"type": "tool_use", "tool_id": "1", "tool_name": {}}, GEMINI_END]),
    ],
)
def test_a_field_of_another_type_makes_the_answer_unreadable(agent, events):
    answer = read(agent, lines(*events))
    assert answer.problem is not None
    assert answer.problem.code == "target_unparseable"


def test_tokens_that_no_run_can_have_are_unknown():
    answer = read("claude-code", lines({**END, "usage": {"input_tokens": -1, "output_tokens": 10**400}}))
    assert (answer.input_tokens, answer.output_tokens, answer.problem) == (None, None, None)
