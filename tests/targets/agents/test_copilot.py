"""Copilot CLI: what its events say, and with which options it is started."""

from __future__ import annotations

import pytest

from runevals.targets.agents import AGENTS
from runevals.targets.agents.agent import AgentSettings, Ask
from tests.targets.agents.streams import lines, read, recorded

AGENT = "copilot"


def options(settings: AgentSettings, **ask: str) -> list[str]:
    return AGENTS[AGENT].arguments(Ask(prompt="Why?", settings=settings, **ask))


def test_the_answer_and_its_tool_call_are_read():
    answer = read(AGENT, recorded(AGENT, "write"))
    assert (answer.text, answer.problem, answer.model, answer.turns) == ("Written.", None, "gpt-5", 2)
    [call] = answer.tool_calls
    assert (call.name, call.input["command"], call.ok) == ("bash", "printf 'hi\\n' > made.txt", True)
    assert "exit code 0" in call.output
    assert answer.session


def test_a_call_that_is_not_permitted_is_listed():
    answer = read(AGENT, recorded(AGENT, "refused"))
    assert answer.refused == ("bash",)
    assert [call.ok for call in answer.tool_calls] == [False]


def test_tokens_of_all_requests_are_added():
    used = {"type": "assistant.usage", "data": {"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 4}}
    answer = read(AGENT, lines(used, used, {"type": "result", "exitCode": 0}))
    assert (answer.input_tokens, answer.output_tokens, answer.delivery.cached_tokens) == (20, 4, 8)


def test_another_exit_code_is_a_problem():
    assert "exit code 1" in read(AGENT, lines({"type": "result", "exitCode": 1})).problem.message


@pytest.mark.parametrize(
    ("tools", "named"),
    [
        ((), "--available-tools=none"),
        (("read",), "--available-tools=view,grep,glob"),
        (("write",), "--available-tools=create,edit"),
    ],
)
def test_tools_are_restricted_to_those_that_are_named(tools, named):
    assert named in options(AgentSettings(tools=tools))


def test_servers_cannot_be_restricted():
    assert "mcp" in AGENTS[AGENT].cannot(AgentSettings(tools=("mcp:docs",)))


def test_the_next_turn_resumes_the_session():
    assert "--resume=s-1" in options(AgentSettings(), session="s-1")
