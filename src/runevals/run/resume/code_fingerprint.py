"""What stored answers depend on besides the prompt: the program under test and the endpoints."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path, PurePath

from runevals.lib.parsing.source import resolved_path
from runevals.repository.git import files_of, why_unavailable
from runevals.repository.git_changes import state_of
from runevals.run.baseline.dependencies import program_files
from runevals.run.live import runs_code
from runevals.run.provenance import commit_here
from runevals.settings.resolve import Settings
from runevals.suites.load import display_path

MOST_FILES = 10_000
_LARGE = 1024 * 1024  # bytes; of larger files only size and time are looked at
_NO_PROGRAM = frozenset({".git", ".evals", ".venv", "node_modules", "__pycache__"})

Code = dict[str, object]


def code_of(targets: Sequence[Settings], outputs: Iterable[str]) -> Code | None:
    """The commit, the differences from it, and untracked files; without git, all files.

    `targets` are the settings of each target. The reports that the run writes are none of the files.
    None: there are too many files to look at.
    """
    programs = [settings for settings in targets if runs_code(settings)]
    if not programs:
        return {}
    settings = programs[0]
    written = {(settings.cwd / name).resolve() for name in (*outputs, settings.github.output_dir)}
    loose = list(islice((path for path in _loose(programs) if not _is_in(written, path)), MOST_FILES + 1))
    of_git = _of_git(settings)
    if len(loose) > MOST_FILES or of_git is None:
        return None
    return {**of_git, "files": {str(path): _content(path) for path in loose}}


def what_changed(before: Code, targets: Sequence[Settings]) -> str | None:
    """What of the code has changed, None if nothing. New files may be written by the program itself."""
    programs = [settings for settings in targets if runs_code(settings)]
    if not programs:
        return None
    files = before.get("files")
    if not isinstance(files, dict):
        return "files that git knows"
    for name, content in files.items():
        if _content(Path(name)) != content:
            return display_path(Path(name), programs[0].repository)
    now = _of_git(programs[0])
    if now is not None and before == {**now, "files": files}:
        return None
    return "files that git knows" if now is None or before.get("commit") == now["commit"] else "the commit"


def addresses(*targets: Settings) -> list[str]:
    """Hashes of the addresses of target and judges, because an address may contain a secret."""
    addresses: list[str | None] = []
    for settings in targets:
        target = settings.target
        if target is not None:
            addresses += [target.base_url, target.address]
        addresses += [judge.base_url for judge in settings.judges]
    return [sha256((address or "").encode("utf-8", "surrogateescape")).hexdigest() for address in addresses]


def _of_git(settings: Settings) -> Code | None:
    """The state of the repository; None if it is too large, empty without git."""
    if why_unavailable(settings.repository) is not None:
        return {"commit": commit_here(settings)}
    state = state_of(settings.repository)
    if state is None:
        return None
    text = json.dumps(state, sort_keys=True)
    return {"commit": commit_here(settings), "differs": sha256(text.encode()).hexdigest()}


def _loose(programs: Sequence[Settings]) -> Iterator[Path]:
    """The files that no commit has; of those that git ignores, the ones that the target or `depends_on` names."""
    settings = programs[0]
    yield from (path for each in programs for path in program_files(each) if path.is_file())
    files = files_of(settings.repository, tracked=False)
    if files is None:
        for folder in dict.fromkeys(each.cwd if each.target is None else each.target.base for each in programs):
            for inside, folders, names in os.walk(folder):
                folders[:] = set(folders) - _NO_PROGRAM
                yield from (Path(inside, name) for name in names)
        return
    for name in files:
        if not _NO_PROGRAM.intersection(PurePath(name).parts):
            yield settings.repository / name


def _is_in(places: set[Path], path: Path) -> bool:
    resolved = resolved_path(path)  # None: a circle of links, in which nothing lies
    return resolved is not None and bool(places.intersection((resolved, *resolved.parents)))


def _content(path: Path) -> str | None:
    """The fingerprint of a file; None if it cannot be read."""
    try:
        status = path.stat()
        leads = f"{path.readlink()} " if path.is_symlink() else ""
        if not path.is_file() or status.st_size > _LARGE:
            return f"{leads}{status.st_size} {status.st_mtime_ns}"
        return f"{leads}{status.st_mode:o} {sha256(path.read_bytes()).hexdigest()}"
    except OSError:
        return None
