"""The difference between two answers, word by word, and between the tools that an agent called for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from runevals.lib.text.escape import code_cell, fenced, one_line
from runevals.records import Change, ToolCall
from runevals.verdict.wording import turn_pair

MOST_READ = 20_000  # characters of an answer that are compared
MOST_SHOWN = 2_000  # of what is shown for it
CONTEXT = 8  # unchanged words that are shown beside a change
MOST_STEPS = 8  # different ones in a row that are shown
LONGEST_NAME = 40
_WORDS = re.compile(r"\S+|\n")

Piece = tuple[str, bool]  # words, and whether only this answer has them


def answer_diff(name: str, before: str, after: str) -> str:
    """The two answers of a case as a block of Markdown with their differences marked; empty if there are none."""
    if before == after:
        return ""
    base, head = word_diff(before, after)
    lines = [*_lines("- ", base, "[-", "-]"), *_lines("+ ", head, "{+", "+}")]
    return f"{code_cell(name, 80)}\n{fenced(chr(10).join(lines), 'diff')}"


def word_diff(base: str, head: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces, long equal parts shortened; without marks if they have nothing in common."""
    from rapidfuzz.distance import Indel  # only a regression needs it

    left, right = _words(base), _words(head)
    before, after, together = [], [], False
    for step in Indel.opcodes(left, right):
        removed, added = left[step.src_start : step.src_end], right[step.dest_start : step.dest_end]
        shared = step.tag == "equal"
        together = together or (shared and any(word != "\n" for word in removed))
        before.append((_text(removed, cut=shared), not shared))
        after.append((_text(added, cut=shared), not shared))
    if not together:
        before, after = [(_text(left), False)], [(_text(right), False)]
    return before, after


def _words(text: str) -> list[str]:
    words = _WORDS.findall(text[:MOST_READ])
    return [*words, "…"] if len(text) > MOST_READ else words


def _text(words: Sequence[str], *, cut: bool = False) -> str:
    if cut and len(words) > 2 * CONTEXT + 1:
        words = [*words[:CONTEXT], "…", *words[-CONTEXT:]]
    return " ".join(words)


def _lines(start: str, pieces: Sequence[Piece], opening: str, closing: str) -> list[str]:
    marked = [f"{opening}{text}{closing}" if only_here and text.strip() else text for text, only_here in pieces]
    text = " ".join(filter(None, marked))
    limited = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    return [f"{start}{line.strip(' ')}" for line in limited.split("\n")] if limited else []


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
    rest = f" → … {len(steps) - MOST_STEPS} more" if len(steps) > MOST_STEPS else ""
    return " → ".join(steps[:MOST_STEPS]) + rest if steps else "no steps"
