"""Finding the base's report: a file, a folder of runs, an address."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from runevals.lib.storage.bucket import copy_from_bucket, is_in_bucket
from runevals.lib.storage.files import path_from
from runevals.lib.text.numbers import first_of, phrase, short_list
from runevals.models.http.origin import without_credentials
from runevals.records import RunReport
from runevals.records.errors import ExternalError, InvalidDocument, InvalidSettings, RunevalsError
from runevals.reports import results_document as document
from runevals.repository import git
from runevals.run.baseline.unmeasured import unmeasured_cases
from runevals.run.tool_results import parse_report, read_report, report_of_files, require_not_committed
from runevals.settings.file import BaseSide
from runevals.settings.resolve import Settings
from runevals.verdict.comparability import judges_differ
from runevals.verdict.outcome import Baseline
from runevals.verdict.score import pooled, run_report

MOST_RUNS = 3
MOST_LOOKED_AT = 20  # the newest of a folder
MOST_NAMED = 5  # runs that were left out
MAX_BYTES = 64 * 1024 * 1024
TIMEOUT_S = 30.0  # from one byte to the next
TOTAL_S = 300.0  # of a download
CLOCKS_DIFFER = timedelta(minutes=10)
_WRITERS = {False: "`runevals run --output {}` or ", True: "`runevals gate RESULTS --output {}` or "}
OF_SAME_COMMIT = "the base is an earlier result of this same commit: a loss that it has, too, is not seen"


def read_baseline(settings: Settings, own_commit: str | None = None) -> tuple[Baseline | None, tuple[str, ...]]:
    """The base's report or None, and notices.

    What is named must be there, wherever it was named. Of a folder, the newest measured run is pooled with those
    of the same commit, target and judge, three at most.
    `own_commit` is that of the code that runs, if nothing else says which commit is the base: its results come
    last.
    Raises InvalidSettings, InvalidDocument, or ExternalError for an address that does not answer.
    """
    source = settings.compare.baseline
    if source is None:
        return None, ()
    reading, side = settings.compare.reading, settings.base_side
    if is_remote(source):
        try:
            name = without_credentials(source)
        except ValueError:
            raise InvalidSettings("the baseline is not an address that can be read") from None
        if is_in_bucket(source):
            return _alone(_in_bucket(source, settings), name)
        return _alone(parse_report(_fetched(source, name).encode(), name, reading), name)
    path = Path(source)
    here = path.is_dir() and (side is None or settings.compare.baseline_named)
    if here or (side is not None and _names_of_base(path, side, settings)):
        return _pooled(path, settings, own_commit)
    of_change = path.is_file() and may_be_of_change(settings)(path)
    if side is not None and (of_change or not settings.compare.baseline_named):
        name = f"{path.name} of {side.commit[:7]}"
        return _alone(parse_report(_content_of_base(path, side, settings), name, reading), name)
    if not path.is_file():
        way = phrase(path_from(path, settings.cwd) * source.endswith(document.SUFFIXES), _WRITERS[reading.of_tool])
        of_targets = sorted(map(str, path.parent.glob(f"{escape(path.stem)}.*{path.suffix}")))
        way = phrase(short_list(of_targets), "it was of several targets, {}; ") or way
        raise _missing(f"there is no file {source}: {way}your tool writes it on the base", settings)
    return _alone(read_report(path, reading=reading), path.name)


def _alone(report: RunReport, name: str) -> tuple[Baseline, tuple[str, ...]]:
    """A single result as the base. Raises InvalidDocument for one that is not whole."""
    require_whole(report, name)
    return Baseline(report=report, source=_source(name, report)), ()


def _missing(what: str, settings: Settings) -> RunevalsError:
    """A base that was named and is missing: a usage error here; in CI, not measured, as a loss would pass."""
    return ExternalError(what) if settings.in_ci else InvalidSettings(what)


def is_remote(source: str) -> bool:
    """Whether a baseline is an address, and not a file or folder here."""
    return is_in_bucket(source) or source.startswith(("http://", "https://"))


def _in_bucket(address: str, settings: Settings) -> RunReport:
    with TemporaryDirectory(prefix="runevals-base-") as folder:
        (name, file), *others = copy_from_bucket(address, Path(folder)).items()
        if others:
            raise InvalidSettings(f"the baseline {address} has {1 + len(others)} documents; name one of them")
        return read_report(file, name, settings.compare.reading)


def require_whole(report: RunReport, display_name: str) -> None:
    """Raises InvalidDocument for the result of a shard, whose missing cases would count as removed.

    And for one of the future, which would go before every other and never be too old, or that calls itself
    incomplete.
    """
    begins = report.run.started_at
    if begins > datetime.now(UTC) + CLOCKS_DIFFER:
        raise InvalidDocument(f"{display_name} is of a run that is yet to begin, {begins:%Y-%m-%d %H:%M} UTC")
    if report.cases and not report.complete and report.run.stopped is None:
        raise InvalidDocument(f"{display_name} is of a run that was not complete, and does not say why")
    shard = report.run.shard
    if shard is not None:
        raise InvalidDocument(
            f"{display_name} is shard {shard.part} of {shard.of}; put them together with `runevals merge`"
        )


def _content_of_base(path: Path, side: BaseSide, settings: Settings) -> bytes:
    """The document as committed on the base; the change's version is not used."""
    inside = _inside(path, settings)
    content = None if inside is None else git.file_at(settings.repository, side.commit, inside)
    if content is not None:
        return content
    if settings.compare.baseline_named:
        raise InvalidSettings(
            f"the baseline {path.name} is a file of this change, and the base {side.commit[:7]} has none; "
            "a change must not bring its own"
        )
    what = f"its settings name the baseline {path.name}, and {side.commit[:7]} has no such file"
    raise _missing(f"{what}: commit it there, or name the file by --baseline", settings)


def _pooled(folder: Path, settings: Settings, own_commit: str | None) -> tuple[Baseline, tuple[str, ...]]:
    """The newest run pooled with comparable ones; notices name the others.

    One without errored cases goes before a newer one with some, one of the base before one of the change itself or
    of changes in no commit, and a whole one before one that filters left cases out of.
    """
    runs = _measured(folder, settings)
    if not runs:
        return Baseline(report=_of_tool(folder, settings), source=folder.name), ()
    is_of_base = _is_of_base(settings, own_commit)
    for is_better in (is_of_base, lambda run: run.run.uncommitted is None, lambda run: not run.run.filters):
        runs = _preferred(runs, is_better)
    newest = next(iter(_preferred(runs, lambda run: not unmeasured_cases(run)).values()))
    notices = (OF_SAME_COMMIT,) if settings.base_side is None and not is_of_base(newest) else ()
    others = {name: run for name, run in list(runs.items())[:MOST_LOOKED_AT] if run is not newest}
    reasons = {name: why_not_alike(run, newest, settings) for name, run in others.items()}
    alike = [run for name, run in others.items() if reasons[name] is None]
    again, report = list[RunReport](), newest
    if not newest.run.target.deterministic:  # whose same answers again would say nothing new
        own = {(case.suite, case.key) for case in newest.cases}
        again = [run for run in alike if any((case.suite, case.key) in own for case in run.cases)][: MOST_RUNS - 1]
        report = pooled(newest, again)
    source = _source(folder.name, newest) + phrase(len(again), " and {} like it")
    left_out = [f"{name} ({why})" for name, why in reasons.items() if why is not None]
    more = phrase(first_of(left_out, MOST_NAMED), "left out of the pool of baselines: {}")
    return Baseline(report=_with_other_cases(report, alike), source=source), (*notices, *filter(None, [more]))


def _with_other_cases(report: RunReport, others: Sequence[RunReport]) -> RunReport:
    """With the cases that only other runs have, such as those of other suites: the newest results of each."""
    newest = {(case.suite, case.key): run for run in (*reversed(others), report) for case in run.cases}
    more = [case for run in others for case in run.cases if newest[case.suite, case.key] is run]
    return run_report(report.run, [*report.cases, *more], complete=report.complete) if more else report


def _preferred(runs: dict[str, RunReport], is_better: Callable[[RunReport], bool]) -> dict[str, RunReport]:
    """The results that are better; all if none is."""
    return {name: run for name, run in runs.items() if is_better(run)} or runs


def _is_of_base(settings: Settings, own_commit: str | None) -> Callable[[RunReport], bool]:
    """Whether a run is of the base's history, or has the files of the base: not of the change's own commits.

    If nothing says which commit is the base: whether it is of other files than `own_commit`.
    """
    repository, side = settings.repository, settings.base_side

    @cache
    def is_of_base(commit: str | None) -> bool:
        if commit is None or (side is None and own_commit is None):
            return True
        if side is not None:
            return git.is_ancestor(repository, commit, side.commit) or git.same_files(
                repository, commit, side.commit
            )
        return commit != own_commit and not git.same_files(repository, commit, str(own_commit))

    return lambda run: is_of_base(run.run.commit)


def _of_tool(folder: Path, settings: Settings) -> RunReport:
    """The results of another tool in a folder. Raises InvalidSettings if it has none."""
    require_not_committed([folder], settings)
    try:
        return report_of_files([folder], settings.compare.reading)
    except InvalidDocument as problem:
        what = f"the baseline: {folder} holds no results document of a measured run"
        raise InvalidSettings(f"{what}, and of other tools: {problem}") from None


def _measured(folder: Path, settings: Settings) -> dict[str, RunReport]:
    """The whole, measured runs in a folder, by file name, newest first. A copy of a result is no other run."""
    runs: dict[str, RunReport] = {}
    for name, read in _documents(folder, settings):
        try:
            measured = read()
            require_whole(measured, name)
        except InvalidDocument:
            continue  # a folder of results may hold other files too
        if measured.complete and any(case.values for case in measured.cases) and measured not in runs.values():
            runs[name] = measured
    return dict(sorted(runs.items(), key=lambda item: item[1].run.started_at, reverse=True))


def _documents(folder: Path, settings: Settings) -> Iterator[tuple[str, Callable[[], RunReport]]]:
    """The files of a folder that may be results, by name. On a change, those that a commit has are the base's.

    What no commit could have brought, a step of the job wrote: it counts where the workflow names the folder.
    """
    side, inside = settings.base_side, _inside(folder, settings)
    if side is not None:
        for name in _names_of_base(folder, side, settings):
            yield name, partial(_document_of_base, f"{inside}/{name}", side, settings)
    of_change = may_be_of_change(settings)
    for path in document.documents_in(folder) if side is None or settings.compare.baseline_named else ():
        if not of_change(path):
            yield path.name, partial(document.read, path)


def may_be_of_change(settings: Settings) -> Callable[[Path], bool]:
    """Whether a change could have written a file: then only the base's own counts."""
    return git.commit_check(settings.repository) if settings.base_side is not None else lambda _: False


def _names_of_base(folder: Path, side: BaseSide, settings: Settings) -> list[str]:
    """The results that the base has in this folder, links followed there; empty if it has no such folder."""
    inside = _inside(folder, settings)
    files = [] if inside is None else git.files_in(settings.repository, side.commit, inside)
    return sorted(name for name in files if name.endswith(document.SUFFIXES))


def _document_of_base(path: str, side: BaseSide, settings: Settings) -> RunReport:
    content = git.file_at(settings.repository, side.commit, path) or b""
    return document.parse(document.content_of(content, path).decode(errors="replace"), path).report


def _inside(path: Path, settings: Settings) -> str | None:
    """A path as git writes it, None outside the repository. Links of the work tree are not followed."""
    relative = path_from(path, settings.repository)
    return None if relative.startswith("../") else relative


def why_not_alike(run: RunReport, newest: RunReport, settings: Settings) -> str | None:
    """Why two results cannot be pooled; None if they can."""
    if run.run.uncommitted != newest.run.uncommitted:
        return "other changes that are in no commit"
    commits = [report.run.commit for report in (run, newest)]
    if None in commits:
        return "no commit is named"
    if commits[0] != commits[1] and not git.same_files(settings.repository, *map(str, commits)):
        return "another commit"
    from runevals.run.shards.merge import same_model

    if not same_model(newest.run.target, run.run.target):
        return "another target"
    return "another judge" if judges_differ(newest, run) else None


def _source(name: str, report: RunReport) -> str:
    commit = phrase(report.run.commit, " of {:.7}")
    return f"{name}{commit}, run {report.run.started_at:%Y-%m-%d %H:%M} UTC"


def _fetched(address: str, name: str) -> str:
    """The text at an address. Raises ExternalError if there is no response or it is too large."""
    import requests  # only a baseline elsewhere needs it
    import urllib3

    from runevals.models.http.reading import TooLarge, TooSlow, pieces, read_limited

    deadline = time.monotonic() + TOTAL_S
    try:
        from runevals.models.http.network import session

        with session() as client, client.get(address, timeout=TIMEOUT_S, stream=True) as answer:
            answer.raise_for_status()
            content = read_limited(pieces(answer.raw), MAX_BYTES, deadline)
            return document.content_of(content, name).decode("utf-8")
    except TooLarge:
        raise ExternalError(f"the baseline {name} is larger than {MAX_BYTES // 1024**2} MiB") from None
    except TooSlow:
        raise ExternalError(f"the baseline {name} was not complete within {TOTAL_S:g} s") from None
    except requests.HTTPError as error:  # whose text has the whole address
        raise ExternalError(
            f"the baseline {name} cannot be fetched: status {error.response.status_code}"
        ) from None
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        reason = str(error).replace(address, name).replace(f"?{urlsplit(address).query}", "")
        raise ExternalError(f"the baseline {name} cannot be fetched: {reason}") from None
    except UnicodeDecodeError:
        raise InvalidDocument(f"the baseline {name} is not UTF-8 text") from None
