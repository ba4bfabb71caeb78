"""Which cases each shard of a run has: by their durations in the base's document, or by hash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runevals.records import CaseReport, Suite
from runevals.run.baseline.from_files import read_baseline
from runevals.run.load import plan_of
from runevals.settings.resolve import Settings
from runevals.settings.stages import CompareSettings
from runevals.suites.load import LoadedSuites
from runevals.suites.plan import RunPlan, is_selected, part_of
from runevals.suites.shard import balanced


def with_split(settings: Settings, suites: Sequence[Suite]) -> Settings:
    """The settings with a shard balanced by the base's document; by hash without one, or without durations.

    Raises as `read_baseline`.
    """
    selection = settings.selection
    if selection.shard is None or not _has_document(settings.compare):
        return settings
    baseline, _ = read_baseline(settings)
    if baseline is None:
        return settings
    past = {(case.suite, case.key): _duration_ms(case) for case in baseline.report.cases}
    durations_ms = {case: duration for case, duration in past.items() if duration is not None}
    cases = [(case.suite, case.key) for suite in suites for case in suite.cases if is_selected(case, selection)]
    return replace(settings, selection=replace(selection, shard=balanced(selection.shard, cases, durations_ms)))


def plan_of_shard(loaded: LoadedSuites, settings: Settings) -> RunPlan:
    """What a run would make: the whole plan, or its shard. Raises as `plan_of` and `with_split`."""
    shard = with_split(settings, loaded.suites).selection.shard
    return part_of(plan_of(loaded, settings), shard)


def _has_document(compare: CompareSettings) -> bool:
    """Whether the base is a file or a folder. What an address answers may differ between two shards."""
    source, is_measured = compare.baseline, compare.base == "run" and not compare.baseline_named
    return source is not None and not is_measured and not source.startswith(("http://", "https://"))


def _duration_ms(case: CaseReport) -> int | None:
    """How long the target took for one attempt, on average; None if that is unknown."""
    attempts = [
        sum(turn.latency_s for turn in attempt.turns if turn.latency_s is not None)
        for attempt in case.attempts
        if any(turn.latency_s is not None for turn in attempt.turns)
    ]
    return round(1000 * sum(attempts) / len(attempts)) if attempts else None
