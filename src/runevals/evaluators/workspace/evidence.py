"""What is known of the workspace of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from runevals.evaluators.kinds import Subject
from runevals.records import FileFound, Problem, WorkspaceChanges


def workspace_of(subject: Subject) -> WorkspaceChanges | Problem:
    """What the attempt changed; a problem if the target had no workspace."""
    workspace = subject.response.workspace
    return missing("this answer comes without a workspace") if workspace is None else workspace


def file_of(subject: Subject, path: str) -> FileFound | Problem:
    """The content of a path; a problem if it was not recorded."""
    workspace = workspace_of(subject)
    if isinstance(workspace, Problem):
        return workspace
    file = next((file for file in workspace.files if file.path == path), None)
    return missing(f"it is not known what is at {path}") if file is None else file


def missing(message: str) -> Problem:
    """Evidence that is not there."""
    return Problem(code="evidence_missing", message=message)


def touched(subject: Subject) -> Sequence[str] | Problem:
    """The paths that the attempt added, changed or removed."""
    workspace = workspace_of(subject)
    return workspace if isinstance(workspace, Problem) else [change.path for change in workspace.changes]


def fits(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns means this path: itself, a folder above it, or a pattern with * (any text)."""
    steps = path.split("/")
    above = ["/".join(steps[:end]) for end in range(1, len(steps) + 1)]
    return any(fnmatchcase(place, pattern.rstrip("/")) for place in above for pattern in patterns)


def path_problems(option: str, paths: Iterable[str]) -> Iterable[tuple[str | None, str]]:
    """What keeps these from being paths in a workspace."""
    for path in paths:
        if not path or path.startswith("/") or ".." in path.split("/"):
            yield option, f"{path!r} is not a path in the workspace"


def short_paths(paths: Sequence[str]) -> str:
    """The first of some paths."""
    return ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
