"""Runs a grader written in JavaScript with QuickJS, in a child that is locked already."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from typing import Any

LIBRARIES = ("lodash", "dayjs", "dayjs-plugins", "validator", "ajv")
_STACK_BYTES = 4 * 1024 * 1024
_IMPORT = re.compile(
    r"""^(?P<before>\s*)import\s+(?:(?P<names>[\w$*{}\s,]+?)\s+from\s+)?(?P<quote>["'])(?P<module>[^"'\n]+)(?P=quote)\s*;?""",
    re.MULTILINE,
)
_EXPORT_DEFAULT = re.compile(r"^(\s*)export\s+default\b", re.MULTILINE)
_EXPORT_LIST = re.compile(r"^(\s*)export\s*\{([^}]*)\}\s*;?", re.MULTILINE)
_EXPORT_NAMED = re.compile(r"^(\s*)export\s+(?=(?:async\s+)?function\b|const\b|let\b|var\b|class\b)", re.MULTILINE)
_OUT_OF_MEMORY = (
    *("null", "thrown: null", "InternalError: out of memory", "InternalError: string too long"),
    *("RangeError: BigInt is too large to allocate", "RangeError: invalid array buffer length"),
)
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
            answer = self._called(request)
        except self._exception as error:
            answer = _failed(str(error))
        except MemoryError:
            answer = {"error": "evaluator_memory"}
        try:
            answer["logs"] = self._logs()
        except self._exception:
            answer["logs"] = ""  # there was no memory left to join them
        return json.dumps(answer)

    def _called(self, request: dict[str, Any]) -> dict[str, Any]:
        source = as_function(request["code"])
        factory = self._context.eval(source)
        self._start(factory, request["kind"], json.dumps(request["arguments"]))
        while True:
            while self._context.execute_pending_job():
                pass
            if self._done():
                break
            wait_ms = self._until_next()
            if wait_ms < 0:
                told = "result does not follow the contract: its promise never settles"
                return {"error": "evaluator_bad_result", "reason": told}
            time.sleep(wait_ms / 1000)
            self._fire()
        return _settled(json.loads(self._text()))


def as_function(code: str) -> str:
    """A module's text → an async function of (exports, require, module, __default), line by line the same.

    CommonJS stays as it is; `import` becomes `require`, `export default` an assignment to `module.exports`.
    """
    strict = '"use strict";' if _EXPORT_DEFAULT.search(code) or _IMPORT.search(code) else ""
    code = _IMPORT.sub(_required, code)
    code = _EXPORT_DEFAULT.sub(r"\1module.exports.__esModule = true; module.exports.default =", code)
    code = _EXPORT_LIST.sub(_exported, code)
    code = _EXPORT_NAMED.sub(r"\1", code)
    return f"(async function (exports, require, module, __default) {{{strict}{code}\n}})"


def _required(found: re.Match[str]) -> str:
    module, names = json.dumps(found["module"]), (found["names"] or "").strip()
    breaks = "\n" * found[0].count("\n")  # lines stay where they were
    lines = [f"{found['before']}"] if not breaks else [""]
    brace = re.search(r"\{([^}]*)\}", names)
    whole = re.search(r"\*\s*as\s+([\w$]+)", names)
    default = re.match(r"[\w$]+", names)
    if default is not None:
        lines.append(f"const {default[0]} = __default(require({module}));")
    if whole is not None:
        lines.append(f"const {whole[1]} = require({module});")
    if brace is not None:
        picked = re.sub(r"\s+as\s+", ": ", " ".join(brace[1].split()))
        lines.append(f"const {{ {picked} }} = require({module});")
    if not names:
        lines.append(f"require({module});")
    return "".join(lines) + breaks


def _exported(found: re.Match[str]) -> str:
    assignments = []
    for entry in found[2].split(","):
        local, _, name = entry.strip().partition(" as ")
        if name.strip() == "default":
            assignments.append(f"module.exports.__esModule = true; module.exports.default = {local.strip()};")
    return found[1] + " ".join(assignments) + "\n" * found[2].count("\n")


def _settled(found: dict[str, Any]) -> dict[str, Any]:
    if "contract" in found:
        told = f"result does not follow the contract: {found['contract']}"
        return {"error": "evaluator_bad_result", "reason": told}
    if found.get("failed"):
        if found.get("missing"):
            return {"error": "evaluator_missing_module", "reason": str(found["message"]).removeprefix("Error: ")}
        return _failed(f"{found['message']}\n{found['stack']}")
    return {"value": found.get("value")}


def _failed(text: str) -> dict[str, Any]:
    """What the engine threw, in the words of the contract."""
    message, _, stack = text.partition("\n")
    if message in _OUT_OF_MEMORY:
        return {"error": "evaluator_memory"}
    line = _LINE.search(stack)
    where = f" (line {line[1]})" if line else ""
    if message.startswith("SyntaxError"):
        return {"error": "evaluator_syntax", "reason": f"syntax error{where}: {message.partition(': ')[2]}"}
    return {"error": "evaluator_crashed", "reason": f"{message}{where}"}
