"""The tools that an agent called in one turn, as one short line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from runevals.lib.text.escape import one_line
from runevals.records import Change, ToolCall
from runevals.verdict.wording import turn_pair

MOST = 8  # different steps in a row that are shown
LONGEST_NAME = 40


def changed_steps(change: Change) -> tuple[str, str] | None:
    """(base's steps, head's steps) at the turn that fails now; None if they are the same or a side is unknown."""
    calls = [turn.tool_calls for turn in turn_pair(change) or ()]
    if not calls or None in calls:
        return None
    before, now = (path(each or ()) for each in calls)
    return None if before == now else (before, now)


def path(calls: Sequence[ToolCall]) -> str:
    """ "Read ×8 → Edit → Bash": each tool in the order of the calls, repetitions counted."""
    names = [one_line(call.name, LONGEST_NAME) for call in calls]
    groups = [(name, len([*group])) for name, group in groupby(names)]
    steps = [name if times == 1 else f"{name} ×{times}" for name, times in groups]
    rest = f" → … {len(steps) - MOST} more" if len(steps) > MOST else ""
    return " → ".join(steps[:MOST]) + rest if steps else "no steps"
