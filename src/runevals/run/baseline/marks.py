"""The earlier run that a mark names, from stored results."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from msgspec import Struct

from runevals.lib.storage.packed import is_packed, unpacked_lines
from runevals.lib.text.moments import parse_moment
from runevals.records import CaseReport, Mark, MarkRun, Outcome, RunReport
from runevals.records.errors import InvalidDocument, InvalidSuite
from runevals.records.suite import Case
from runevals.reports.results_document import MAX_UNPACKED, content_of, documents_in, read
from runevals.repository import git
from runevals.run.baseline.from_files import may_be_of_change
from runevals.settings.file import results_folder
from runevals.settings.resolve import Settings
from runevals.suites.selection import is_selected

MOST_READ = 20  # of which the best is taken
LEAST_MEASURED = 0.8  # of the cases
HEAD_BYTES, HEAD_LINES = 65536, 100  # of a document, where its time stands
_STARTED_AT = re.compile(rb'"started_at": ?"([^"]{1,40})"')

Key = tuple[str, str]  # suite and key
Candidate = tuple[str, RunReport]  # where a result came from, in words, and the result


class MarkFound(Struct, frozen=True, kw_only=True):
    """The run of a mark; without it, the notices say why."""

    run: MarkRun | None = None
    notices: tuple[str, ...] = ()


FindMark = Callable[[Mark, frozenset[Key]], MarkFound]


def run_of_mark(settings: Settings, cases: Iterable[Case | CaseReport], of_job: FindMark | None) -> MarkFound:
    """The run that the settings' mark names, with notices; a shard has none."""
    if settings.compare.mark is None or settings.selection.shard is not None:
        return MarkFound()
    planned = frozenset((case.suite, case.key) for case in cases if is_selected(case, settings.selection))
    return kept_mark(settings, planned) if of_job is None else of_job(settings.compare.mark, planned)


def kept_mark(settings: Settings, planned: Collection[Key]) -> MarkFound:
    """From `.evals/results`, and the folder of baselines if that is one."""
    mark = settings.compare.mark
    assert mark is not None  # noqa: S101 - asked only with one
    commit = None if mark.tag is None else git.commit_of(settings.repository, f"refs/tags/{mark.tag}")
    if mark.tag is not None and commit is None:
        return MarkFound(notices=(f"no mark: git knows no tag {mark.tag} here",))
    return chosen_mark(settings, mark, _stored_runs(settings, mark, commit), planned, commit)


def chosen_mark(
    settings: Settings, mark: Mark, candidates: Iterable[Candidate], planned: Collection[Key], commit: str | None
) -> MarkFound:
    """The run that a mark names, of the newest results first.

    Those of a part of the cases, or with many that were not measured, are ignored. The best is one of most of the
    planned cases, by the same target and judge.
    """
    until = datetime.now(UTC) - timedelta(days=mark.days or 0)
    usable = (one for one in candidates if _is_whole(one[1], planned))
    among: Iterable[Candidate]
    if mark.tag is not None:
        which = f"of the commit of {mark.tag}"
        of_tag = (commit, None)  # made with no edits beside it
        among = islice((one for one in usable if (one[1].run.commit, one[1].run.uncommitted) == of_tag), 1)
    elif mark.days is not None:
        which = f"that is {mark.days} days old"
        among = islice((one for one in usable if one[1].run.started_at <= until), 1)
    else:
        from runevals.run.baseline.dependencies import other_models  # only the best result needs it

        which, newest = "of these cases", islice(usable, MOST_READ)
        among = (one for one in newest if _covers(one[1], planned) and other_models(settings, one[1]) is None)
    alike = [*among]
    if not alike:
        return MarkFound(notices=(f"no mark: no result is stored {which}",))
    source, report = max(alike, key=lambda one: (one[1].totals.pass_rate or 0.0, one[1].totals.composite or 0.0))
    return MarkFound(run=MarkRun(mark=mark, source=source, report=report, best_of=len(alike)))


def _is_whole(run: RunReport, planned: Collection[Key]) -> bool:
    """Whether it measured most of the planned cases, or most of all cases that there were."""
    if run.run.shard is not None or not run.complete:
        return False
    if _covers(run, planned):
        return True
    measured, due = _measured(run), [case for case in run.cases if case.status is not Outcome.SKIPPED]
    return len(measured) >= LEAST_MEASURED * len(due) and not measured.isdisjoint(planned) and not run.run.filters


def _covers(run: RunReport, planned: Collection[Key]) -> bool:
    due = set(planned) - {(case.suite, case.key) for case in run.cases if case.status is Outcome.SKIPPED}
    return bool(due) and len(_measured(run) & due) >= LEAST_MEASURED * len(due)


def _measured(run: RunReport) -> set[Key]:
    return {(case.suite, case.key) for case in run.cases if case.values}


def _stored_runs(settings: Settings, mark: Mark, commit: str | None) -> Iterator[Candidate]:
    """The documents here, newest first; possible marks are read on demand."""
    until = datetime.now(UTC) - timedelta(days=mark.days or 0)
    of_change = may_be_of_change(settings)
    for started_at, path in sorted(_dated(settings), reverse=True):
        if started_at > until or of_change(path):
            continue
        try:
            if commit is not None and commit.encode() not in content_of(path.read_bytes(), path.name):
                continue
            run = read(path)
        except (InvalidDocument, InvalidSuite):
            continue
        yield f"{path.name}, run {run.run.started_at:%Y-%m-%d %H:%M} UTC", run


def _dated(settings: Settings) -> Iterator[tuple[datetime, Path]]:
    """What may be a results document, and when its run began."""
    folders = map(Path, filter(None, [settings.compare.baseline]))
    for folder in (settings.cwd / results_folder(settings.cwd), *folders):
        for path in documents_in(folder):
            started_at = _started_at(path)
            if started_at is not None:
                yield started_at, path


def _head(path: Path) -> bytes:
    if is_packed(path):
        return "".join(islice(unpacked_lines(path, MAX_UNPACKED), HEAD_LINES)).encode()
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def _started_at(path: Path) -> datetime | None:
    with suppress(OSError, ValueError):
        match = _STARTED_AT.search(_head(path))
        if match is not None and (moment := parse_moment(os.fsdecode(match[1]))).tzinfo is not None:
            return moment
    return None
