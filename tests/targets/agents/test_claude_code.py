"""Claude Code: what its events say, and with which options it is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from runevals.targets.agents import AGENTS
from runevals.targets.agents.agent import AgentSettings, Ask
from tests.targets.agents.streams import lines, read, recorded

AGENT = "claude-code"


def options(settings: AgentSettings, **ask: str) -> list[str]:
    return AGENTS[AGENT].arguments(Ask(prompt="Why?", settings=settings, **ask))


def test_the_answer_its_tokens_and_its_tool_call_are_read():
    answer = read(AGENT, recorded(AGENT, "write"))
    assert (answer.text, answer.problem) == ("Written.", None)
    assert (answer.input_tokens, answer.output_tokens, answer.cost_usd, answer.turns) == (240, 60, 0.00216, 2)
    [call] = answer.tool_calls
    assert (call.name, call.input["command"], call.ok) == ("Bash", "printf 'hi\\n' > made.txt", True)
    assert None not in (answer.session, answer.model)


def test_a_call_that_is_not_permitted_is_listed():
    answer = read(AGENT, recorded(AGENT, "refused"))
    assert answer.refused == ("Bash",)
    assert [call.ok for call in answer.tool_calls] == [False]


def test_denied_permissions_are_listed():
    answer = read(
        AGENT, lines({"type": "result", "subtype": "success", "permission_denials": [{"tool_name": "Edit"}]})
    )
    assert answer.refused == ("Edit",)


@pytest.mark.parametrize("subtype", ["error_max_turns", "error_during_execution"])
def test_a_final_event_of_an_error_is_a_problem_with_its_cost(subtype):
    answer = read(AGENT, lines({"type": "result", "subtype": subtype, "total_cost_usd": 0.5, "is_error": True}))
    assert (answer.problem.code, answer.cost_usd) == ("target_failed", 0.5)
    assert subtype in answer.problem.message


def test_an_error_that_calls_itself_a_success_is_told_in_its_own_words():
    event = {"type": "result", "subtype": "success", "is_error": True, "result": "There is no such model"}
    answer = read(AGENT, lines(event))
    assert answer.problem.message == "the agent says: There is no such model"


def test_words_of_a_subagent_are_not_the_answer():
    said = {
        "type": "assistant",
        "parent_tool_use_id": "t",
        "message": {"content": [{"type": "text", "text": "inner"}]},
    }
    assert read(AGENT, lines(said, {"type": "result", "subtype": "success"})).text == ""


@pytest.mark.parametrize(
    ("tools", "named"),
    [
        ((), "--tools="),
        (("shell",), "--tools=Bash"),
        (("read", "web"), "--tools=Read,Glob,Grep,WebFetch,WebSearch"),
        (("write",), "--tools=Edit,Write,NotebookEdit"),
    ],
)
def test_tools_are_restricted_to_those_that_are_named(tools, named):
    assert named in options(AgentSettings(tools=tools))


def test_only_servers_that_are_named_are_configured():
    servers = {"docs": {"command": "a"}, "other": {"command": "b"}}
    told = options(AgentSettings(tools=("mcp:docs",), servers=servers))
    assert '--mcp-config={"mcpServers": {"docs": {"command": "a"}}}' in told
    assert "--strict-mcp-config" in told
    assert "--allowedTools=mcp__docs" in told


def test_the_next_turn_resumes_the_session():
    assert "--resume" in options(AgentSettings(args=("--effort", "low")), session="s-1")


def test_with_skills_the_tool_that_loads_them_is_permitted():
    assert "--tools=Skill" in options(AgentSettings(skills=(Path("haiku"),)))
