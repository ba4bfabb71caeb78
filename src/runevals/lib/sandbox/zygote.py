"""A worker that loads an engine once, gives up its rights, and forks one locked child for every call.

Started as `zygote.py ENGINE FOLDER…` with an empty environment and without site-packages; what the engine imports
beside the standard library lies in the folders. JSON requests on stdin, JSON answers on stdout, one a line.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - without pathlib

import lock

MAX_ANSWER_BYTES = 1024 * 1024
LOADED = b"\n"  # a child says so when its grader is loaded, where the clock of the call starts only then

Run = Callable[[dict[str, Any], Callable[[], object]], str]  # (request, say that it is loaded) → the answer's text


def main() -> None:
    engine, *folders = sys.argv[1:]
    sys.path.extend(folders)
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    run, headroom = _engine(engine)
    filter_, why_reduced = _lock()
    in_use = lock.memory_in_use()
    if hasattr(os, "closerange"):
        kept = answers.fileno()
        os.closerange(3, kept)
        os.closerange(kept + 1, 256)
    lock.become_nobody()
    if filter_ is not None:
        lock.leave_the_files()
        lock.hide()
    gc.collect()
    gc.freeze()
    _say(answers, {"mode": "reduced" if filter_ is None else "strict", "why": why_reduced})
    for line in sys.stdin.buffer:
        request = json.loads(line)
        limits = {
            "memory_bytes": in_use + headroom + request["memory_bytes"] if in_use else None,
            "cpu_s": int(request["timeout_s"]) + int(request.get("load_s", 0)) + 2,
        }
        if hasattr(os, "fork"):
            _say(answers, _supervised(request, run, filter_, limits))
        else:  # one call a worker; the host's clock alone ends it
            _say(answers, {"status": "answered", "raw": run(request, lambda: None), "duration_s": 0.0})
            return


def _engine(name: str) -> tuple[Run, int]:
    """(what runs a request, the address space it needs for itself), everything it may need loaded."""
    if name == "javascript":
        import javascript_engine

        return javascript_engine.preloaded(), 64 * 1024 * 1024
    import python_engine

    return python_engine.preloaded(skills=name == "skill"), 0


def _lock() -> tuple[lock.Lock | None, str]:
    """The filter for the children, tried out; or why there is none."""
    try:
        made = lock.Lock()
    except OSError as error:
        return None, str(error)
    child = os.fork()
    if child == 0:
        try:
            made.put_on()
        except OSError:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return (made, "") if status == 0 else (None, "the kernel takes no seccomp filter")


def _supervised(
    request: dict[str, Any], run: Run, filter_: lock.Lock | None, limits: dict[str, int | None]
) -> dict[str, object]:
    """Forks a child for the request and gives what it wrote, or how it ended."""
    reading, writing = os.pipe()
    started = time.monotonic()
    zygote = os.getpid()
    child = os.fork()
    if child == 0:
        _be_the_child(request, run, filter_, limits, (zygote, writing))
    os.close(writing)
    load_s = float(request.get("load_s", 0.0))
    raw, late, started, loaded = _answer_of(reading, started, float(request["timeout_s"]), load_s)
    duration_s = time.monotonic() - started
    os.close(reading)
    with suppress(ProcessLookupError, PermissionError):
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    answer: dict[str, object] = {"duration_s": duration_s, "loaded": loaded}
    if late:
        return {**answer, "status": "late"}
    if len(raw) > MAX_ANSWER_BYTES:
        return {**answer, "status": "too_large"}
    if not raw:
        ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return {**answer, "status": "late" if ended == signal.SIGXCPU else "died", "signal": ended}
    return {**answer, "status": "answered", "raw": raw.decode("ascii", "replace")}


def _answer_of(reading: int, started: float, timeout_s: float, load_s: float) -> tuple[bytes, bool, float, bool]:
    """(what the child wrote, whether it was late, when its clock began, whether its code was loaded)."""
    raw = b""
    loaded = load_s == 0
    deadline = started + (timeout_s if loaded else load_s)
    while len(raw) <= MAX_ANSWER_BYTES:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reading], [], [], left)[0]:
            return b"", True, started, loaded
        chunk = os.read(reading, 65536)
        if not chunk:
            break
        raw += chunk
        if not loaded and raw.startswith(LOADED):
            loaded, raw = True, raw[len(LOADED) :]
            started = time.monotonic()
            deadline = started + timeout_s
    return raw, False, started, loaded


def _be_the_child(
    request: dict[str, Any],
    run: Run,
    filter_: lock.Lock | None,
    limits: dict[str, int | None],
    parent: tuple[int, int],
) -> None:
    """Never returns. `parent` is the zygote, and where it reads the answer."""
    write, leave = os.write, os._exit
    zygote, writing = parent
    try:
        os.dup2(writing, lock.ANSWER_FD)
        os.closerange(0, lock.ANSWER_FD)
        os.closerange(lock.ANSWER_FD + 1, 256)
        if filter_ is not None:
            filter_.die_with_parent()
        if os.getppid() != zygote:
            return  # it died before it could be bound to us
        lock.limit(**limits)
        if filter_ is not None:
            filter_.put_on()
        try:
            answer = run(request, lambda: write(lock.ANSWER_FD, LOADED))
        except BaseException as error:  # noqa: BLE001 - whatever gets out of an engine is this call's
            answer = json.dumps({"error": "evaluator_crashed", "reason": type(error).__name__})
        text = answer.encode("ascii", "backslashreplace")
        while text:
            text = text[write(lock.ANSWER_FD, text) :]
    finally:
        leave(0)


def _say(answers: TextIO, fields: dict[str, object]) -> None:
    answers.write(json.dumps(fields) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
