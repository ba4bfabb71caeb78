"""`--watch`: runs affected cases again whenever a file changes, until it is interrupted."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import replace

from runevals.cli.terminal import tell, warn
from runevals.lib.ci import in_ci
from runevals.lib.terminal import say
from runevals.lib.text.numbers import plural
from runevals.records import Case
from runevals.records.errors import INTERRUPTED, InvalidSettings, RunevalsError
from runevals.repository import git
from runevals.run.baseline.dependencies import files_of, texts_of_program
from runevals.run.default_target import with_target
from runevals.run.load import suites_of
from runevals.run.measurement import Progress
from runevals.run.pipeline import run
from runevals.run.request import RunRequest
from runevals.settings.resolve import RawSettings, Settings, resolve
from runevals.suites.load import LoadedSuites
from runevals.suites.selection import is_selected
from runevals.targets.agents.skills import SKILL_FILE
from runevals.targets.skill import SkillSettings

EVERY_S = 0.5
SETTLED_S = 0.2  # an editor may write a file in several steps
_FILE_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)+")

Stamps = Mapping[Path, tuple[int, int] | None]  # time and size of the last write, None if there is no file


class _Snapshot(Struct, frozen=True, kw_only=True):
    """The cases of the last run, and the state of all watched files when it began."""

    cases: frozenset[tuple[str, str, str]] = frozenset()  # suite, key and fingerprint
    others: Stamps | None = None  # files that every case depends on
    stamps: Stamps = {}


def watch(raw: RawSettings, progress: Progress) -> NoReturn:
    """Runs everything, then the cases that a change affects. Raises RunevalsError for the first run only."""
    if in_ci(raw.environment):
        raise InvalidSettings("--watch is interactive, but this is a CI system; leave it out")
    snapshot = _run(_Snapshot(), raw, progress)
    _tell_watching(snapshot)
    stamps = snapshot.stamps
    while True:
        stamps = _changed(stamps)
        try:
            before, snapshot = snapshot, _run(snapshot, raw, progress)
        except RunevalsError as error:
            say(f"Error: {error}", err=True)
            _tell_watching(snapshot)
            continue
        stamps = snapshot.stamps
        if snapshot.cases != before.cases or snapshot.others != before.others:
            _tell_watching(snapshot)


def _tell_watching(snapshot: _Snapshot) -> None:
    say(f"Watching {plural(sum(path.is_file() for path in snapshot.stamps), 'file')}; Ctrl-C ends it.", err=True)


def _run(snapshot: _Snapshot, raw: RawSettings, progress: Progress) -> _Snapshot:
    """Runs the changed cases, or all if anything else changed."""
    settings = resolve(raw)
    loaded = suites_of(settings)
    settings = with_target(settings, loaded.suites)
    files = _files(settings, loaded)
    others = _stamps(path for path in files if path not in loaded.files or path.name == SKILL_FILE)
    stamps = _stamps((*files, *(path.parent for path in files)))  # a folder's changes with its files
    cases = [case for case in loaded.cases if is_selected(case, settings.selection)]
    everything = others != snapshot.others
    todo = [case for case in cases if everything or _identity(case) not in snapshot.cases]
    if todo:
        if snapshot.others is not None:
            say(f"\n{datetime.now().astimezone():%H:%M:%S}  {len(todo)} of {plural(len(cases), 'case')}\n")
        warn(loaded.problems)
        some = loaded.only(lambda case: _identity(case) not in snapshot.cases)
        part = loaded if everything else replace(some, notices=())
        against = settings if everything else settings.with_baseline(None)  # a partial run is not compared
        conclusion = run(RunRequest(settings=against, suites=part, raw=raw, progress=progress))
        tell(conclusion)
        if conclusion.verdict.exit_code == INTERRUPTED:
            raise KeyboardInterrupt
    return _Snapshot(cases=frozenset(map(_identity, cases)), others=others, stamps=stamps)


def _identity(case: Case) -> tuple[str, str, str]:
    return case.suite, case.key, case.fingerprint


def _files(settings: Settings, loaded: LoadedSuites) -> list[Path]:
    """The files of the run, with the skill's own files, and those whose names are in its program."""
    files, root = files_of(settings, loaded), settings.repository
    names = set(_FILE_NAME.findall("\n".join(text for _, text in texts_of_program(settings))))
    files += (root / path for path in git.files_of(root) or () if PurePosixPath(path).name in names)
    if isinstance(settings.target, SkillSettings):
        files += settings.target.skills_dir.rglob("*.py")
    return [path for path in dict.fromkeys(files) if path.is_file()]


def _stamps(paths: Iterable[Path]) -> Stamps:
    return {path: _stamp(path) for path in paths}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _changed(before: Stamps) -> Stamps:
    """Waits until a file changes and no more changes follow → the new state."""
    while (now := _stamps(before)) == before:
        time.sleep(EVERY_S)
    while now != before:
        time.sleep(SETTLED_S)
        before, now = now, _stamps(now)
    return now
