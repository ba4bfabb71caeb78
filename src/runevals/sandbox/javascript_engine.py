"""Runs a grader written in JavaScript with QuickJS, in a child that is locked already."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from typing import Any

from javascript_modules import as_function

LIBRARIES = ("lodash", "dayjs", "dayjs-plugins", "validator", "ajv")
_STACK_BYTES = 4 * 1024 * 1024
_OUT_OF_MEMORY = (
    *("null", "thrown: null", "InternalError: out of memory", "InternalError: string too long"),
    *("RangeError: BigInt is too large to allocate", "RangeError: invalid array buffer length"),
)
ABOVE = 100_000  # lines; more than any library here has
_ABOVE = "\n" * ABOVE
MOST_REASON = 2000
_LINE = re.compile(r"<input>:(\d+)")


def preloaded() -> Callable[[dict[str, Any], Callable[[], object]], str]:
    """A context with the prelude and all libraries in it, and what runs a request there."""
    import _quickjs  # the binding itself; the package around it would load threads

    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - without pathlib, it is quicker
    context = _quickjs.Context()
    context.set_max_stack_size(_STACK_BYTES)
    prelude = context.eval(_read(folder, "prelude.js"))
    context.set("__runevals", prelude)
    for name in LIBRARIES:
        code = _read(folder, "libraries", f"{name}.js")
        context.eval(f"__runevals.define({json.dumps(name)}, function (exports, require, module) {{{code}\n}})")
    context.eval("__runevals.preload()")
    return _Host(context, _quickjs.JSException).run


def _read(*parts: str) -> str:
    with open(os.path.join(*parts), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        return file.read()


class _Host:
    def __init__(self, context: Any, exception: type[Exception]) -> None:
        self._context = context
        self._exception = exception
        self._start = context.eval("__runevals.start")
        self._done = context.eval("__runevals.done")
        self._text = context.eval("__runevals.text")
        self._logs = context.eval("__runevals.logs")
        self._until_next = context.eval("__runevals.untilNext")
        self._fire = context.eval("__runevals.fire")
        context.eval("delete globalThis.__runevals; 0")
        self._in_use: int = context.memory()["memory_used_size"]

    def run(self, request: dict[str, Any], _loaded: Callable[[], object]) -> str:
        """One call → its answer as JSON text; what the grader does wrong is in the answer."""
        self._context.set_memory_limit(self._in_use + request["memory_bytes"])
        try:
            answer = self._call(request)
        except self._exception as error:
            answer = _failed(str(error))
        except MemoryError:
            answer = {"error": "evaluator_memory"}
        try:
            answer["logs"] = json.loads(self._logs())
        except (self._exception, ValueError):
            answer["logs"] = ""  # not enough memory to join them
        return json.dumps(answer)

    def _call(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            # Offset by many lines, to distinguish lines of the grader from lines of a library.
            factory = self._context.eval(as_function(request["code"], prefix=_ABOVE))
        except self._exception as error:
            return _unparsed(str(error))
        self._start(factory, request["kind"], json.dumps(request["arguments"]))
        while True:
            while self._context.execute_pending_job():
                pass
            if self._done():
                break
            wait_ms = self._until_next()
            if wait_ms < 0:
                reason = "result does not follow the contract: its promise never settles"
                return {"error": "evaluator_bad_result", "reason": reason}
            time.sleep(wait_ms / 1000)
            self._fire()
        return _result(json.loads(self._text()))


def _result(outcome: dict[str, Any]) -> dict[str, Any]:
    if "contract" in outcome:
        reason = f"result does not follow the contract: {outcome['contract']}"
        return {"error": "evaluator_bad_result", "reason": reason}
    if outcome.get("failed"):
        if outcome.get("missing"):
            return {"error": "evaluator_missing_module", "reason": str(outcome["message"]).removeprefix("Error: ")}
        return _failed(f"{outcome['message']}\n{outcome['stack']}")
    return {"value": outcome.get("value")}


def _unparsed(text: str) -> dict[str, Any]:
    """What the engine has against the grader's text."""
    message, _, stack = text.partition("\n")
    if message in _OUT_OF_MEMORY:
        return {"error": "evaluator_memory"}
    reason = message.partition(": ")[2] or message
    return {"error": "evaluator_syntax", "reason": f"syntax error{_line_of(stack)}: {reason}"}


def _failed(text: str) -> dict[str, Any]:
    """What was thrown while the grader ran."""
    message, _, stack = text.partition("\n")
    if message in _OUT_OF_MEMORY:
        return {"error": "evaluator_memory"}
    return {"error": "evaluator_crashed", "reason": f"{message[:MOST_REASON]}{_line_of(stack)}"}


def _line_of(stack: str) -> str:
    """The innermost line of the grader's own code."""
    lines = [int(line) - ABOVE for line in _LINE.findall(stack)]
    return next((f" (line {line})" for line in lines if line > -1), "")
