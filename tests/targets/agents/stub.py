"""A command line that prints what a test says in place of an agent's events."""

from __future__ import annotations

import sys
from pathlib import Path

from runevals.models.chat.prices import Price, Prices
from runevals.records import Conversation
from runevals.targets.agents import AGENTS
from runevals.targets.agents.agent import AgentSettings
from runevals.targets.agents.target import AgentTarget
from runevals.targets.conversation_ids import ConversationIds

PRICES = Prices({"claude-x": Price(input=1.0, output=2.0)})
END = '{"type": "result", "subtype": "success", "result": "Done.", "session_id": "s-1"}'


def installed(tmp_path: Path, code: str, *, program: str = "claude") -> dict[str, str]:
    """An environment in which the agent is this Python program."""
    folder = tmp_path / "node_modules/@anthropic-ai/claude-code"
    (folder / "bin").mkdir(parents=True)
    (folder / "package.json").write_text('{"name": "@anthropic-ai/claude-code", "version": "9.8.7"}')
    script = folder / "bin" / program
    script.write_text(f"#!{sys.executable}\nimport json, os, sys, subprocess, time\nEND = {END!r}\n{code}\n")
    script.chmod(0o755)
    return {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "ANTHROPIC_API_KEY": "sk-ant-key"}


def target(environment: dict[str, str], agent: str = "claude-code", **settings: object) -> AgentTarget:
    """The target of this agent in this environment."""
    return AgentTarget(
        AGENTS[agent],
        AgentSettings(**{"timeout_s": 20.0, **settings}),
        environment=environment,
        prices=PRICES,
        sessions=ConversationIds(),
    )


def ask(tmp_path: Path, *, turn: int = 1, **more: object) -> Conversation:
    """One turn, in folders of its own."""
    for name in ("work", "home", "tmp"):
        (tmp_path / name).mkdir(exist_ok=True)
    told = {"suite": "s", "case": "c", "attempt": 1, "prompt": "Why?", "thread": "t", **more}
    return Conversation(turn=turn, turns=2, cwd=tmp_path / "work", home=tmp_path / "home", **told)
