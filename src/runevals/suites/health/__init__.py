"""The health of suites: hints for their authors, never part of a score or a verdict."""

from __future__ import annotations

from collections.abc import Sequence

from runevals.records import RunReport
from runevals.suites.health.coverage import thin_labels, unclear_rubrics, without_checks
from runevals.suites.health.duplicates import near_duplicates
from runevals.suites.health.hint import Hint
from runevals.suites.health.history import AMOUNTS, far_above, indifferent
from runevals.suites.health.server_tools import ServerTools, server_tools
from runevals.suites.plan import RunPlan

__all__ = ["Hint", "findings"]


def findings(plan: RunPlan, past: Sequence[RunReport] = (), tools: ServerTools | None = None) -> list[Hint]:
    """Everything found, kind by kind, in the order of the suites.

    `tools` are those of the MCP servers under test.
    """
    return [
        *without_checks(plan.cases),
        *unclear_rubrics(plan.cases),
        *near_duplicates(plan.cases),
        *thin_labels(plan.suites),
        *indifferent(plan.cases, past),
        *(hint for amount in AMOUNTS for hint in far_above(plan.cases, past, amount)),
        *(() if tools is None else server_tools(plan, tools)),
    ]
