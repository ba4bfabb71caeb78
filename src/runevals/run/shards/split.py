"""Which cases each shard of a run has: by their durations in the base's document, or by hash."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from runevals.records import RunReport, Suite
from runevals.records.errors import InvalidSettings
from runevals.run.baseline.from_files import is_remote, read_baseline
from runevals.run.load import plan_of
from runevals.settings.resolve import Settings
from runevals.settings.stages import CompareSettings
from runevals.suites.load import LoadedSuites
from runevals.suites.plan import RunPlan, part_of
from runevals.suites.selection import is_selected
from runevals.suites.shard import CaseName, balanced

SPLIT = "`runevals merge` compares with the base of the shards only if it is named there, too: --baseline FILE"
MOST_CHARACTERS = 100_000  # of the durations that a plan hands on: an environment variable holds 128 KiB
_DURATIONS = re.compile(r"[0-9]{0,9}(,[0-9]{0,9})*")


def split_by(settings: Settings) -> tuple[str, ...]:
    """What to say of a shard whose base is a file: that the merge is to name it, too."""
    return (SPLIT,) if settings.selection.shard is not None and _has_document(settings.compare) else ()


def with_split(settings: Settings, suites: Sequence[Suite]) -> Settings:
    """The settings with a shard balanced by the base's document; by hash without one, or without durations.

    Raises as `read_baseline`.
    """
    shard = settings.selection.shard
    if shard is None or shard.parts is not None or not _has_document(settings.compare):
        return settings
    baseline, _ = read_baseline(settings)
    return settings if baseline is None else _balanced(settings, suites, _durations_ms(baseline.report))


def durations_text(plan: RunPlan, base: RunReport) -> str:
    """What the shards of a plan are to be split by: of each case its duration in milliseconds, or nothing.

    Empty if the base has no durations, or the plan too many cases for a variable.
    """
    durations_ms = _durations_ms(base)
    text = ",".join(str(durations_ms.get((case.suite, case.key), "")) for case in plan.cases)
    return text if text.strip(",") and len(text) <= MOST_CHARACTERS else ""


def with_durations(settings: Settings, suites: Sequence[Suite], text: str) -> Settings:
    """The settings with a shard balanced by the durations of `durations_text`.

    Raises InvalidSettings if they are not of these cases.
    """
    cases = _cases(settings, suites)
    if settings.selection.shard is None or not _DURATIONS.fullmatch(text) or text.count(",") + 1 != len(cases):
        raise InvalidSettings(
            f"durations: these are not of the {len(cases)} cases of a shard's plan; pass on the output "
            "`durations` of the job with mode: plan"
        )
    durations = zip(cases, text.split(","), strict=True)
    return _balanced(settings, suites, {case: int(duration) for case, duration in durations if duration})


def _balanced(settings: Settings, suites: Sequence[Suite], durations_ms: Mapping[CaseName, int]) -> Settings:
    selection = settings.selection
    shard = selection.shard and balanced(selection.shard, _cases(settings, suites), durations_ms)
    return replace(settings, selection=replace(selection, shard=shard))


def _cases(settings: Settings, suites: Sequence[Suite]) -> list[CaseName]:
    selected = (case for suite in suites for case in suite.cases if is_selected(case, settings.selection))
    return [(case.suite, case.key) for case in selected]


def plan_of_shard(loaded: LoadedSuites, settings: Settings) -> RunPlan:
    """What a run would make: the whole plan, or its shard. Raises as `plan_of` and `with_split`."""
    return part_of(plan_of(loaded, settings), with_split(settings, loaded.suites).selection.shard)


def _has_document(compare: CompareSettings) -> bool:
    """Whether the base is a file or a folder. What an address answers may differ between two shards."""
    source, is_measured = compare.baseline, compare.base == "run" and not compare.baseline_named
    return source is not None and not is_measured and not is_remote(source)


def _durations_ms(base: RunReport) -> dict[CaseName, int]:
    """How long the target took for one attempt at each case, on average, if that is known."""
    durations_ms = {}
    for case in base.cases:
        turns = ([turn.latency_s for turn in attempt.turns] for attempt in case.attempts)
        attempts = [sum(known) for some in turns if (known := [one for one in some if one is not None])]
        if attempts:
            durations_ms[case.suite, case.key] = round(1000 * sum(attempts) / len(attempts))
    return durations_ms
