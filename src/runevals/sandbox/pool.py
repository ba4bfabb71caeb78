"""The host's side of the sandbox: a few worker processes, each killed when its time is up."""

from __future__ import annotations

import json
import queue
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from runevals.errors import SandboxUnavailable
from runevals.evaluators.kinds import Answer, Call
from runevals.line_process import START_TIMEOUT_S, LineProcess, ProcessDied

MAX_ANSWER_BYTES = 1024 * 1024
_GRACE_S = 0.25  # for the pipe and the scheduler, on top of the call's own limit


class Sandbox:
    """A pool of workers, started when first needed; close it, or use it as a context manager."""

    def __init__(self, workers: int = 2) -> None:
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(workers):
            self._idle.put(None)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends every idle worker; calls still running keep theirs until they return."""
        idle = [self._idle.get() for _ in range(self._idle.qsize())]
        for worker in idle:
            if worker is not None:
                worker.process.kill()
            self._idle.put(None)

    def call(self, call: Call) -> Answer:
        """Runs `call` in a worker and gives its answer; what goes wrong is in the answer.

        A call past its time limit ends with `evaluator_timeout` and costs that worker. A worker that dies
        for another reason is replaced and the call tried once more. Raises SandboxUnavailable when no
        worker can be started at all.
        """
        worker = self._idle.get()
        try:
            for _ in range(2):
                if worker is not None and not worker.process.alive:
                    worker.process.kill()  # it is dead; its pipes are not yet closed
                    worker = None
                worker = worker or _Worker()
                started = time.monotonic()
                try:
                    reply = worker.ask(call)
                except TimeoutError:
                    worker.process.kill()
                    reason = f"evaluation timed out after {call.timeout_s:g} s"
                    return Answer(error="evaluator_timeout", reason=reason, duration_s=call.timeout_s)
                except ProcessDied:
                    worker.process.kill()
                else:
                    return _answer(reply, time.monotonic() - started)
            return Answer(error="evaluator_crashed", reason="the sandbox worker died twice on this call")
        finally:
            self._idle.put(worker)


class _Worker:
    def __init__(self) -> None:
        script = str(Path(__file__).with_name("worker.py"))
        try:
            self.process = LineProcess(
                [sys.executable, "-I", "-S", "-B", script, *_library_folders()],
                env={},
                cwd=Path(Path(sys.executable).anchor),
                max_answer_bytes=MAX_ANSWER_BYTES,
            )
        except (OSError, ProcessDied, TimeoutError) as error:
            raise SandboxUnavailable(f"the sandbox worker cannot be started: {error!r}") from error
        self._loaded: set[str] = set()

    def ask(self, call: Call) -> bytes:
        if call.kind not in self._loaded:
            load: dict[str, object] = {"kind": "load", "code": call.kind, "arguments": {}}
            self.process.exchange(load, START_TIMEOUT_S)
            self._loaded.add(call.kind)
        request = {"kind": call.kind, "code": call.code, "arguments": dict(call.arguments)}
        return self.process.exchange(request, call.timeout_s + _GRACE_S)


def _library_folders() -> list[str]:
    """Where the worker finds the few packages it needs; it sees no other site-packages."""
    folders: dict[str, None] = {}
    for package in ("quickjs", "jsonschema"):
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            folders[str(Path(spec.origin).parent.parent)] = None
    return list(folders)


def _answer(reply: bytes, duration_s: float) -> Answer:
    try:
        fields = json.loads(reply)
        return Answer(
            value=fields.get("value"),
            error=fields.get("error"),
            reason=str(fields.get("reason", ""))[:2000],
            duration_s=duration_s,
        )
    except (ValueError, AttributeError, RecursionError):
        return Answer(error="evaluator_bad_result", reason="the worker's answer cannot be read")
