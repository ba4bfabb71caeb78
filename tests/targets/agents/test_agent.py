"""What holds for every coding agent."""

from __future__ import annotations

from typing import get_args

import pytest

from runevals.records.agent import AgentName
from runevals.targets.agents import AGENTS
from runevals.targets.agents.agent import AgentSettings, Ask


def test_no_agent_is_given_the_token_of_the_job():
    names = {name for agent in AGENTS.values() for name in (*agent.keys, *agent.places)}
    assert not names & {"GITHUB_TOKEN", "GH_TOKEN"}
    assert tuple(AGENTS) == get_args(AgentName)


@pytest.mark.parametrize("prompt", ["--version", "-p", "resume", "--prompt=Other"])
@pytest.mark.parametrize("agent", AGENTS)
def test_a_prompt_is_never_an_option(agent, prompt):
    arguments = AGENTS[agent].arguments(Ask(prompt=prompt, settings=AgentSettings(), session="s-1"))
    options, operands = arguments, []
    if "--" in arguments:
        end = arguments.index("--")
        options, operands = arguments[:end], arguments[end + 1 :]
    assert operands[-1:] == [prompt] or f"--prompt={prompt}" in options
    assert options.count(prompt) == (1 if (agent, prompt) in _OWN else 0)


# Options of its own that happen to be one of these prompts.
_OWN = {("claude-code", "-p"), ("codex", "resume")}


@pytest.mark.parametrize("agent", AGENTS)
def test_our_own_options_come_after_those_of_the_settings(agent):
    """Of two values of an option, these command lines take the last."""
    ask = Ask(prompt="p", model="m", settings=AgentSettings(args=("--theirs", "x")), session="s-1")
    arguments = AGENTS[agent].arguments(ask)
    before = arguments[: arguments.index("--theirs")]
    assert set(before) <= {"exec", "resume"}  # the subcommand


def test_only_servers_that_are_named_are_permitted():
    settings = AgentSettings(tools=("shell", "mcp:a"), servers={"a": {"command": "x"}, "b": {"command": "y"}})
    assert settings.permitted_servers == {"a": {"command": "x"}}
    assert (settings.has("shell"), settings.has("write")) == (True, False)
