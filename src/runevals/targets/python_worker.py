"""The worker's side of a python target: loads the function once, answers one JSON line a call."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:  # it takes longer than all that is imported above, and so does `pathlib`
    from typing import Any

MOST_OF_BODY = 500  # characters of what a server answered
PACKAGES = {"site-packages", "dist-packages"}  # installed, not of the repository
ARGUMENTS = ["prompt", "messages", "case", "call_tool"]
VARIABLE = 4  # the flag of code that takes *arguments: `inspect.CO_VARARGS`


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the function prints is not an answer
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # its child processes must not read the requests
    try:
        function = _load(sys.argv[1])
    except BaseException as error:  # noqa: BLE001 - whatever loading raises, the host must hear of it
        _say(answers, {"error": last_line(error, os.getcwd())})
        return
    _say(answers, {"file": getattr(sys.modules.get(function.__module__), "__file__", None)})
    start = os.getcwd()

    def call_tool(name: str, arguments: Any = None) -> Any:
        """What the mocks of the case answer."""
        _say(answers, {"tool": name, "input": {} if arguments is None else arguments})
        return json.loads(requests.readline())["output"]

    for line in iter(requests.readline, b""):
        _say(answers, _reply(function, json.loads(line), start, call_tool))


def _reply(
    function: Callable[..., Any], request: dict[str, Any], start: str, call_tool: Callable[..., Any]
) -> dict[str, Any]:
    """What a call returned or raised; afterwards this process is in `start` again."""
    try:
        os.chdir(request.get("cwd") or start)
        value = call_with(function, request, *([call_tool] if request.get("mocks") else []))
        if isinstance(value, Awaitable):  # all calls share one event loop, as clients of the agent may
            value = _loop().run_until_complete(value)
        json.dumps(value)
    except BaseException as error:  # noqa: BLE001 - SystemExit of a function is a failure of the function
        return failure_of(error, start)
    finally:
        with suppress(OSError):  # processes that stay in the folder of an attempt are killed at its end
            os.chdir(start)
    return {"value": value}


def _load(reference: str) -> Callable[..., Any]:
    location, _, name = reference.rpartition(":")
    sys.path.insert(0, os.getcwd())
    if location.endswith(".py"):
        folder, file = os.path.split(os.path.realpath(location))
        sys.path.insert(0, folder)
        spec = importlib.util.spec_from_file_location(file[:-3], os.path.join(folder, file))
        if spec is None or spec.loader is None:
            raise ImportError(f"cannot load {location}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(location)
    function = getattr(module, name)
    if not callable(function):
        raise TypeError(f"{reference} is not a function")
    return function  # type: ignore[no-any-return]


def call_with(function: Callable[..., Any], request: dict[str, Any], *more: Callable[..., Any]) -> Any:
    """Calls the function with the prompt, and as many more of ARGUMENTS as it accepts, by their names or in order.

    Parameters with a default must have these names.
    """
    arguments = (request["prompt"], request["messages"], request["case"], *more)
    if type(function) is FunctionType and not function.__code__.co_flags & VARIABLE:
        names = [*function.__code__.co_varnames[: function.__code__.co_argcount]]
        return function(*_chosen(arguments, names, len(names) - len(function.__defaults__ or ())))
    import inspect  # it takes longer still

    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return function(*arguments)
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return function(*arguments)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty for p in positional)
    return function(*_chosen(arguments, [p.name for p in positional], required))


def _chosen(arguments: Sequence[Any], names: Sequence[str], required: int) -> list[Any]:
    """What a function with these parameters is given: always the prompt first."""
    known = dict(zip(ARGUMENTS[1:], arguments[1:]))  # noqa: B905 - without mocks there is no `call_tool`
    chosen = [*arguments[: min(1, len(names))]]
    for place, name in enumerate(names[1:], start=1):
        if name in known:
            chosen.append(known[name])
        elif place < required:
            chosen += arguments[place : place + 1]
        else:
            break
    return chosen


@lru_cache(maxsize=1)
def _loop() -> Any:
    import asyncio  # only async functions need it

    return asyncio.new_event_loop()


def failure_of(error: BaseException, here: str) -> dict[str, Any]:
    """What the host hears of an exception; `status` and `retry_after` are those of an HTTP client's error."""
    places: tuple[Any, ...] = (error, getattr(error, "response", None))
    statuses = [getattr(place, name, None) for place in places for name in ("status_code", "code")]
    status = next((one for one in statuses if type(one) is int), None)
    waits = [one.headers.get("Retry-After") for one in places if hasattr(getattr(one, "headers", None), "get")]
    return {"raised": last_line(error, here), "status": status, "retry_after": str(next(filter(None, waits), ""))}


def last_line(error: BaseException, folder: str) -> str:
    """The error, what a server said, and the innermost line inside the repository of this folder."""
    import traceback
    from pathlib import Path

    here = Path(folder)
    root = next((each for each in (here, *here.parents) if (each / ".git").exists()), here)
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    text = str(error)
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
        text = error.msg
    files = [(Path(name), line) for name, line in places if name != __file__]
    own = [(path, line) for path, line in files if root in path.parents and not PACKAGES & {*path.parts}]
    place = [f" ({path.relative_to(root).as_posix()}:{line})" for path, line in own[-1:]]
    return f"{type(error).__name__}: {text}{_body(error)}{''.join(place)}"


def _body(error: BaseException) -> str:
    """What a server answered, if the error of an HTTP client has it: urllib's, httpx's, requests'."""
    try:
        response: Any = getattr(error, "response", None)
        body = response.text if response is not None else error.read(MOST_OF_BODY)  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - it is only shown
        return ""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    return f": {' '.join(text.split())[:MOST_OF_BODY]}" if isinstance(text, str) and text.strip() else ""


def _say(answers: Any, fields: dict[str, object]) -> None:
    answers.write(json.dumps(fields) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
