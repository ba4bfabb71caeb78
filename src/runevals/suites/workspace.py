"""What a suite says of the workspace of its cases → records, with the fingerprint of all that is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from runevals.lib.fresh_copy import CannotCopy, content_hash
from runevals.lib.git import GIT
from runevals.lib.parsing.source import is_of_git
from runevals.records import Case, Suite, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where the files of a suite are: beside it, and never outside its repository."""

    base: Path
    root: Path


class Unusable(Exception):
    """A workspace cannot be used as it is written; the first argument is the key that is wrong, or None."""

    def __init__(self, key: str | None, message: str) -> None:
        super().__init__(message)
        self.key = key


def workspace_of(told: Mapping[str, Any], places: Places) -> Workspace:
    """The record. Raises Unusable for a folder that is not there, and for paths that lead out."""
    if "from" in told and GIT in told:
        raise Unusable(GIT, "a workspace is made `from` a folder or of a `git` commit, not of both")
    folder = None if "from" not in told else _inside(told["from"], places, "from")
    if folder is not None and not folder.is_dir():
        raise Unusable("from", f"{told['from']} is not a folder")
    for path in told.get("files", {}):
        _require_path(path, "files")
    return Workspace(
        folder=folder,
        repository=places.root if GIT in told else None,
        commit=told.get(GIT),
        files=told.get("files", {}),
        setup=_programs(told.get("setup", ())),
        keep=told.get("keep", "never"),
    )


def files_of(named: Sequence[str], places: Places) -> dict[str, Path]:
    """The files of a case, each at its own path in the workspace. Raises Unusable."""
    found = {}
    for name in named:
        _require_path(name, "files")
        found[name] = _inside(name, places, "files")
        if not found[name].exists():
            raise Unusable("files", f"there is no {name}")
    return found


def workspace_fingerprint(workspace: Workspace | None, files: Mapping[str, Path]) -> dict[str, object]:
    """What a case's fingerprint has of it: a fixture that was edited is another one. Raises Unusable."""
    told: dict[str, object] = {}
    try:
        if workspace is not None:
            told["workspace"] = {
                "from": None if workspace.folder is None else _hash(workspace.folder),
                GIT: workspace.commit,
                "files": dict(workspace.files),
                "setup": [list(argv) for argv in workspace.setup],
            }
        if files:
            told["files"] = {path: _hash(source) for path, source in files.items()}
    except (CannotCopy, OSError) as error:
        raise Unusable("from", str(error)) from None
    return told


def with_workspaces(suites: Sequence[Suite], *, always: bool) -> tuple[Suite, ...]:
    """Cases with files have a workspace to put them in; with `always`, so has every case."""
    return tuple(
        replace(suite, cases=tuple(_with_workspace(case, always=always) for case in suite.cases))
        for suite in suites
    )


def _with_workspace(case: Case, *, always: bool) -> Case:
    if case.workspace is not None or not (always or case.files):
        return case
    return replace(case, workspace=Workspace(folder=case.cwd))


@cache
def _hash(source: Path) -> str:
    return content_hash(source)


def _programs(told: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    """One argv, or several. Raises Unusable."""
    several = told if told and all(isinstance(one, list) for one in told) else [told] if told else []
    for argv in several:
        if not argv or not all(isinstance(word, str) for word in argv):
            raise Unusable("setup", "setup is a program with its arguments, or a list of such")
    return tuple(tuple(argv) for argv in several)


def _require_path(path: str, key: str) -> None:
    parts = PurePosixPath(path).parts
    if not parts or PurePosixPath(path).is_absolute() or ".." in parts or parts[0] == ".git":
        raise Unusable(key, f"{path} is not a path below the workspace")


def _inside(name: str, places: Places, key: str) -> Path:
    path = (places.base / name).resolve()
    if not path.is_relative_to(places.root.resolve()):
        raise Unusable(key, f"{name} lies outside the repository")
    if is_of_git(path, places.root):
        raise Unusable(key, f"{name} belongs to git: it may contain credentials")
    return path
