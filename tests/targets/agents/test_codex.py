"""Codex: what its events say, and with which options it is started."""

from __future__ import annotations

import tomllib

import pytest

from runevals.targets.agents import AGENTS
from runevals.targets.agents.agent import AgentSettings, Ask
from tests.targets.agents.streams import lines, read, recorded

AGENT = "codex"


def options(settings: AgentSettings, **ask: str) -> list[str]:
    return AGENTS[AGENT].arguments(Ask(prompt="Why?", settings=settings, **ask))


def test_the_answer_its_tokens_and_its_tool_call_are_read():
    answer = read(AGENT, recorded(AGENT, "write"))
    assert (answer.text, answer.problem) == ("Written.", None)
    assert (answer.input_tokens, answer.output_tokens, answer.cost_usd, answer.turns) == (240, 60, None, 2)
    [call] = answer.tool_calls
    assert (call.name, call.ok) == ("shell", True)
    assert "made.txt" in call.input["command"]
    assert answer.session


def test_a_call_of_a_tool_that_is_off_does_not_happen():
    answer = read(AGENT, recorded(AGENT, "refused"))
    assert (answer.text, answer.tool_calls) == ("Written.", ())


def test_a_failed_turn_is_a_problem():
    answer = read(AGENT, lines({"type": "turn.failed", "error": {"message": "no quota"}}))
    assert (answer.problem.code, answer.problem.message) == ("target_failed", "the agent says: no quota")


def test_all_kinds_of_calls_have_a_name():
    items = [
        {"id": "1", "type": "file_change", "changes": [], "status": "completed"},
        {
            "id": "2",
            "type": "mcp_tool_call",
            "server": "docs",
            "tool": "find",
            "arguments": {"q": 1},
            "result": "r",
        },
        {"id": "3", "type": "web_search", "query": "q"},
        {"id": "4", "type": "command_execution", "command": "rm", "status": "declined"},
    ]
    answer = read(AGENT, lines(*({"type": "item.completed", "item": item} for item in items)))
    assert [call.name for call in answer.tool_calls] == ["apply_patch", "mcp__docs__find", "web_search", "shell"]
    assert answer.refused == ("shell",)


@pytest.mark.parametrize(
    ("tools", "there", "absent"),
    [
        ((), 'sandbox_mode="read-only"', None),
        (("shell",), 'sandbox_mode="read-only"', "shell_tool"),
        (("shell", "write"), 'sandbox_mode="workspace-write"', "shell_tool"),
        (("web",), 'web_search="live"', None),
    ],
)
def test_tools_are_restricted_to_those_that_are_named(tools, there, absent):
    told = options(AgentSettings(tools=tools))
    assert there in told
    assert ("shell_tool" in told) == (absent is None)


@pytest.mark.parametrize("tool", ["read", "write"])
def test_what_it_does_with_its_shell_alone_needs_the_shell(tool):
    assert "name `shell` too" in AGENTS[AGENT].cannot(AgentSettings(tools=(tool,)))
    assert AGENTS[AGENT].cannot(AgentSettings(tools=("shell", tool))) is None


def test_its_home_names_the_endpoint_and_the_servers():
    servers = {"docs": {"command": "npx", "args": ["-y", "docs"], "env": {"A": "b"}}, "other": {"command": "x"}}
    settings = AgentSettings(tools=("mcp:docs",), servers=servers)
    [(path, text)] = AGENTS[AGENT].home(settings, {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}).items()
    told = tomllib.loads(text)
    assert path == ".codex/config.toml"
    assert told["model_providers"]["runevals"]["base_url"] == "http://127.0.0.1:1/v1"
    assert told["mcp_servers"] == {"docs": {"command": "npx", "args": ["-y", "docs"], "env": {"A": "b"}}}


@pytest.mark.parametrize("text", ["\U0001f600", 'é " \\ \n \x01 \x7f \x85'])
def test_every_character_reaches_a_server_as_it_is(text):
    servers = {text: {"command": "x", "args": [text], "env": {"A": text}}}
    settings = AgentSettings(tools=(f"mcp:{text}",), servers=servers)
    [config] = AGENTS[AGENT].home(settings, {}).values()
    assert tomllib.loads(config)["mcp_servers"] == servers


def test_the_next_turn_resumes_the_thread():
    told = options(AgentSettings(), session="t-1")
    assert told[:2] == ["exec", "resume"]
    assert told[-3:] == ["--", "t-1", "Why?"]
