"""The matrix of trigger queries: the skills they are for, by the skills that were loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import limited, percent, plural
from runevals.records.conclusion import SkillMatrix, SkillUse
from runevals.verdict.skill_matrix import confusions

TITLE = "Skills: asked for (rows), loaded (columns)"
MOST_COLUMNS = 12
MOST_PAIRS = 8


def table(matrix: SkillMatrix) -> tuple[tuple[str, ...], ...]:
    """Runs of all of the row, base → now, with a mark on what `lines` names, below a head. Empty if too wide."""
    columns = sorted({use.loads for use in matrix.uses}, key=lambda names: (not names, names))
    if len(columns) > MOST_COLUMNS:
        return ()
    marks = {(pair.asks_for, pair.loads): "⚠ " for pair in confusions(matrix)}
    body = []
    for row, group in groupby(matrix.uses, key=lambda use: use.asks_for):
        uses = [*group]
        cells = {use.loads: marks.get((row, use.loads), "") + _runs(use, uses) for use in uses}
        body.append((_names(row), *(cells.get(column, "") for column in columns)))
    return (("", *map(_names, columns)), *body)


def lines(matrix: SkillMatrix) -> Iterator[str]:
    """The pairs that are confused more than on the base."""
    pairs, texts = confusions(matrix), []
    for pair in pairs:
        before = "" if pair.base_share is None else f"{percent(pair.base_share)} → "
        shares = f"{before}{percent(pair.head_share)} of the runs"
        texts.append(f"asked for {_names(pair.asks_for)}, loaded {_names(pair.loads)}: {shares}")
    yield from limited(texts, MOST_PAIRS)
    if not pairs:
        more = "" if matrix.uses[0].base_runs is None else " more than on the base"
        yield f"No skills are confused{more} in {plural(matrix.cases, 'trigger case')}"


def _runs(use: SkillUse, row: Sequence[SkillUse]) -> str:
    before = "" if use.base_runs is None else f"{use.base_runs}/{sum(one.base_runs or 0 for one in row)} → "
    return f"{before}{use.head_runs}/{sum(one.head_runs for one in row)}"


def _names(skills: tuple[str, ...]) -> str:
    return one_line(" + ".join(skills) or "none", 60)
