"""Answers that come with what was found in their workspace."""

from __future__ import annotations

from runevals.evaluators.kinds import Subject
from runevals.records import FileChange, Response, WorkspaceChanges


def left(*changed: str, **found: object) -> Subject:
    """An attempt that changed these paths."""
    changes = tuple(FileChange(path=path, change="changed") for path in changed)
    return Subject(prompt="?", response=Response(workspace=WorkspaceChanges(changes=changes, **found)))


NOTHING_KNOWN = Subject(prompt="?", response=Response(text="Done."))
