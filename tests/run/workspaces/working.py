"""Workspaces to try, and targets that work in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from runevals.records import Conversation, ModelIdentity, Response, Workspace

Work = Callable[[Path], str]


class Worker:
    """A target that does something in its working folder."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.folders: list[Path] = []

    def answer(self, conversation: Conversation) -> Response:
        """What the work returns."""
        assert conversation.cwd is not None
        self.folders.append(conversation.cwd)
        return Response(text=self.work(conversation.cwd))

    def identity(self) -> ModelIdentity:
        """Nobody."""
        return ModelIdentity(type="plugin")

    def close(self) -> None:
        """Nothing."""


def turn(
    spec: Workspace, *, turn: int = 1, turns: int = 1, files: Mapping[str, Path] | None = None, **more: object
):
    """One turn of a thread."""
    told = {"suite": "s", "case": "c", "attempt": 1, "prompt": "?", "thread": "s#c#1", **more}
    return Conversation(turn=turn, turns=turns, workspace=spec, files=files or {}, **told)
