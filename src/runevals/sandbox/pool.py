"""The host side of the sandbox: a few workers of each kind, each killed at its timeout."""

from __future__ import annotations

import json
import queue
import re
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from msgspec.structs import asdict

from runevals.programs.line_process import AnswerTooLarge, LineProcess, ProcessDied
from runevals.records.errors import SandboxUnavailable
from runevals.records.script import Answer, Call, CallKind, Language
from runevals.sandbox.results import answer_of, timed_out
from runevals.sandbox.safe_patterns import PlainPattern, plain_pattern

Mode = Literal["strict", "reduced"]
Engine = Literal["python", "skill", "javascript", "regex", "json_schema"]

MEGABYTE = 1024 * 1024
LOAD_S = 30.0  # for loading a skill, before the time limit of its call starts
MOST_TIMEOUTS = 3  # of one grader in a row; then its remaining calls are errors at once
_MAX_LINE_BYTES = 8 * 1024 * 1024  # of a pattern worker, which escapes; graders may say 1 MiB
_GRACE_S = 1.5  # of the host over a worker that keeps time itself
_OWN_GRACE_S = 0.25  # over one that does not
_GRADERS: frozenset[CallKind] = frozenset({"evaluator", "assertion"})
_LOCKED_UP: frozenset[Engine] = frozenset({"python", "skill", "javascript"})
_PACKAGES: Mapping[Engine, tuple[str, ...]] = {
    "python": (),
    "skill": (),
    "javascript": ("_quickjs",),
    "regex": ("quickjs",),
    "json_schema": ("quickjs", "jsonschema", "jsonschema_rs"),
}


class Sandbox(AbstractContextManager["Sandbox"]):
    """Runs the code of suites. Use it as a context manager, or close it.

    `workers` of each engine are started on demand. `reduced`: whether code may run if the kernel cannot isolate
    it (on systems other than Linux); patterns and schemas always may.
    """

    def __init__(self, workers: int = 2, *, reduced: bool = True) -> None:
        if workers < 1:
            raise ValueError(f"a sandbox needs at least one worker, not {workers}")
        self._reduced = reduced
        self._idle: dict[Engine, queue.LifoQueue[_Worker | None]] = {}
        for engine in _PACKAGES:
            self._idle[engine] = queue.LifoQueue()
            for _ in range(workers):
                self._idle[engine].put(None)
        self._timeouts: dict[int, int] = {}  # by the hash of a grader's code
        self._lock = threading.Lock()
        self.mode: Mode | None = None  # the level of isolation of the code so far; None if no code ran
        self._closed = False

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends every idle worker, and the others when their calls return. Nothing can be called afterwards."""
        self._closed = True
        for workers in self._idle.values():
            idle = [workers.get() for _ in range(workers.qsize())]
            for worker in idle:
                _end_worker(worker)
                workers.put(None)

    def call(  # noqa: PLR0913 - by name only; the record is for those inside
        self,
        *,
        code: str,
        filename: str,
        language: Language,
        kind: CallKind,
        arguments: Mapping[str, object],
        timeout_s: float = 5.0,
        memory_bytes: int = 128 * 1024 * 1024,
    ) -> Answer:
        """Runs one grader, custom assertion, skill or pattern → its answer.

        `code` is the source (of a `regex`, the pattern), `filename` how errors name it. `arguments` by `kind`:
        `evaluator` takes input, output, expected and metadata, `assertion` output, sample and assertion, `skill`
        input (an object), mock_data and modules (name → source of modules beside it), `regex` text and flags.

        The answer has `passed`, `score`, `reason` and `details` of an evaluator or assertion, the `value` of a
        skill or pattern, or `error`: a code beginning with `evaluator_`, with its `reason`.
        Nothing that the code does raises here. Raises SandboxUnavailable if no worker can be started, or code
        could only run unprotected and `reduced` was not allowed, ValueError for parameters that mean nothing.
        """
        _check(kind, language, timeout_s, memory_bytes)
        return self.run(
            Call(
                kind=kind,
                code=code,
                filename=filename,
                language=language,
                arguments=arguments,
                timeout_s=timeout_s,
                memory_bytes=int(memory_bytes),
            )
        )

    def run(self, call: Call) -> Answer:
        """Runs `call` as `Sandbox.call` does.

        A worker that dies is replaced and the call is retried once; a worker that times out is killed.
        A plain pattern needs no worker.
        """
        return _plain_answer_of(call) or self._run(call, _engine(call))

    @staticmethod
    def is_quick(call: Call) -> bool:
        """Whether `call` is computed in this process, without a worker."""
        return _plain_pattern(call) is not None

    def _run(self, call: Call, engine: Engine) -> Answer:
        workers, grader = self._idle[engine], hash((call.language, call.code))
        worker = workers.get()
        if self._closed:
            workers.put(worker)
            raise SandboxUnavailable("the sandbox is closed")
        # Maybe while this call waited for the worker.
        if call.kind in _GRADERS and self._timeouts.get(grader, 0) >= MOST_TIMEOUTS:
            workers.put(worker)
            reason = f"not run: this grader timed out {MOST_TIMEOUTS} times in a row"
            return Answer(error="evaluator_timeout", reason=reason)
        usable = False
        try:
            for attempt in range(2):
                if worker is None or not worker.process.alive:
                    _end_worker(worker)
                    try:
                        worker = None
                        worker = self._start_worker(engine)
                    except SandboxUnavailable:
                        if attempt == 0:
                            continue  # it may have been killed while starting
                        raise
                try:
                    answer = worker.ask(call)
                    usable = True
                except TimeoutError:
                    answer = timed_out(call.timeout_s)
                except AnswerTooLarge:
                    reason = "result does not follow the contract: result too large"
                    answer = Answer(error="evaluator_bad_result", reason=reason)
                except ProcessDied:
                    _end_worker(worker)
                    worker = None
                    continue
                late = answer.error == "evaluator_timeout"
                with self._lock:
                    self._timeouts[grader] = self._timeouts.get(grader, 0) + 1 if late else 0
                return answer
            return Answer(error="evaluator_crashed", reason="the sandbox worker died twice on this call")
        finally:
            # A worker with an unread answer would give it to the next call.
            if self._closed or not usable:
                _end_worker(worker)
                worker = None
            workers.put(worker)

    def _start_worker(self, engine: Engine) -> _Worker:
        worker = _Worker(engine)
        if engine in _LOCKED_UP:
            if worker.mode == "reduced" and not self._reduced:
                worker.process.kill()
                raise SandboxUnavailable(
                    f"the code of a suite cannot be isolated here ({worker.why_reduced}); with `sandbox: "
                    "reduced` in the settings it runs without protection from hostile code"
                )
            self.mode = worker.mode
        return worker


def _plain_pattern(call: Call) -> PlainPattern | None:
    """The pattern of a `regex` call, if it needs no worker."""
    if call.kind != "regex":
        return None
    plain = plain_pattern(call.code, str(call.arguments["flags"]))
    return plain if plain is not None and plain.fits(str(call.arguments["text"])) else None


def _plain_answer_of(call: Call) -> Answer | None:
    plain = _plain_pattern(call)
    if plain is None:
        return None
    try:
        return Answer(value=plain.matches(str(call.arguments["text"])))
    except re.error:
        return None


def _check(kind: str, language: str, timeout_s: float, memory_bytes: int) -> None:
    if kind not in ("evaluator", "assertion", "skill", "regex"):
        raise ValueError(f"there is no kind '{kind}' of call")
    if language not in ("javascript", "python"):
        raise ValueError(f"there is no language '{language}'")
    if not 0 < timeout_s <= 86_400:
        raise ValueError(f"timeout_s is {timeout_s}; it must be above 0 and at most a day")
    if not MEGABYTE <= memory_bytes <= 1024**4:
        raise ValueError(f"memory_bytes is {memory_bytes}; it must be at least a megabyte")


def _end_worker(worker: _Worker | None) -> None:
    if worker is not None:
        worker.process.kill()


def _engine(call: Call) -> Engine:
    match call.kind:
        case "regex" | "json_schema" | "skill":
            return call.kind
        case "regex_many" | "regex_groups" | "redact":
            return "regex"
        case _:
            return call.language


class _Worker:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        script = "zygote.py" if engine in _LOCKED_UP else "pattern_worker.py"
        try:
            self.process = LineProcess(
                [
                    sys.executable,
                    *("-I", "-S", "-B", str(Path(__file__).with_name(script))),
                    *(engine, *_library_folders(engine)),
                ],
                env={},
                cwd=Path(Path(sys.executable).anchor),
                max_answer_bytes=_MAX_LINE_BYTES,
                own_worker=True,
            )
        except (OSError, ProcessDied, TimeoutError) as error:
            raise SandboxUnavailable(f"the sandbox worker cannot be started: {error!r}") from error
        ready = json.loads(self.process.ready)
        self.mode: Mode = ready["mode"]
        self.why_reduced: str = ready.get("why", "")

    def ask(self, call: Call) -> Answer:
        """Raises TimeoutError, ProcessDied or AnswerTooLarge."""
        if self._engine in ("regex", "json_schema"):
            start = time.monotonic()
            request: dict[str, object] = {"kind": call.kind, "code": call.code, "arguments": dict(call.arguments)}
            reply = self.process.exchange(request, call.timeout_s + _OWN_GRACE_S)
            return _plain_answer(reply, time.monotonic() - start)
        load_s = LOAD_S if call.kind == "skill" else 0.0
        own = {"code": call.code.removeprefix("\ufeff"), "arguments": dict(call.arguments), "load_s": load_s}
        request = {**asdict(call), **own}
        return answer_of(call, self.process.exchange(request, load_s + call.timeout_s + _GRACE_S))


def _library_folders(engine: Engine) -> list[str]:
    """Where a worker finds the few packages it needs; it sees no other site-packages."""
    folders: dict[str, None] = {}
    for package in _PACKAGES[engine]:
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            file = Path(spec.origin)
            folders[str(file.parent if spec.submodule_search_locations is None else file.parent.parent)] = None
    return list(folders)


def _plain_answer(reply: bytes, duration_s: float) -> Answer:
    """The answer of a pattern worker, which runs no code of a suite."""
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
