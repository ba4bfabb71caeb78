"""The two small distributions of the page: scores and latencies, counted into bars."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from runevals.lib.text.numbers import seconds
from runevals.records import CaseReport
from runevals.reports.page_cases import CasePair, slowest

Json = dict[str, Any]

_SCORES = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5)  # where bars begin; 5 is in the last
FEWEST = 10  # cases of which a distribution says something
_SECONDS = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0)


def scores(pairs: Sequence[CasePair]) -> Json | None:
    """Cases by score; None if they are few or do not differ."""
    labels = [f"{low:g}–{low + 0.5:g}" for low in _SCORES]
    return _chart("Scores of the cases, 1–5", labels, _SCORES, pairs, lambda case: case.composite)


def latencies(pairs: Sequence[CasePair]) -> Json | None:
    """Cases by their slowest answer; None if they are few or do not differ."""
    labels = [f"under {seconds(high)}" for high in _SECONDS[1:]] + [f"{seconds(_SECONDS[-1])} or more"]
    return _chart("Slowest answer of each case", labels, _SECONDS, pairs, slowest)


def _chart(
    title: str,
    labels: Sequence[str],
    edges: Sequence[float],
    pairs: Sequence[CasePair],
    figure: Callable[[CaseReport], float | None],
) -> Json | None:
    if len(pairs) < FEWEST:
        return None
    head = _counts([pair.head for pair in pairs], edges, figure)
    # A results document keeps the base's changed cases only: half a distribution would mislead.
    whole = all(pair.base is not None or pair.added for pair in pairs)
    base = _counts([pair.base for pair in pairs] if whole else [], edges, figure)
    used = [place for place in range(len(edges)) if head[place] or base[place]]
    if len(used) < 2:
        return None
    places = range(used[0], used[-1] + 1)
    return {
        "title": title,
        "bars": [{"label": labels[place], "head": head[place], "base": base[place]} for place in places],
        "compared": any(base),
    }


def _counts(
    cases: Sequence[CaseReport | None], edges: Sequence[float], figure: Callable[[CaseReport], float | None]
) -> list[int]:
    counts = [0] * len(edges)
    for case in cases:
        value = None if case is None else figure(case)
        if value is not None:
            counts[max(bisect_right(edges, value) - 1, 0)] += 1
    return counts
