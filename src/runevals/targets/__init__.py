"""The systems under test, one kind a module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from runevals.records import Conversation, ModelIdentity, Response


class Target(Protocol):
    """Answers conversations; called from several threads at once."""

    def answer(self, conversation: Conversation) -> Response:
        """The answer to the conversation's prompt. A failed call is a Response with a problem.

        Raises TargetRefused when no further call can succeed.
        """

    def identity(self) -> ModelIdentity:
        """The identity of the target, as far as it is known by now."""

    def close(self) -> None:
        """Ends what the target started."""


class TargetAround:
    """A target in front of another: it is known as that one, and ended with it."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def identity(self) -> ModelIdentity:
        """The target's."""
        return self._target.identity()

    def close(self) -> None:
        """Ends the target."""
        self._target.close()
