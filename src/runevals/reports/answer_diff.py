"""The difference between two answers, word by word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runevals.lib.text.escape import code_cell, fenced

MOST_READ = 20_000  # characters of an answer that are compared
MOST_SHOWN = 2_000  # of what is shown for it
CONTEXT = 8  # unchanged words that are shown beside a change
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
    text = " ".join(piece for piece in marked if piece)
    limited = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    return [f"{start}{line.strip(' ')}" for line in limited.split("\n")] if limited else []
