"""Coding agents by the names that users write, one kind a module."""

from __future__ import annotations

from collections.abc import Mapping

from runevals.targets.agents.agent import Agent
from runevals.targets.agents.claude_code import ClaudeCode
from runevals.targets.agents.codex import Codex
from runevals.targets.agents.copilot import Copilot
from runevals.targets.agents.gemini_cli import GeminiCli

AGENTS: Mapping[str, Agent] = {agent.name: agent for agent in (ClaudeCode(), Codex(), Copilot(), GeminiCli())}
