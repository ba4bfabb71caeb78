"""The base's commit in a worktree of its own, with its settings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from runevals.lib.storage.files import open_folder, path_from
from runevals.records.errors import ExternalError, InvalidSettings, InvalidSuite, NoSuiteFound, RunevalsError
from runevals.records.rules import SuiteEntry
from runevals.repository import git
from runevals.repository.git_changes import renamed_files
from runevals.repository.worktree import worktree
from runevals.run.baseline.editable_installs import with_own_packages
from runevals.run.baseline.relocate import rerooted
from runevals.run.load import suites_of
from runevals.settings.file import SettingsFile, read_settings_file
from runevals.settings.places import PLACES, content_here, contents_here, has_settings, settings_file_in
from runevals.settings.resolve import RawSettings, Settings, config_of, resolve
from runevals.suites.discover import SUFFIXES, discover
from runevals.suites.load import LoadedSuites, is_suite


@contextmanager
def base_checkout(settings: Settings, commit: str, raw: RawSettings) -> Iterator[Settings]:
    """The settings of `raw` in a temporary worktree of `commit`.

    Where those that decide cannot be read, only a change repairs them: its own hold there, and grant nothing.
    Raises ExternalError if git cannot check it out, NoSuiteFound if it has none of it.
    """
    if not is_here(settings, commit):
        raise ExternalError(
            f"the base commit {commit[:7]} is not in this checkout and cannot be fetched; check out with "
            "`fetch-depth: 0`"
        )
    with worktree(settings.repository, commit) as checkout:
        cwd, own = checkout / settings.cwd.relative_to(settings.repository), ""  # a project above is another
        if not cwd.is_dir() or _moved_into(settings, commit, (cwd, checkout), raw):
            cwd = checkout / _former_folder(settings, commit)
            own = (settings.file_path or Path()).name * (settings.file_base == settings.cwd and not cwd.is_dir())
            with open_folder(cwd, make=True):
                pass  # what is above it may be there
        words = rerooted(raw, cwd, git.Head(commit, "HEAD"))
        words = replace(words, of_base=settings.base_side is not None, of_change=settings.of_change)
        file = Path(os.path.normpath(cwd / (config_of(words) or own)))
        if not file.exists():
            former = renamed_files(settings.repository, commit)
            if (path := file.relative_to(checkout).as_posix()) not in former:
                kind = NoSuiteFound if _is_first_run(settings, former, checkout) else ExternalError
                raise kind(f"it has no settings file {path}")
            file = checkout / former[path]
            words = replace(words, flags={**words.flags, "config": str(file)})
        try:
            there = base_settings(words, settings)
        except InvalidSuite:
            if settings.base_side is None or settings.base_side.unreadable is None or settings.file is None:
                raise
            way = os.path.relpath(settings.file.base, settings.cwd / (config_of(raw) or ""))
            base = Path(os.path.normpath(file / way))
            of_change = replace(settings.file, base=base, path=base / PLACES[0])
            there = base_settings(replace(words, of_base=False), settings, of_change)
            suites = tuple(replace(entry, from_file=False) for entry in there.load.suites)  # they may have moved
            there = replace(there, load=replace(there.load, suites=suites))
        except InvalidSettings as error:
            if settings.target_name is None:
                raise
            raise NoSuiteFound(f"it has no target '{settings.target_name}': {error.first_line}") from None
        there = with_own_packages(replace(there, not_from=settings.repository), settings.repository)
        there = replace(there, measure=replace(there.measure, cache=settings.measure.cache))
        mcp_config = (cwd / (there.load.mcp_config or "")).resolve()
        if mcp_config.is_relative_to(settings.repository.resolve()):
            # By a link from elsewhere, it is the first checkout's.
            there = replace(there, load=replace(there.load, mcp_config=None))
        try:
            yield there
        except NoSuiteFound as error:  # where the worktree was is no news
            raise NoSuiteFound(str(error).replace(str(cwd), "it")) from None


def _is_first_run(settings: Settings, former: Iterable[str], checkout: Path) -> bool:
    """Whether the base has neither the suites of these settings, nor anything that was renamed to them."""
    suites = (Path(os.path.normpath(entry.base / entry.path)) for entry in settings.load.suites)
    places, moved = (settings.file_base, *suites), (settings.repository / now for now in former)
    return not any((_has_suites(settings, checkout), *(any(map(now.is_relative_to, places)) for now in moved)))


def _has_suites(settings: Settings, checkout: Path) -> bool:
    """Whether the base has suites where these settings name them."""
    entries = settings.load.suites or (SuiteEntry(path="", base=settings.file_base),)
    bases = (checkout / os.path.relpath(entry.base, settings.repository) for entry in entries)
    return any(_is_there(replace(entry, base=base)) for entry, base in zip(entries, bases, strict=True))


def base_suites(there: Settings, head: Settings, commit: str) -> LoadedSuites:
    """The suites of the base, in its checkout. Raises as `suites_of`.

    A shell expands `evals/*.json` for the head: it names what the change adds, and not what it renames or removes.
    So in place of suites that flags name and the base has not got, it runs what was renamed to them, and what only
    the base has beside them.
    """
    entries = there.load.suites
    absent = [entry for entry in entries if not entry.from_file and not _is_there(entry)]
    if absent:
        present = [entry for entry in entries if entry not in absent]
        renames = renamed_files(head.repository, commit)
        present += [former for entry in absent for former in _former(entry, renames, there, head)]
        if present:
            there = replace(there, load=replace(there.load, suites=tuple(present)))
    return suites_of(there)


def _is_there(entry: SuiteEntry) -> bool:
    with suppress(NoSuiteFound):
        discover(entry.base, entry.path or None)
        return True
    return False


def _former(
    entry: SuiteEntry, renames: Mapping[str, str], there: Settings, head: Settings
) -> Iterator[SuiteEntry]:
    """What the base has in place of a suite, or a folder of suites, that only the head has."""
    place = Path(os.path.normpath(entry.base / entry.path))
    if not place.is_relative_to(there.repository):
        return
    here = head.repository / place.relative_to(there.repository)
    for now, was in renames.items():
        path = head.repository / now
        if path.is_relative_to(here) and path.suffix in SUFFIXES and is_suite(path):
            yield replace(entry, path=was, base=there.repository)
    for path in sorted(place.parent.glob("*")):
        is_alike = path.is_dir() == here.is_dir() and (path.is_dir() or path.suffix in SUFFIXES)
        if is_alike and not (head.repository / path.relative_to(there.repository)).exists():
            former = replace(entry, path=path.name, base=path.parent)
            with suppress(RunevalsError):  # something else
                suites_of(replace(there, load=replace(there.load, suites=(former,))))
                yield former


def _moved_into(head: Settings, commit: str, folders: Sequence[Path], raw: RawSettings) -> bool:
    """Whether the change brought a project into a folder for which the base had neither settings nor suites."""
    if head.file_path is None or config_of(raw) or settings_file_in(folders, PLACES, contents_here) is not None:
        return False
    here = path_from(head.file_path, head.repository)
    return here in renamed_files(head.repository, commit) and not _has_suites(head, folders[-1])


def _former_folder(head: Settings, commit: str) -> Path:
    """The folder from which the current one, with its settings or else a suite, was renamed; itself if it is new.

    Raises ExternalError if these were at another place.
    """
    renames = renamed_files(head.repository, commit).items()
    for now, was in sorted(renames, key=lambda rename: head.repository / rename[0] != head.file_path):
        path = head.repository / now
        if path.is_relative_to(head.cwd) and (path == head.file_path or is_suite(path)):
            inside = f"/{path.relative_to(head.cwd)}"
            if f"/{was}".endswith(inside):
                return Path(f"/{was}".removesuffix(inside).strip("/"))
            raise ExternalError(f"{now} is {was} there: compare with a stored result (--baseline FILE)")
    return head.cwd.relative_to(head.repository)


def require_in_base(files: Iterable[Path], there: Settings, head: Settings, *, alone: bool) -> Sequence[str]:
    """The suites of the head that no checkout of the base can have, each with the reason: git does not have them.

    Raises ExternalError for one of a submodule, for a named path of which the base has nothing, and if it has no
    suites at all (`alone`): nothing would be compared. So it does if it has them, by settings at another place.
    """
    paths = dict.fromkeys(Path(os.path.normpath(file)) for file in files)
    names = [path.relative_to(head.repository) for path in paths if path.is_relative_to(head.repository)]
    if alone:
        _require_settings_in_place([name for name in names if (there.repository / name).exists()], there, head)
    names = [name for name in names if not (there.repository / name).exists()]
    ignored = {Path(name) for name in git.ignored_in(head.repository)} if names else set()
    lacking, reasons = list[Path](), dict[Path, str]()
    for name in names:
        folders = list(name.parents)[:-1]
        nested = next((folder for folder in folders if (head.repository / folder / ".git").exists()), None)
        if nested is None and ignored.isdisjoint((name, *folders)):
            continue  # the change adds it
        why = "git ignores it" if nested is None else f"{nested} is a repository of its own (a submodule)"
        reasons[head.repository / name] = f"a checkout of the base does not have {name}, because {why}"
        if alone or nested is not None:
            lacking.append(head.repository / name)
    for entry in head.load.suites if reasons else ():
        files_of = [Path(os.path.normpath(file)) for file in discover(entry.base, entry.path).files]
        if all(file in reasons for file in files_of):
            lacking.append(files_of[0])
    if lacking:
        how = "make it with `base_setup`, or compare with a stored result (--baseline)"
        raise ExternalError(f"{reasons[lacking[0]]}: {how}")
    return list(reasons.values())


def _require_settings_in_place(suites: Iterable[Path], there: Settings, head: Settings) -> None:
    """Raises ExternalError if the change removes the settings of these suites; NoSuiteFound if they allow that."""
    places = dict.fromkeys(folder / place for suite in suites for folder in suite.parents for place in PLACES)
    gone = [place for place in places if not (head.repository / place).exists()]
    gone = [place for place in gone if has_settings(place, content_here(there.repository / place))]
    files = (read_settings_file(there.cwd, there.repository, str(there.repository / place)) for place in gone)
    why = f"the base has its settings in {' and '.join(map(str, gone))}, which the change removes"
    if any(file.values.get("on_unknown") != "pass" for file in files):
        raise ExternalError(
            f"{why}, and finds no suite by those here; compare with its stored results (--baseline FOLDER), "
            "or write `on_unknown: pass` there, and merge that first"
        )
    if gone:
        raise NoSuiteFound(f"{why} (on_unknown: pass)")


def base_settings(words: RawSettings, settings: Settings, file: SettingsFile | None = None) -> Settings:
    """The base's settings; of one of several targets, those of the base's target of this name."""
    name = settings.target_name
    return resolve(words if name is None else replace(words, flags={**words.flags, "target": name}), file)


def is_here(settings: Settings, commit: str) -> bool:
    """Whether git has this commit, fetched by its sha if it had to be."""
    repository = settings.repository
    return (git.commit_of(repository, commit) or git.fetch_commit(repository, commit)) is not None
