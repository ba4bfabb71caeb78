"""What settings say of a coding agent."""

from __future__ import annotations

import json

import pytest

from runevals.records.errors import InvalidSettings
from runevals.targets.agents.agent import AgentSettings
from runevals.targets.agents.settings import agent_settings


@pytest.fixture
def base(tmp_path):
    skill = tmp_path / "skills" / "haiku"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: haiku\n---\n", encoding="utf-8")
    servers = {"mcpServers": {"docs": {"command": "npx", "args": ["docs"]}}}
    (tmp_path / ".mcp.json").write_text(json.dumps(servers), encoding="utf-8")
    return tmp_path


def settle(base, **told):
    return agent_settings({"type": "claude-code", **told}, base, base)


def test_nothing_is_permitted_that_is_not_named(base):
    assert settle(base) == AgentSettings(timeout_s=600.0)


def test_all_of_it(base):
    found = settle(
        base,
        model="opus",
        tools=["shell", "mcp:docs"],
        skills=["skills/haiku"],
        mcp=".mcp.json",
        args=["--effort", "low"],
        env=["DATABASE_URL"],
        timeout_s=30,
    )
    assert (found.model, found.tools, found.timeout_s) == ("opus", ("shell", "mcp:docs"), 30.0)
    assert [skill.name for skill in found.skills] == ["haiku"]
    assert found.permitted_servers == {"docs": {"command": "npx", "args": ["docs"]}}
    assert (found.args, found.env) == (("--effort", "low"), ("DATABASE_URL",))


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"tools": ["shel"]}, "did you mean 'shell'"),
        ({"tools": ["mcp:"]}, "is not one of shell, read, write, web or mcp:SERVER"),
        ({"tools": [{"type": "function", "function": {}}]}, "is not one of"),
        ({"skills": ["skills/none"]}, "skills/none is not a folder inside the repository with a SKILL.md"),
        ({"skills": ["../elsewhere"]}, "is not a folder inside the repository"),
        ({"mcp": {"docs": {}}}, "the server docs has neither `command` nor `url`"),
        ({"args": ["--settings", "x.json"]}, "runevals itself sets --settings of claude-code; leave it out"),
        ({"args": ["--effort", "low", "--mcp-config=x"]}, "runevals itself sets --mcp-config"),
        ({"args": ["--", "x"]}, "runevals itself sets --"),
        ({"type": "codex", "args": ["-c", "mcp_servers.x.command=y"]}, "sets -c mcp_servers.x.command of codex"),
        ({"type": "codex", "args": ["-c=model_provider=y"]}, "sets -c model_provider of codex"),
        ({"type": "copilot", "args": ["--yolo"]}, "sets --yolo of copilot"),
        ({"type": "gemini-cli", "args": ["--approval-mode", "yolo"]}, "sets --approval-mode of gemini-cli"),
    ],
)
def test_what_cannot_be_is_a_usage_error(base, told, reason):
    with pytest.raises(InvalidSettings) as raised:
        settle(base, **told)
    assert reason in str(raised.value)
