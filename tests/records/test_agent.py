"""What an agent is permitted."""

from __future__ import annotations

from runevals.records.agent import AGENT_KEYS, AGENT_PLACES, AGENTS, AgentSettings


def test_only_servers_that_are_named_are_permitted():
    settings = AgentSettings(tools=("shell", "mcp:a"), servers={"a": {"command": "x"}, "b": {"command": "y"}})
    assert settings.permitted_servers == {"a": {"command": "x"}}
    assert (settings.has("shell"), settings.has("write")) == (True, False)


def test_no_agent_is_given_the_token_of_the_job():
    given = {name for known in (AGENT_KEYS, AGENT_PLACES) for names in known.values() for name in names}
    assert not given & {"GITHUB_TOKEN", "GH_TOKEN"}
    assert set(AGENTS) == set(AGENT_KEYS) == set(AGENT_PLACES)
