"""Shards of one run → one report."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import without
from runevals.lib.storage.store import StoredRecords
from runevals.lib.text.numbers import phrase
from runevals.models.chat.providers import PROVIDERS
from runevals.records import AND, CaseReport, ModelIdentity, RunInfo, RunReport, ShardInfo
from runevals.records.errors import ExternalError, InvalidDocument
from runevals.reports.next_steps import FOLDER
from runevals.run.measurement import SAME_WORDS
from runevals.verdict.score import run_report
from runevals.version import __version__

WITHOUT_EFFECT = frozenset(  # settings that may differ between shards: none of them changes what is measured
    {"concurrency", "judge_concurrency", "cache_target", "output_dir", "mode", "shards", FOLDER}
)
NAMED_BY_CASES = tuple(PROVIDERS)  # targets whose model may be the one that a case names
NAMING = "prompt-yml"  # the dialect whose cases name theirs
IN_MEMORY = 100_000  # cases: those of a larger run are stored while its shards are merged
DIFFERENT_FILES = "the shards were made with different changes that are in no commit"


class ShardDocument(Struct, frozen=True, kw_only=True):
    """A shard's document with its name."""

    display_name: str
    report: RunReport
    shard: ShardInfo


def merged(documents: Iterable[tuple[str, RunReport]]) -> RunReport:
    """The whole run's report; each document comes with its name, and is read when the one before is done with.

    Raises InvalidDocument for documents that are not the shards of one run, or one of them twice; ExternalError
    where some are missing or were not finished.
    """
    parts: list[ShardDocument] = []
    placed = _PlacedCases()
    for name, report in documents:
        part = _part(name, report)
        placed.add(part)
        parts.append(replace(part, report=replace(report, cases=()), shard=replace(part.shard, positions=())))
    parts.sort(key=lambda part: part.shard.part)
    for part in parts[1:]:
        _require_same_run(parts[0], part)
    _require_one_model("targets", [(part.display_name, _apart_from_cases(part.report.run)) for part in parts])
    _require_one_model("judges", [(part.display_name, part.report.run.judge) for part in parts])
    _require_each_once(parts)
    reports = [part.report for part in parts]
    return run_report(_info([report.run for report in reports]), placed.in_order(parts[0].shard.plan_cases))


def _part(display_name: str, report: RunReport) -> ShardDocument:
    shard = report.run.shard
    if shard is None:
        way = "`runevals run --shard i/n` writes one; `runevals gate FILES` reads all files of another tool"
        raise InvalidDocument(f"{display_name} is not a shard: it is a complete run (or already merged); {way}")
    if report.tool_version != __version__:
        raise InvalidDocument(
            f"{display_name} was written by runevals {report.tool_version}, this is {__version__}; "
            "merge with the version that ran"
        )
    if not report.complete:
        raise ExternalError(
            f"{display_name} is not complete: shard {shard.part} of {shard.of} was not finished; run it again"
        )
    if shard.part > shard.of:
        raise InvalidDocument(
            f"{display_name} is not a valid shard: it says that it is part {shard.part} of {shard.of}"
        )
    if len(shard.positions) != len(report.cases):
        raise InvalidDocument(
            f"{display_name} has {len(report.cases)} cases, but says that it has {len(shard.positions)}"
        )
    return ShardDocument(display_name=display_name, report=report, shard=shard)


_SAME: Mapping[str, Callable[[ShardDocument], object]] = {
    "numbers of shards": lambda part: part.shard.of,
    "commits": lambda part: part.report.run.commit,
    "suites": lambda part: part.report.run.suites,
    "numbers of cases": lambda part: part.shard.plan_cases,
    "splits of the cases": lambda part: part.shard.split,
    "attempts": lambda part: part.report.run.repeat,
    "settings": lambda part: {
        name: value for name, value in part.report.run.settings.items() if name not in WITHOUT_EFFECT
    },
}


def _require_same_run(first: ShardDocument, other: ShardDocument) -> None:
    """Raises InvalidDocument that says what differs between two documents."""
    for what, read in _SAME.items():
        there, here = read(first), read(other)
        if there != here:
            values = (
                f" ({there} and {here})" if isinstance(there, str | int) or isinstance(here, str | int) else ""
            )
            raise InvalidDocument(
                f"{first.display_name} and {other.display_name} are not of one run: their {what} differ{values}"
            )


def _apart_from_cases(run: RunInfo) -> ModelIdentity:
    """The target, without its model if each case may name another one."""
    named_by_cases = run.target.type in NAMED_BY_CASES and {suite.dialect for suite in run.suites} == {NAMING}
    return replace(run.target, model=None) if named_by_cases else run.target


def _require_one_model(what: str, models: Sequence[tuple[str, ModelIdentity | None]]) -> None:
    """Shards that made no call to a model know less about it than the others."""
    best_shown, best = max(models, key=lambda one: _known(one[1]))
    for name, here in models:
        if not same_model(here, best):
            names = " and ".join(sorted((best_shown, name)))
            raise InvalidDocument(f"{names} are not of one run: their {what} differ")


def same_model(unasked: ModelIdentity | None, answered: ModelIdentity | None) -> bool:
    """Whether the two are equal, by what is known of a model before it has answered; None: there is none."""
    if unasked is None or answered is None:
        return unasked is answered
    dropped = _dropped(answered)
    named_by_cases = unasked.model is None and unasked.type in NAMED_BY_CASES
    return (
        (named_by_cases or unasked.model == answered.model)
        and (unasked.type, unasked.prompt_hash, unasked.deterministic)
        == (answered.type, answered.prompt_hash, answered.deterministic)
        and all(
            _plain(value, dropped) == _plain(answered.detail.get(name), dropped)
            for name, value in unasked.detail.items()
            if name != "dropped_parameters"
        )
    )


def _dropped(identity: ModelIdentity) -> Collection[object]:
    """The parameters that its endpoint refused."""
    dropped = identity.detail.get("dropped_parameters")
    return dropped if isinstance(dropped, list | tuple) else ()


def _plain(value: object, dropped: Collection[object]) -> object:
    """`value` as a document has it, without the parameters that an endpoint refused."""
    read = json.loads(json.dumps(value, default=str))
    return without(read, dropped) if isinstance(read, dict) else read


def _known(identity: ModelIdentity | None) -> tuple[bool, int, int]:
    """How much is known of a model, for sorting."""
    if identity is None:
        return False, 0, 0
    return identity.model is not None, len(_dropped(identity)), len(identity.detail)


def _require_each_once(parts: Sequence[ShardDocument]) -> None:
    of = parts[0].shard.of
    for before, after in pairwise(parts):
        if before.shard.part == after.shard.part:
            both = f"{before.display_name} and {after.display_name}"
            raise InvalidDocument(f"shard {after.shard.part} of {of} is there twice: {both}")
    missing = sorted(set(range(1, of + 1)) - {part.shard.part for part in parts})
    if missing:
        numbers = ", ".join(map(str, missing[:20])) + phrase(missing[20:], " …")
        raise ExternalError(f"of {of} shards, these are missing: {numbers}; nothing is decided without them")


class _PlacedCases:
    """The cases of all shards, with their positions in the plan; those of a large run are not in memory."""

    def __init__(self) -> None:
        self._positions = array("Q")
        self._cases: list[CaseReport] | StoredRecords[CaseReport] = []

    def add(self, part: ShardDocument) -> None:
        """Adds the reports of one shard."""
        if part.shard.plan_cases > IN_MEMORY and not self._positions:
            self._cases = StoredRecords(CaseReport)
        try:
            self._positions.extend(part.shard.positions)
        except (OverflowError, TypeError):
            raise InvalidDocument(f"{part.display_name} has positions that no case can have") from None
        try:
            self._cases.extend(part.report.cases)
        except (OSError, AttributeError):  # no room for the file, or a system without `pwrite`
            self._cases = [*self._cases, *part.report.cases]

    def in_order(self, planned: int) -> Sequence[CaseReport]:
        """All, in the order of the plan."""
        order = sorted(range(len(self._positions)), key=self._positions.__getitem__)
        if len(order) != planned or any(self._positions[number] != at for at, number in enumerate(order)):
            raise InvalidDocument("the shards together do not have each case of their plan once; run them again")
        if isinstance(self._cases, StoredRecords):
            self._cases.put_in_order(order)
            return self._cases
        return [self._cases[number] for number in order]


def _info(runs: Sequence[RunInfo]) -> RunInfo:
    """The information on the whole run, from the first shard's start to the last one's end."""
    first = runs[0]
    started_at = min(run.started_at for run in runs)
    try:
        ended_at = max(run.started_at + timedelta(seconds=run.duration_s) for run in runs)
    except OverflowError:
        raise InvalidDocument("the duration of a shard cannot be: it ends after the year 9999") from None
    modes = {run.sandbox for run in runs}
    return replace(
        first,
        shard=None,
        started_at=started_at,
        duration_s=(ended_at - started_at).total_seconds(),
        target=replace(_joined([run.target for run in runs]), model=_models(runs)),
        judge=None if first.judge is None else _joined([*filter(None, (run.judge for run in runs))]),
        sandbox="reduced" if "reduced" in modes else "strict" if "strict" in modes else None,
        notices=_notices(runs),
    )


def _notices(runs: Sequence[RunInfo]) -> tuple[str, ...]:
    """Every shard's, once; that the answers are the same is true of the whole run only if all shards say so."""
    notices = dict.fromkeys(notice for run in runs for notice in run.notices)
    everywhere = all(SAME_WORDS in run.notices for run in runs)
    differ = (DIFFERENT_FILES,) if len({run.uncommitted for run in runs}) > 1 else ()
    return (*differ, *(notice for notice in notices if notice != SAME_WORDS or everywhere))


def _models(runs: Sequence[RunInfo]) -> str | None:
    """The targets' model; all models if the cases name them."""
    models = {run.target.model for run in runs if run.target.model is not None}
    if len(models) > 1:
        models = {name for model in models for name in model.split(AND)}
    return AND.join(sorted(models)) or None


def _joined(identities: Sequence[ModelIdentity]) -> ModelIdentity:
    """The requested model, as far as any shard knows it, with every model that answered."""
    reported = {name for identity in identities for name in identity.reported}
    return replace(max(identities, key=_known), reported=tuple(sorted(reported)))
