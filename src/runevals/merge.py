"""Shards of one run → the run, as if it had been made in one piece."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise

from runevals import __version__
from runevals.errors import InvalidDocument, WorldRefused
from runevals.records import CaseReport, ModelIdentity, RunInfo, RunReport, ShardInfo
from runevals.score import run_report

WITHOUT_EFFECT = frozenset(  # settings that may differ between shards: none of them changes what is measured
    {"concurrency", "judge_concurrency", "cache_target", "output_dir", "mode", "shards"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A shard's document: where it stands, and what it says."""

    shown: str
    report: RunReport
    shard: ShardInfo


def merged(documents: Sequence[tuple[str, RunReport]]) -> RunReport:
    """The whole run's report; each document comes with its name.

    Raises InvalidDocument for documents that are not the shards of one run, or one of them twice; WorldRefused
    where some are missing or were not finished.
    """
    parts = sorted((_part(shown, report) for shown, report in documents), key=lambda part: part.shard.part)
    for part in parts[1:]:
        _require_same_run(parts[0], part)
    _require_each_once(parts)
    reports = [part.report for part in parts]
    return run_report(_info([report.run for report in reports]), _cases(parts))


def _part(shown: str, report: RunReport) -> Part:
    shard = report.run.shard
    if shard is None:
        raise InvalidDocument(f"{shown} is no shard: that run was made in one piece (or is merged already)")
    if report.tool_version != __version__:
        raise InvalidDocument(
            f"{shown} was written by runevals {report.tool_version}, this is {__version__}; "
            "merge with the version that ran"
        )
    if not report.complete:
        raise WorldRefused(
            f"{shown} is not complete: shard {shard.part} of {shard.of} was not finished; run it again"
        )
    if shard.part > shard.of:
        raise InvalidDocument(f"{shown} is no shard: it says that it is part {shard.part} of {shard.of}")
    if len(shard.positions) != len(report.cases):
        raise InvalidDocument(
            f"{shown} has {len(report.cases)} cases, but says that it has {len(shard.positions)}"
        )
    return Part(shown=shown, report=report, shard=shard)


_SAME: Mapping[str, Callable[[Part], object]] = {
    "numbers of shards": lambda part: part.shard.of,
    "commits": lambda part: part.report.run.commit,
    "suites": lambda part: part.report.run.suites,
    "numbers of cases": lambda part: part.shard.plan_cases,
    "targets": lambda part: _asked_for(part.report.run.target),
    "judges": lambda part: _asked_for(part.report.run.judge),
    "attempts": lambda part: part.report.run.repeat,
    "settings": lambda part: _with_effect(part.report.run.settings),
}


def _require_same_run(first: Part, other: Part) -> None:
    """Raises InvalidDocument that says what differs between two documents."""
    for what, read in _SAME.items():
        there, here = read(first), read(other)
        if there != here:
            shown = f" ({there} and {here})" if isinstance(there, str | int) or isinstance(here, str | int) else ""
            raise InvalidDocument(
                f"{first.shown} and {other.shown} are not of one run: their {what} differ{shown}"
            )


def _require_each_once(parts: Sequence[Part]) -> None:
    of = parts[0].shard.of
    for before, after in pairwise(parts):
        if before.shard.part == after.shard.part:
            both = f"{before.shown} and {after.shown}"
            raise InvalidDocument(f"shard {after.shard.part} of {of} is there twice: {both}")
    missing = sorted(set(range(1, of + 1)) - {part.shard.part for part in parts})
    if missing:
        shown = ", ".join(map(str, missing[:20])) + (" …" if len(missing) > 20 else "")
        raise WorldRefused(f"of {of} shards, these are missing: {shown}; nothing is decided without them")


def _cases(parts: Sequence[Part]) -> list[CaseReport]:
    """All cases in the order of the plan."""
    placed = {
        position: case
        for part in parts
        for position, case in zip(part.shard.positions, part.report.cases, strict=True)
    }
    given, planned = sum(len(part.report.cases) for part in parts), parts[0].shard.plan_cases
    if not len(placed) == given == planned or max(placed, default=0) >= max(planned, 1):
        raise InvalidDocument("the shards together do not have each case of their plan once; run them again")
    return [placed[position] for position in range(len(placed))]


def _info(runs: Sequence[RunInfo]) -> RunInfo:
    """What all shards say of their run: from the first one's start to the last one's end."""
    first = runs[0]
    started_at = min(run.started_at for run in runs)
    ended_at = max(run.started_at + timedelta(seconds=run.duration_s) for run in runs)
    modes = {run.sandbox for run in runs}
    return replace(
        first,
        shard=None,
        started_at=started_at,
        duration_s=(ended_at - started_at).total_seconds(),
        target=_joined(first.target, [run.target for run in runs]),
        judge=None if first.judge is None else _joined(first.judge, [run.judge for run in runs]),
        sandbox="reduced" if "reduced" in modes else "strict" if "strict" in modes else None,
        notices=tuple(dict.fromkeys(notice for run in runs for notice in run.notices)),
    )


def _joined(first: ModelIdentity, all_of: Sequence[ModelIdentity | None]) -> ModelIdentity:
    """The one model asked for, with every model that answered."""
    return replace(first, reported=tuple(sorted({name for known in all_of if known for name in known.reported})))


def _asked_for(identity: ModelIdentity | None) -> ModelIdentity | None:
    return None if identity is None else replace(identity, reported=())


def _with_effect(settings: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in settings.items() if name not in WITHOUT_EFFECT}
