"""A function of the program that runs the evaluation, called in its own process."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runevals.models.http.throttle import CallFailed
from runevals.records import Conversation, ModelIdentity, Response
from runevals.targets.command import request_of
from runevals.targets.event_loop import LoopThread
from runevals.targets.program_report import failed
from runevals.targets.python import response_of
from runevals.targets.python_worker import call_with, failure_of


class FunctionTarget:
    """Calls `function(prompt, messages, case)`, or with fewer; all calls of an async one share an event loop."""

    def __init__(self, function: Callable[..., Any], *, deterministic: bool) -> None:
        self._function = function
        self._deterministic = deterministic
        self._folder = Path(getattr(getattr(function, "__code__", None), "co_filename", "")).absolute().parent
        self._loop = LoopThread()

    def answer(self, conversation: Conversation) -> Response:
        """What the function returns: text, or the same fields as a command target prints. Raises TargetRefused."""
        start = time.monotonic()
        try:
            value = call_with(self._function, request_of(conversation))
            if inspect.isawaitable(value):
                value = self._loop.run(_awaited(value))
        except CallFailed as error:
            return failed("target_failed", str(error))
        except Exception as error:  # noqa: BLE001 - whatever a function raises is its failure
            return response_of(failure_of(error, str(self._folder)), time.monotonic() - start)
        return response_of({"value": value}, time.monotonic() - start)

    def identity(self) -> ModelIdentity:
        """The function."""
        detail = {"function": name_of(self._function), "made_by": "function"}
        return ModelIdentity(type="python", deterministic=self._deterministic, detail=detail)

    def close(self) -> None:
        """Cancels what still runs in the event loop."""
        self._loop.close(_nothing)


def name_of(function: Callable[..., Any]) -> str:
    """`module:name`, as settings write it."""
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"{getattr(function, '__module__', '')}:{name}"


async def _awaited(value: Any) -> Any:
    return await value


async def _nothing() -> None:
    pass
