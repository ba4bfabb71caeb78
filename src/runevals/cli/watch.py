"""`--watch`: runs again what a saved file changes, until it is interrupted."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from runevals.cli.terminal import tell, warn
from runevals.lib.terminal import say
from runevals.lib.text.numbers import plural
from runevals.records import Case
from runevals.records.errors import INTERRUPTED, InvalidSettings, RunevalsError
from runevals.run.baseline.dependencies import files_of
from runevals.run.default_target import with_target
from runevals.run.load import load_suites
from runevals.run.pipeline import run
from runevals.run.progress import Progress
from runevals.run.request import RunRequest
from runevals.settings.resolve import RawSettings, Settings, resolve
from runevals.suites.load import LoadedSuites
from runevals.suites.plan import is_selected

EVERY_S = 0.5
SETTLED_S = 0.2  # an editor may write a file in several steps

Stamps = Mapping[Path, tuple[int, int] | None]  # time and size of the last writing, None where nothing is


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What was last run, and all that is looked at for changes of it, as it was when that run began."""

    cases: frozenset[tuple[str, str, str]] = frozenset()  # suite, key and fingerprint
    others: Stamps | None = None  # files that every case depends on
    stamps: Stamps = field(default_factory=dict)


def watch(told: RawSettings, progress: Progress) -> NoReturn:
    """Runs everything, then the cases that a change concerns. Raises RunevalsError for the first run only."""
    if told.environment.get("CI"):
        raise InvalidSettings("--watch is for somebody who looks on, and CI is set; leave it out")
    seen = _run(_Seen(), told, progress)
    _tell_watching(seen)
    stamps = seen.stamps
    while True:
        stamps = _changed(stamps)
        try:
            before, seen = seen, _run(seen, told, progress)
        except RunevalsError as error:
            say(f"Error: {error}", err=True)
            _tell_watching(seen)
            continue
        stamps = seen.stamps
        if seen.cases != before.cases or seen.others != before.others:
            _tell_watching(seen)


def _tell_watching(seen: _Seen) -> None:
    files = sum(path.is_file() for path in seen.stamps)
    say(f"Watching {plural(files, 'file')}; Ctrl-C ends it.", err=True)


def _run(seen: _Seen, told: RawSettings, progress: Progress) -> _Seen:
    """Runs the cases that are not as they were seen, all of them where anything else changed."""
    settings = resolve(told)
    loaded = load_suites(settings)
    settings = with_target(settings, loaded.suites)
    files = _files(settings, loaded)
    others = _stamps(path for path in files if path not in loaded.files)
    stamps = _stamps((*files, *(path.parent for path in files)))  # a folder's tells of what comes and goes in it
    cases = [case for suite in loaded.suites for case in suite.cases if is_selected(case, settings.selection)]
    everything = others != seen.others
    todo = [case for case in cases if everything or _identity(case) not in seen.cases]
    if todo:
        first = seen.others is None
        if not first:
            say(f"\n{datetime.now().astimezone():%H:%M:%S}  {len(todo)} of {plural(len(cases), 'case')}\n")
        warn(loaded.problems)
        part = loaded if everything else _only(loaded, todo)
        against = settings if everything else replace(settings, baseline=None)  # a part is no whole result
        conclusion = run(RunRequest(settings=against, suites=part, raw=told, progress=progress))
        tell(conclusion)
        if conclusion.verdict.exit_code == INTERRUPTED:
            raise KeyboardInterrupt
    return _Seen(cases=frozenset(map(_identity, cases)), others=others, stamps=stamps)


def _identity(case: Case) -> tuple[str, str, str]:
    return case.suite, case.key, case.fingerprint


def _only(loaded: LoadedSuites, cases: Sequence[Case]) -> LoadedSuites:
    wanted_cases = set(map(_identity, cases))
    suites = [
        replace(suite, cases=tuple(case for case in suite.cases if _identity(case) in wanted_cases))
        for suite in loaded.suites
    ]
    return replace(loaded, suites=tuple(suite for suite in suites if suite.cases), notices=())


def _files(settings: Settings, loaded: LoadedSuites) -> list[Path]:
    """What the run is made of; a skill's own files are not named anywhere."""
    files = files_of(settings, loaded)
    if settings.target is not None and settings.target.type == "skill" and settings.target.path is not None:
        files += settings.target.path.rglob("*.py")
    return [path for path in dict.fromkeys(files) if path.is_file()]


def _stamps(paths: Iterable[Path]) -> Stamps:
    return {path: _stamp(path) for path in paths}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _changed(before: Stamps) -> Stamps:
    """Waits until something is other than it was, and all is quiet again → how it is then."""
    while (now := _stamps(before)) == before:
        time.sleep(EVERY_S)
    while now != before:
        time.sleep(SETTLED_S)
        before, now = now, _stamps(now)
    return now
