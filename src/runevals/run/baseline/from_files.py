"""Finding the base's report: a file, a folder of runs, an address."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from runevals.lib import git
from runevals.records import RunReport
from runevals.records.errors import InvalidDocument, InvalidSettings, WorldRefused
from runevals.reports import results_document as document
from runevals.run.measurement import Baseline
from runevals.settings.file import BaseSide
from runevals.settings.resolve import Settings
from runevals.suites.plan import wanted
from runevals.verdict.score import pooled, run_report

MOST_RUNS = 3
MAX_BYTES = 64 * 1024 * 1024
TIMEOUT_S = 30.0


def read_baseline(settings: Settings) -> tuple[Baseline | None, tuple[str, ...]]:
    """The base's report over the cases that the run's filters leave in, None where there is none, and notices.

    A file that the settings file names may not be there yet; one that the command line names must be. Of a
    folder, the newest measured runs are pooled, three at most. Raises InvalidSettings, InvalidDocument, or
    WorldRefused for an address that does not answer.
    """
    found, notices = _find(settings)
    return None if found is None else narrowed(found, settings), notices


def narrowed(found: Baseline, settings: Settings) -> Baseline:
    """The base's report over the cases that the run's filters leave in."""
    if not (settings.category or settings.tag or settings.filter):
        return found
    cases = [case for case in found.report.cases if wanted(case, settings)]
    return replace(found, report=run_report(found.report.run, cases, complete=found.report.complete))


def _find(settings: Settings) -> tuple[Baseline | None, tuple[str, ...]]:
    named = settings.baseline
    if named is None:
        return None, ()
    if named.startswith(("http://", "https://")):
        found = document.parse(_fetched(named), named)
        require_whole(found.report, named)
        return Baseline(report=found.report, source=_source(named, found.report)), ()
    path = Path(named)
    side = settings.base_side
    if side is not None and (_committed(path, settings) or not settings.baseline_named):
        return _of_base(path, side, settings)
    if path.is_dir():
        return _pooled(path, settings), ()
    if not path.is_file():
        if settings.baseline_named:
            raise InvalidSettings(f"the baseline: there is no file {named}")
        return None, (f"no baseline yet: {path.name} is made by `runevals run --output {path.name}` on the base",)
    report = document.read(path)
    require_whole(report, path.name)
    return Baseline(report=report, source=_source(path.name, report)), ()


def require_whole(report: RunReport, shown: str) -> None:
    """Raises InvalidDocument for the result of a part: its absent cases would count as removed."""
    shard = report.run.shard
    if shard is not None:
        raise InvalidDocument(
            f"{shown} is shard {shard.part} of {shard.of}; put them together with `runevals merge`"
        )


def _committed(path: Path, settings: Settings) -> bool:
    """Whether a change could have written this file: then only the base's own counts."""
    return path.is_file() and git.committed(settings.repository, path)


def _of_base(path: Path, side: BaseSide, settings: Settings) -> tuple[Baseline | None, tuple[str, ...]]:
    """The document as it is committed on the base, whatever the change made of it."""
    content = None
    relative = os.path.relpath(path, settings.repository).replace(os.sep, "/")
    if not relative.startswith("../"):
        content = git.file_at(settings.repository, side.commit, relative)
    if content is None and settings.baseline_named:
        raise InvalidSettings(
            f"the baseline {path.name} is a file of this change, and the base {side.commit[:7]} has none; "
            "a change must not bring its own"
        )
    if content is None:
        return None, (f"no baseline yet: {side.commit[:7]} has no {path.name}",)
    shown = f"{path.name} of {side.commit[:7]}"
    report = document.parse(content.decode("utf-8", errors="replace"), shown).report
    require_whole(report, shown)
    return Baseline(report=report, source=_source(shown, report)), ()


def _pooled(folder: Path, settings: Settings) -> Baseline:
    runs: list[RunReport] = []
    soon = datetime.now(UTC) + timedelta(days=1)
    for path in sorted(folder.glob("*.json")):
        if settings.base_side is not None and _committed(path, settings):
            continue  # the change could have written it
        try:
            found = document.read(path)
        except InvalidDocument:
            continue  # a folder of results may hold other files too
        if (
            found.run.shard is None
            and found.complete
            and found.run.started_at < soon
            and any(case.values for case in found.cases)
        ):
            runs.append(found)
    if not runs:
        raise InvalidSettings(f"the baseline: {folder} holds no results document of a measured run")
    newest, *older = sorted(runs, key=lambda report: report.run.started_at, reverse=True)
    if newest.run.target.deterministic:
        older = []  # the same answers again would say nothing new
    report = pooled(newest, older[: MOST_RUNS - 1])
    source = _source(folder.name, newest)
    together = 1 + len(older[: MOST_RUNS - 1])
    return Baseline(report=report, source=source if together == 1 else f"{source} and {together - 1} before it")


def _source(name: str, report: RunReport) -> str:
    commit = "" if report.run.commit is None else f" of {report.run.commit[:7]}"
    return f"{name}{commit}, run {report.run.started_at:%Y-%m-%d %H:%M} UTC"


def _fetched(address: str) -> str:
    """The text behind an address. Raises WorldRefused where it does not answer or answers too much."""
    import requests  # only a baseline elsewhere needs it

    try:
        with requests.get(address, timeout=TIMEOUT_S, stream=True) as answer:
            answer.raise_for_status()
            body = bytearray()
            for chunk in answer.iter_content(65536):
                body += chunk
                if len(body) > MAX_BYTES:
                    raise WorldRefused(f"the baseline {address} is larger than {MAX_BYTES // 1024**2} MiB")
            return body.decode("utf-8")
    except requests.RequestException as error:
        raise WorldRefused(f"the baseline {address} cannot be fetched: {error}") from error
    except UnicodeDecodeError:
        raise InvalidDocument(f"the baseline {address} is not UTF-8 text") from None
