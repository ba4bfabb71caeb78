"""What an agent is permitted."""

from __future__ import annotations

from runevals.records.agent import AgentSettings


def test_only_servers_that_are_named_are_permitted():
    settings = AgentSettings(tools=("shell", "mcp:a"), servers={"a": {"command": "x"}, "b": {"command": "y"}})
    assert settings.permitted_servers == {"a": {"command": "x"}}
    assert (settings.has("shell"), settings.has("write")) == (True, False)
