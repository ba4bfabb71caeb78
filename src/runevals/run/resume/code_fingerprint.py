"""What stored answers depend on besides the prompt: the program under test and the endpoints."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path, PurePath

from runevals.lib.git import files_of, why_unavailable
from runevals.lib.git_changes import state_of
from runevals.run.provenance import provenance
from runevals.settings.resolve import Settings

MOST_FILES = 10_000
_LARGE = 1024 * 1024  # bytes; of larger files only size and time are looked at
_NO_PROGRAM = frozenset({".git", ".evals", ".venv", "node_modules", "__pycache__"})

Code = dict[str, object]


def code_of(settings: Settings, outputs: Iterable[str]) -> Code | None:
    """The commit, the differences from it, and untracked files; without git, all files.

    The reports that the run writes are none of them. None: there are too many files to look at.
    """
    if not _runs_code(settings):
        return {}
    written = {(settings.cwd / name).resolve() for name in (*outputs, settings.output_dir)}
    loose = list(islice((path for path in _loose(settings) if not _is_in(written, path)), MOST_FILES + 1))
    of_git = _of_git(settings)
    if len(loose) > MOST_FILES or of_git is None:
        return None
    return {**of_git, "files": {str(path): _content(path) for path in loose}}


def changed(before: Code, settings: Settings) -> bool:
    """Whether the code has changed. New files may be written by the program itself."""
    if not _runs_code(settings):
        return False
    files = before.get("files")
    of_git = {name: value for name, value in before.items() if name != "files"}
    if not isinstance(files, dict) or of_git != _of_git(settings):
        return True
    return any(_content(Path(name)) != content for name, content in files.items())


def addresses(settings: Settings) -> list[str]:
    """Hashes of the addresses of target and judges, because an address may contain a secret."""
    target = settings.target
    addresses = [] if target is None else [target.base_url, None if target.web is None else target.web.url]
    addresses += [judge.base_url for judge in settings.judges]
    return [sha256((address or "").encode("utf-8", "surrogateescape")).hexdigest() for address in addresses]


def _runs_code(settings: Settings) -> bool:
    return settings.target is None or settings.target.reads_other_files


def _of_git(settings: Settings) -> Code | None:
    """The state of the repository; None if it is too large, empty without git."""
    if why_unavailable(settings.repository) is not None:
        return {"commit": provenance(settings, ()).commit}
    state = state_of(settings.repository)
    if state is None:
        return None
    text = json.dumps(state, sort_keys=True)
    return {"commit": provenance(settings, ()).commit, "differs": sha256(text.encode()).hexdigest()}


def _loose(settings: Settings) -> Iterator[Path]:
    """The files that no commit has."""
    files = files_of(settings.repository, tracked=False)
    if files is None:
        yield from _walked(settings.cwd if settings.target is None else settings.target.base)
        return
    for name in files:
        if not _NO_PROGRAM.intersection(PurePath(name).parts):
            yield settings.repository / name


def _walked(folder: Path) -> Iterator[Path]:
    for inside, folders, files in os.walk(folder):
        folders[:] = set(folders) - _NO_PROGRAM
        yield from (Path(inside, name) for name in files)


def _is_in(places: set[Path], path: Path) -> bool:
    resolved = path.resolve()
    return bool(places.intersection((resolved, *resolved.parents)))


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
