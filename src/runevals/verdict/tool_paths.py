"""Which tools were called, in which order, against the base's own runs of the same case."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from runevals.records import AttemptReport, CaseReport, ToolPaths
from runevals.verdict.matching import match

Path = tuple[str, ...]


def tool_paths(base: Sequence[CaseReport], head: Sequence[CaseReport]) -> ToolPaths | None:
    """The F1 of each run's path and the most similar one of the base; None if no case has paths on both sides."""
    if not any(map(_paths, head)):  # as of most targets: nothing need be matched
        return None
    scores: list[tuple[float, str]] = []
    for pair in match(base, head).both:
        before, now = (_paths(case) for case in (pair.base, pair.head))
        if pair.same_content and before and now:
            score = fmean(max(path_f1(path, one) for one in before) for path in now)
            scores.append((score, pair.head.key))
    if not scores:
        return None
    changed = tuple(key for score, key in sorted(scores) if score < 1)
    return ToolPaths(cases=len(scores), f1=fmean(score for score, _ in scores), changed=changed)


def path_f1(path: Path, other: Path) -> float:
    """How much of both is their longest common subsequence; two empty paths are the same."""
    both = len(path) + len(other)
    return 2 * _common(path, other) / both if both else 1.0


def _common(path: Path, other: Path) -> int:
    """The length of the longest common subsequence, with a bit for each step (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, name in enumerate(path):
        places[name] = places.get(name, 0) | 1 << place
    every = (1 << len(path)) - 1
    rest = every
    for name in other:
        same = rest & places.get(name, 0)
        rest = (rest + same | rest - same) & every
    return len(path) - rest.bit_count()


def _paths(case: CaseReport) -> set[Path]:
    """The different paths of the measured runs."""
    return {path for attempt in case.runs if attempt.status.measured and (path := _path(attempt)) is not None}


def _path(attempt: AttemptReport) -> Path | None:
    """The names of its tool calls; None if the target does not report them."""
    calls = [turn.tool_calls for turn in attempt.turns]
    return None if None in calls else tuple(call.name for of_turn in calls for call in of_turn or ())
