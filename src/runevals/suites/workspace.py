"""The workspace section of a suite → records, with the fingerprint of all its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.lib.parsing.source import is_of_git
from runevals.records import Case, Suite, Workspace
from runevals.repository.fresh_copy import CannotCopy
from runevals.repository.git import GIT


class Places(Struct, frozen=True, kw_only=True):
    """Where the files of a suite are: beside it, and never outside its repository."""

    base: Path
    root: Path


class Unusable(Exception):
    """A workspace cannot be used as it is written."""


def workspace_of(section: Mapping[str, Any], places: Places) -> Workspace:
    """The record. Raises Unusable for a folder that is not there, and for paths that lead out."""
    if "from" in section and GIT in section:
        raise Unusable("a workspace is made `from` a folder or of a `git` commit, not of both")
    folder = None if "from" not in section else _inside(section["from"], places)
    if folder is not None and not folder.is_dir():
        raise Unusable(f"{section['from']} is not a folder")
    for path in section.get("files", {}):
        _require_path(path)
    return Workspace(
        folder=folder,
        repository=places.root if GIT in section else None,
        commit=section.get(GIT),
        files=section.get("files", {}),
        setup=_programs(section.get("setup", ())),
        keep=section.get("keep", "never"),
    )


def files_of(names: Sequence[str], places: Places) -> dict[str, Path]:
    """The files of a case, each at its own path in the workspace. Raises Unusable."""
    files = {}
    for name in names:
        _require_path(name)
        files[name] = _inside(name, places)
        if not files[name].exists():
            raise Unusable(f"there is no {name}")
    return files


def workspace_fingerprint(
    workspace: Workspace | None, files: Mapping[str, Path], hash_of: Callable[[Path], str]
) -> dict[str, object]:
    """What a case's fingerprint has of it: a fixture that was edited is another one. Raises Unusable.

    `hash_of` gives the hash of a file's or folder's content.
    """
    parts: dict[str, object] = {}
    try:
        if workspace is not None:
            parts["workspace"] = {
                "from": if_known(hash_of, workspace.folder),
                GIT: workspace.commit,
                "files": dict(workspace.files),
                "setup": [list(argv) for argv in workspace.setup],
            }
        if files:
            parts["files"] = {path: hash_of(source) for path, source in files.items()}
    except (CannotCopy, OSError) as error:
        raise Unusable(str(error)) from None
    return parts


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


def _programs(entries: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    """One argv, or several. Raises Unusable."""
    several = entries if all(isinstance(one, list) for one in entries) else [entries]
    for argv in several:
        if not argv or not all(isinstance(word, str) for word in argv):
            raise Unusable("setup is a program with its arguments, or a list of such")
    return tuple(tuple(argv) for argv in several)


def _require_path(path: str) -> None:
    parts = PurePosixPath(path).parts
    if not parts or PurePosixPath(path).is_absolute() or ".." in parts or parts[0] == ".git":
        raise Unusable(f"{path} is not a path below the workspace")


def _inside(name: str, places: Places) -> Path:
    path = (places.base / name).resolve()
    if not path.is_relative_to(places.root.resolve()):
        raise Unusable(f"{name} lies outside the repository")
    if is_of_git(path, places.root):
        raise Unusable(f"{name} belongs to git: it may contain credentials")
    return path
