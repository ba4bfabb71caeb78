"""The names of coding agents, of what they may be permitted, and of the files of a skill's measurement."""

from __future__ import annotations

from typing import Literal, get_args

AgentName = Literal["claude-code", "codex", "copilot", "gemini-cli"]
TOOLS = ("shell", "read", "write", "web")  # and mcp:SERVER
MCP = "mcp:"
AGENTS: tuple[str, ...] = get_args(AgentName)

# The files of a skill's measurement that lie in its folder or below `evals`.
SKILL_SUITE = "evals.json"
SKILL_TRIGGERS = tuple(
    f"{name}.json"
    for name in (
        *("trigger-evals", "trigger-eval", "trigger_evals", "trigger_eval", "trigger-queries", "trigger_queries"),
        *("eval_queries", "eval-queries"),
    )
)
# What tools write beside suites: results, and not what is measured.
SKILL_RESULTS = frozenset(
    {"grading.json", "benchmark.json", "eval_metadata.json", "timing.json", "feedback.json", "metrics.json"}
)
