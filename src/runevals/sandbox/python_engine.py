"""Runs a grader or a skill written in Python, in a child that is locked already."""

from __future__ import annotations

import builtins
import importlib.machinery
import inspect
import json
import linecache
import math
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

GRADER_MODULES = ("collections", "difflib", "json", "math", "re")
_ALLOWED = (*GRADER_MODULES, "__future__")
# Lazy imports of these modules must be complete now: nothing can be opened later.
_FOR_GRADERS = (
    *GRADER_MODULES, "collections.abc", "unicodedata", "traceback", "linecache", "warnings", "stringprep",
    "bisect", "copy", "heapq",
    *(f"encodings.{name}" for name in (
        "ascii", "big5", "cp1252", "gb18030", "gbk", "latin_1", "raw_unicode_escape", "unicode_escape", "utf_16",
        "utf_16_le", "utf_32", "utf_8", "utf_8_sig", "idna", "shift_jis", "euc_jp", "euc_kr", "punycode",
    )),
)  # fmt: skip
_FOR_SKILLS = (
    "abc", "argparse", "ast", "asyncio", "base64", "binascii", "calendar", "cmath", "contextlib", "contextvars",
    "csv", "dataclasses", "datetime", "decimal", "enum", "fnmatch", "fractions", "functools", "glob", "hashlib",
    "hmac", "html", "html.parser", "inspect", "io", "ipaddress", "itertools", "keyword", "locale", "logging",
    "numbers", "operator", "os", "os.path", "pathlib", "pprint", "queue", "random", "secrets", "shlex", "shutil",
    "statistics", "string", "struct", "subprocess", "tempfile", "textwrap", "threading", "time", "types", "typing",
    "urllib", "urllib.parse", "uuid", "weakref", "xml.etree.ElementTree", "zlib", "_strptime", "_pydecimal",
)  # fmt: skip
_MAX_LOG = 16 * 1024
_BALLAST = 256 * 1024
_TOO_LARGE = "result does not follow the contract: it is too large"
_RECURSION = 2000
_MOST_REASON = 2000
_NAME = "grader"


def preloaded(*, skills: bool) -> Callable[[dict[str, Any], Callable[[], object]], str]:
    """Imports everything a child may need, more for skills, and returns the function that runs a request."""
    for name in (*_FOR_GRADERS, *(_FOR_SKILLS if skills else ())):
        with suppress(ImportError):  # another build of Python may lack one; an import of it is then an error
            __import__(name)
    json.dumps({"ready": "ü"}, allow_nan=False)
    "ü".encode("idna")
    linecache.lazycache("", {})
    for sample in ("x(", "1/0"):  # errors load what they need to be written
        try:
            exec(compile(sample, "warm-up", "exec"), {})  # noqa: S102 - our own text
        except (SyntaxError, ZeroDivisionError) as error:
            traceback.format_exception(error)
    return run


def run(request: dict[str, Any], on_loaded: Callable[[], object]) -> str:
    """One call → its answer as JSON text; what the grader does wrong is in the answer."""
    dumps = json.dumps
    log = _Log()
    sys.stdout = sys.stderr = log
    sys.stdin = None
    sys.setrecursionlimit(_RECURSION)
    ballast = bytearray(_BALLAST)  # freed to write the answer, if a grader has used all memory
    try:
        answer = _call(request, on_loaded)
    except MemoryError:
        del ballast
        return dumps({"error": "evaluator_memory"})
    except _Refused as refusal:
        answer = dict(zip(("error", "reason"), refusal.args, strict=True))
    except PermissionError as error:
        answer = {
            "error": "evaluator_forbidden",
            "reason": f"the sandbox forbids this: {_error_text(error, request)}",
        }
    except BaseException as error:  # noqa: BLE001 - SystemExit of a grader is a failure of the grader
        answer = {"error": "evaluator_crashed", "reason": _error_text(error, request)}
    answer["logs"] = log.text()
    try:
        return dumps(answer, allow_nan=False)
    except MemoryError:
        del answer, ballast
        return dumps({"error": "evaluator_bad_result", "reason": _TOO_LARGE})


class _Refused(Exception):
    """The code of an error, and the reason."""


class _Missing(_Refused, ModuleNotFoundError):
    """A module that a grader may not import; it can catch this as an ImportError."""


class _Log:
    """Takes what a grader prints, up to a limit."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._remaining = _MAX_LOG

    def write(self, text: str) -> int:
        if self._remaining > 0:
            self._parts.append(str(text)[: self._remaining])
            self._remaining -= len(text)
        return len(text)

    def flush(self) -> None:
        """Nothing to do."""

    def isatty(self) -> bool:
        return False

    def text(self) -> str:
        return "".join(self._parts)


def _call(request: dict[str, Any], on_loaded: Callable[[], object]) -> dict[str, Any]:
    kind, arguments = request["kind"], request["arguments"]
    if kind == "skill":
        return _skill(request, arguments, on_loaded)
    function_name = {"evaluator": "evaluate", "assertion": "check"}[kind]
    names = {
        "evaluator": ("input", "output", "expected", "metadata"),
        "assertion": ("output", "sample", "assertion"),
    }[kind]
    module = _module(request, allowed=_ALLOWED)
    function = module.__dict__.get(function_name)
    if not callable(function):
        reason = f"the code defines no function {function_name}({', '.join(names)})"
        raise _Refused("evaluator_bad_result", f"result does not follow the contract: {reason}")
    value = function(*(arguments[name] for name in names))
    return {"value": _plain(value)}


def _skill(
    request: dict[str, Any], arguments: Mapping[str, Any], on_loaded: Callable[[], object]
) -> dict[str, Any]:
    siblings = arguments.get("modules", {})
    for name in siblings:
        sys.modules.pop(name, None)  # the author's module has precedence
    sys.meta_path.insert(0, _Siblings(siblings))
    try:
        module = _module(request, allowed=None, extra={"MOCK_DATA": arguments.get("mock_data")})
    except Exception as error:  # noqa: BLE001 - the skill was never called
        reason = error.args[1] if isinstance(error, _Refused) else _error_text(error, request)
        raise _Refused("evaluator_syntax", reason) from None
    if arguments.get("mock_data") is not None:
        module.__dict__["MOCK_DATA"] = arguments["mock_data"]  # before any default of the skill's own
    action = module.__dict__.get("action")
    if not callable(action):
        raise _Refused("evaluator_syntax", "it defines no function action")
    input_ = dict(arguments["input"])
    if "mock_data" not in input_ and "mock_data" in _parameters(action):
        input_["mock_data"] = arguments.get("mock_data")
    sys.modules["random"].seed()  # otherwise every child would draw the same numbers
    on_loaded()
    value = action(**input_)
    _require_value(value)
    try:
        return {"value": _plain(value)}
    except MemoryError:
        raise _Refused("evaluator_bad_result", _TOO_LARGE) from None


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    with suppress(TypeError, ValueError):
        return inspect.signature(function).parameters
    return {}


def _require_value(value: object) -> None:
    """Refuses a value that is not JSON: it equals no JSON value, and is not text."""
    if inspect.iscoroutine(value) or isinstance(value, str | int | list | tuple | dict | None):
        return
    if not isinstance(value, float):
        raise _Refused("evaluator_no_json", f"it returned {type(value).__name__}, which is not JSON")
    if not math.isfinite(value):
        raise _Refused("evaluator_no_json", f"it returned {value}, which is not JSON")


def _plain(value: object) -> object:
    """`value` if it is JSON; otherwise a refusal with the reason."""
    if inspect.iscoroutine(value):
        value.close()
        reason = "the function is async; make it synchronous"
        raise _Refused("evaluator_bad_result", f"result does not follow the contract: {reason}")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise _Refused("evaluator_bad_result", f"result does not follow the contract: {error}") from None
    return value


def _module(
    request: dict[str, Any], *, allowed: tuple[str, ...] | None, extra: Mapping[str, object] | None = None
) -> ModuleType:
    """The grader's code, run as a module; an `allowed` list gives clear words, the lock gives safety."""
    code, filename = request["code"], request["filename"]
    linecache.cache[filename] = (len(code), None, code.splitlines(keepends=True), filename)
    module = ModuleType(_NAME)
    module.__file__ = filename
    module.__dict__.update(extra or {})
    if allowed is not None:
        guarded = ModuleType("builtins")
        guarded.__dict__.update(builtins.__dict__)
        guarded.__dict__["__import__"] = _guarded_import(allowed)
        module.__dict__["__builtins__"] = guarded
    sys.modules[_NAME] = module
    try:
        compiled = compile(code, filename, "exec")
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        location = f" (line {line})" if line else ""
        reason = getattr(error, "msg", None) or str(error)
        raise _Refused("evaluator_syntax", f"syntax error{location}: {reason}") from None
    exec(compiled, module.__dict__)  # noqa: S102 - this is what the lock is for
    return module


def _guarded_import(allowed: tuple[str, ...]) -> Callable[..., Any]:
    real = builtins.__import__

    def guarded(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] not in allowed:
            module = name or "."  # from . import x
            reason = f"module '{module}' is not available (available: {', '.join(GRADER_MODULES)})"
            raise _Missing("evaluator_missing_module", reason)
        return real(name, *args, **kwargs)

    return guarded


class _Siblings:
    """Imports the sibling modules of a skill from their source."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        package = any(other.startswith(f"{name}.") for other in self._sources)
        if name not in self._sources and not package:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=package)  # type: ignore[arg-type]

    def create_module(self, _spec: object) -> None:
        """The usual kind of module."""

    def exec_module(self, module: ModuleType) -> None:
        code = self._sources.get(module.__name__, "")  # a folder may lack an __init__
        exec(compile(code, f"{module.__name__}.py", "exec"), module.__dict__)  # noqa: S102


def _error_text(error: BaseException, request: dict[str, Any]) -> str:
    """The exception, and the last line of the grader's own code that it came through."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == request["filename"]
    ]
    location = f" (line {lines[-1]})" if lines else ""
    try:
        reason = str(error)[:_MOST_REASON]
    except Exception:  # noqa: BLE001 - str() of a grader's exception may fail
        reason = "an error that cannot be shown"
    return f"{type(error).__name__}: {reason}{location}"
