"""What `runevals init` finds in a repository and on the machine: packages, keys, agents, suites of other tools."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from runevals.lib.nullable import if_known
from runevals.models.chat.providers import PROVIDERS
from runevals.models.facts import model
from runevals.targets.agents import AGENTS

_OF_VENDOR: Mapping[str, str] = {"claude-code": "anthropic", "codex": "openai"}  # the judge that has the same key
_PROGRAMS: Mapping[str, str] = {"claude-code": "claude", "codex": "codex"}
# Suites of other tools by their usual names, and the command that brings them here.
_OTHERS: Mapping[str, tuple[str, str]] = {
    "promptfooconfig.y*ml": ("promptfoo", "runevals import promptfoo {}, or runevals init --gate promptfoo"),
    "**/*.eval.y*ml": ("agentv", "runevals gate reads its results"),
    "conftest.py": ("pytest", "runevals init --gate pytest"),
    "tests/conftest.py": ("pytest", "runevals init --gate pytest"),
}
_NOT_IN = frozenset({"node_modules", ".venv", "venv", ".git", ".evals"})


def judge_for(target: str | None) -> str | None:
    """A judge of the vendor whose key a coding agent needs anyway."""
    return if_known(lambda vendor: f"{vendor}:{model(vendor)}", _OF_VENDOR.get(target or ""))


def likely_target(environment: Mapping[str, str], *, has_skill: bool) -> str | None:
    """For a skill, an agent that is installed and has a key; else the provider whose key is set."""
    path, has = environment.get("PATH", os.defpath), environment.get
    for agent, program in _PROGRAMS.items() if has_skill else ():
        if shutil.which(program, path=path) and any(map(has, AGENTS[agent].keys)):
            return agent
    if has("OPENAI_BASE_URL"):
        return None  # of a server whose models we do not know
    return next((f"{name}:{model(name)}" for name in ("openai", "anthropic") if has(PROVIDERS[name].key)), None)


def other_tools(folder: Path) -> Iterator[str]:
    """A line for the suite of each other tool: what it is, and the command that brings it here."""
    tools: set[str] = set()
    for pattern, (tool, command) in _OTHERS.items():
        names = (path.relative_to(folder) for path in sorted(folder.glob(pattern)))
        name = next((name for name in names if not _NOT_IN & set(name.parts)), None)
        if name is not None and tool not in tools:
            tools.add(tool)
            yield f"{name.as_posix()} is of {tool}: {command.format(name.as_posix())}"
