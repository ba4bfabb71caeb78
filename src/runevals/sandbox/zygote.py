"""A worker that loads an engine once, drops its rights, and forks one isolated child for every call.

Started as `zygote.py ENGINE FOLDER…` with an empty environment and without site-packages; what the engine imports
beside the standard library lies in the folders. JSON requests on stdin, one a line; on stdout, for each, JSON, a
tab and the child's own text. Children are copies of this process, so it reads no request and stores no answer.
"""

from __future__ import annotations

import gc
import io
import json
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - without pathlib

import lock

MAX_ANSWER_BYTES = 1024 * 1024
READY_MARK = b"\n"  # a child writes it when its grader is loaded, if the time limit of the call starts then
# The first output of a child, before it is isolated: seconds to run, seconds to load.
_CLOCKS = struct.Struct("dd")

# (request, callback after loading) → the answer's text.
Run = Callable[[dict[str, Any], Callable[[], object]], str]


def main() -> None:
    engine, *folders = sys.argv[1:]
    sys.path.extend(folders)
    answers = io.FileIO(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    run, headroom = _engine(engine)
    filter_, why_reduced = _lock()
    buffer = _Buffer(bytearray(MAX_ANSWER_BYTES + 1))
    in_use = lock.memory_in_use()
    if hasattr(os, "closerange"):
        answer_fd = answers.fileno()
        os.closerange(3, answer_fd)
        os.closerange(answer_fd + 1, 256)
    lock.drop_user()
    if filter_ is not None:
        lock.drop_file_access()
        lock.hide()
    gc.collect()
    gc.freeze()
    _say(answers, {"mode": "reduced" if filter_ is None else "strict", "why": why_reduced}, b"")
    if not hasattr(os, "fork"):  # one call a worker; the host's clock alone ends it
        raw = run(_request(), lambda: None).encode("ascii", "backslashreplace")
        _say(answers, {"status": "answered", "duration_s": 0.0}, raw)
        return
    child = _Child(run=run, filter=filter_, memory_bytes=in_use + headroom if in_use else None)
    while _has_request() and _supervised(child, buffer, answers):
        buffer.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Child:
    """What a child needs to answer its request; `memory_bytes` is the address space beside the grader's own."""

    run: Run
    filter: lock.Lock | None
    memory_bytes: int | None


class _Buffer:
    """The buffer for the bytes of an answer, which are never copied."""

    def __init__(self, content: bytearray) -> None:
        self._bytes = content
        self._content = memoryview(content)
        self._size = 0
        self._start = 0

    def take(self, file: io.FileIO) -> bool:
        """Reads more of an answer. False at its end, or if it is too long."""
        read = file.readinto(self._content[self._size :])
        self._size += read or 0
        return bool(read)

    def skip(self, marker: bytes) -> bool:
        """Whether the answer begins with `marker`, which is then removed from it."""
        matches = self._content[: len(marker)] == marker and self._size >= len(marker)
        self._start = len(marker) if matches else 0
        return matches

    @property
    def answer(self) -> memoryview | bytes:
        """The answer, which must be one line of JSON; empty if it is not."""
        if self._bytes.find(b"\n", self._start, self._size) >= 0:
            return b""
        return self._content[self._start : self._size]

    @property
    def is_empty(self) -> bool:
        return self._start == self._size

    @property
    def is_full(self) -> bool:
        return self._size == len(self._content)

    def clear(self) -> None:
        """Overwrites the answer, so that no later child has it in memory."""
        self._content[: self._size] = bytes(self._size)
        self._size = self._start = 0


def _has_request() -> bool:
    """Waits for the next request without reading it. False if the host has closed the pipe."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    return any(event & select.POLLIN for _, event in poll.poll())


def _request() -> dict[str, Any]:
    """The next request. Raises ValueError if the host has closed the pipe."""
    line = bytearray()
    while not line.endswith(b"\n"):
        chunk = os.read(0, 65536)
        if not chunk:
            raise ValueError("the host hung up")
        line += chunk
    request: dict[str, Any] = json.loads(line)
    return request


def _engine(name: str) -> tuple[Run, int]:
    """(what runs a request, the address space it needs for itself), with all its imports loaded."""
    if name == "javascript":
        import javascript_engine

        return javascript_engine.preloaded(), 64 * 1024 * 1024
    import python_engine

    return python_engine.preloaded(skills=name == "skill"), 0


def _lock() -> tuple[lock.Lock | None, str]:
    """The tested filter for the children, or why there is none."""
    try:
        filter_ = lock.Lock()
    except OSError as error:
        return None, str(error)
    child = os.fork()
    if child == 0:
        try:
            filter_.put_on()
        except OSError:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return (filter_, "") if status == 0 else (None, "the kernel takes no seccomp filter")


def _supervised(call: _Child, buffer: _Buffer, answers: io.FileIO) -> bool:
    """Forks a child for the next request and writes its answer, or how it ended. False if there is neither."""
    reading, writing = os.pipe()
    zygote = os.getpid()
    child = os.fork()
    if child == 0:
        _be_the_child(call, (zygote, writing))
    os.close(writing)
    with io.FileIO(reading) as file:
        clocks = file.read(_CLOCKS.size)
        start = time.monotonic()
        started_at, is_loaded, late = (
            _follow(file, buffer, *_CLOCKS.unpack(clocks)) if clocks else (start, False, False)
        )
    duration_s = time.monotonic() - started_at
    with suppress(ProcessLookupError, PermissionError):
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not clocks:
        return False
    status_fields, raw = _outcome(buffer, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, late=late)
    _say(answers, {**status_fields, "duration_s": duration_s, "loaded": is_loaded}, raw)
    return True


def _follow(file: io.FileIO, buffer: _Buffer, timeout_s: float, load_s: float) -> tuple[float, bool, bool]:
    """Takes in what the child writes until it ends, is late, or has written too much.

    Returns when its time limit began, whether its code was loaded, and whether it is late.
    """
    started_at = time.monotonic()
    is_loaded = load_s == 0
    deadline = started_at + (timeout_s if is_loaded else load_s)
    while not buffer.is_full:
        remaining = deadline - time.monotonic()
        if remaining <= 0 or not select.select([file], [], [], remaining)[0]:
            return started_at, is_loaded, True
        if not buffer.take(file):
            break
        if not is_loaded and buffer.skip(READY_MARK):
            is_loaded = True
            started_at = time.monotonic()
            deadline = started_at + timeout_s
    return started_at, is_loaded, False


def _outcome(buffer: _Buffer, signal_: int, *, late: bool) -> tuple[dict[str, object], memoryview | bytes]:
    """(how it ended, its output)."""
    if late:
        return {"status": "late"}, b""
    if buffer.is_full:
        return {"status": "too_large"}, b""
    if buffer.is_empty:
        return {"status": "late" if signal_ == signal.SIGXCPU else "died", "signal": signal_}, b""
    return {"status": "answered"}, buffer.answer


def _be_the_child(call: _Child, parent: tuple[int, int]) -> None:
    """Never returns. `parent` is the pid of the zygote and its pipe for the answer."""
    write, leave = os.write, os._exit
    zygote, writing = parent
    try:
        os.dup2(writing, lock.ANSWER_FD)
        request = _request()
        timeout_s, load_s = float(request["timeout_s"]), float(request.get("load_s", 0.0))
        write(lock.ANSWER_FD, _CLOCKS.pack(timeout_s, load_s))
        os.closerange(0, lock.ANSWER_FD)
        os.closerange(lock.ANSWER_FD + 1, 256)
        if call.filter is not None:
            call.filter.die_with_parent()
        if os.getppid() != zygote:
            return  # it died before it could be bound to us
        memory_bytes = None if call.memory_bytes is None else call.memory_bytes + request["memory_bytes"]
        lock.limit(memory_bytes=memory_bytes, cpu_s=int(timeout_s) + int(load_s) + 2)
        if call.filter is not None:
            call.filter.put_on()
        try:
            answer = call.run(request, lambda: write(lock.ANSWER_FD, READY_MARK))
        except BaseException as error:  # noqa: BLE001 - whatever gets out of an engine is this call's
            answer = json.dumps({"error": "evaluator_crashed", "reason": type(error).__name__})
        text = answer.encode("ascii", "backslashreplace")
        while text:
            text = text[write(lock.ANSWER_FD, text) :]
    finally:
        leave(0)


def _say(answers: io.FileIO, fields: dict[str, object], raw: memoryview | bytes) -> None:
    for part in (json.dumps(fields).encode("ascii") + b"\t", raw, b"\n"):
        remaining = memoryview(part)
        while remaining:
            remaining = remaining[answers.write(remaining) :]


if __name__ == "__main__":
    main()
