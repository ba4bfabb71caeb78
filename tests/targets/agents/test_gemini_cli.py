"""Gemini CLI: what its events say, and with which options and settings it is started."""

from __future__ import annotations

import json

import pytest

from runevals.targets.agents import AGENTS
from runevals.targets.agents.agent import AgentSettings, Ask
from tests.targets.agents.streams import lines, read, recorded

AGENT = "gemini-cli"


def settings_file(settings: AgentSettings) -> dict:
    return json.loads(AGENTS[AGENT].home(settings, {})[".gemini/settings.json"])


def test_the_answer_its_tokens_and_its_tool_call_are_read():
    answer = read(AGENT, recorded(AGENT, "write"))
    assert (answer.text, answer.problem, answer.model) == ("Written.", None, "gemini-2.5-flash")
    assert (answer.input_tokens, answer.output_tokens, answer.turns) == (240, 60, 2)
    [call] = answer.tool_calls
    assert (call.name, call.input["command"], call.ok) == ("run_shell_command", "printf 'hi\\n' > made.txt", True)
    assert answer.session


def test_a_call_that_is_not_permitted_is_listed():
    answer = read(AGENT, recorded(AGENT, "refused"))
    assert answer.refused == ("run_shell_command",)
    assert [call.ok for call in answer.tool_calls] == [False]


def test_pieces_of_a_message_are_joined_and_the_last_message_is_the_answer():
    def piece(text: str) -> dict:
        return {"type": "message", "role": "assistant", "content": text, "delta": True}

    call = {"type": "tool_use", "tool_id": "1", "tool_name": "glob", "parameters": {}}
    events = [piece("Let me "), piece("look."), call, piece("It is "), piece("here.")]
    assert read(AGENT, lines(*events, {"type": "result", "status": "success"})).text == "It is here."


def test_a_final_event_of_an_error_is_a_problem():
    events = lines({"type": "result", "status": "error", "error": {"message": "no quota"}})
    assert read(AGENT, events).problem.message == "the agent says: no quota"


@pytest.mark.parametrize(
    ("tools", "core"),
    [((), []), (("write",), ["replace", "write_file"]), (("web",), ["web_fetch", "google_web_search"])],
)
def test_tools_are_restricted_to_those_that_are_named(tools, core):
    assert settings_file(AgentSettings(tools=tools))["tools"]["core"] == core


def test_only_servers_that_are_named_are_configured():
    servers = {"docs": {"command": "a"}, "other": {"command": "b"}}
    settings = AgentSettings(tools=("mcp:docs",), servers=servers)
    assert settings_file(settings)["mcpServers"] == {"docs": {"command": "a"}}
    told = AGENTS[AGENT].arguments(Ask(prompt="Why?", settings=settings, session="s-1"))
    assert "--allowed-mcp-server-names=docs" in told
    assert "--resume" in told
