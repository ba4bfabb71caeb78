"""What is known of the workspace of an answer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import normpath
from typing import ClassVar

from runevals.evaluators.kinds import Check, Evaluator, Subject, missing
from runevals.lib.text.numbers import first_of
from runevals.records import FileFound, FileProbe, Layer, Probe, Problem, Verdict, WorkspaceChanges

_LITERAL = str.maketrans({"[": "[[]", "?": "[?]"})  # in paths, as in `app/[id]/page.tsx`


@dataclass(frozen=True, kw_only=True)
class OfFile(Evaluator):
    """Looks at the file at this path of the workspace."""

    needs_workspace = True

    path: str

    def problems(self) -> Iterable[tuple[str | None, str]]:
        return path_problems("path", [self.path])

    def probes(self) -> tuple[Probe, ...]:
        return (FileProbe(path=self.path),)


@dataclass(frozen=True, kw_only=True)
class PathsCheck(Check):
    """Looks at the paths that the attempt added, changed or removed."""

    layer = Layer.BEHAVIOR
    needs_workspace = True
    passes: ClassVar[str]
    fails: ClassVar[str]

    paths: tuple[str, ...]

    def problems(self) -> Iterable[tuple[str | None, str]]:
        return path_problems("paths", self.paths)

    def check(self, subject: Subject) -> Verdict | Problem:
        workspace = workspace_of(subject)
        if isinstance(workspace, Problem):
            return workspace
        wrong = [change.path for change in workspace.changes if self.is_wrong(change.path)]
        if not wrong:
            return Verdict(1.0, self.passes)
        return Verdict(0.0, f"{self.fails}: {first_of(wrong, 5)}", {"paths": wrong})

    @abstractmethod
    def is_wrong(self, path: str) -> bool:
        """Whether this path may not be changed."""


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


def fits(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns means this path: itself, a folder above it, or a pattern with * (any text)."""
    steps = path.split("/")
    above = ["/".join(steps[:end]) for end in range(1, len(steps) + 1)]
    shapes = [normpath(pattern).translate(_LITERAL) for pattern in patterns]
    return "." in shapes or any(fnmatchcase(place, shape) for place in above for shape in shapes)


def path_problems(option: str, paths: Iterable[str]) -> Iterable[tuple[str | None, str]]:
    """What keeps these from being paths in a workspace."""
    for path in paths:
        if not path or path.startswith("/") or ".." in path.split("/"):
            yield option, f"{path!r} is not a path in the workspace"
