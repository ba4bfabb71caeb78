"""A Python function, called in separate worker processes."""

from __future__ import annotations

import ast
import json
import os
import queue
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from runevals.lib.storage.files import path_from
from runevals.lib.text.suggest import did_you_mean
from runevals.programs.exchange import MAX_OUTPUT_BYTES
from runevals.programs.line_process import AnswerTooLarge, LineProcess, ProcessDied
from runevals.programs.processes import what_to_use
from runevals.records import Conversation, ModelIdentity, Response
from runevals.records.diagnosis import Diagnosis, missing, neither
from runevals.records.errors import COULD_NOT_MEASURE, InvalidSettings, KeyRefused, TargetRefused
from runevals.records.traits import Traits
from runevals.targets import Target
from runevals.targets.command import request_of
from runevals.targets.environment import cleaned
from runevals.targets.kind import Making, Section
from runevals.targets.mocks import mocks_of, with_calls
from runevals.targets.program import ProgramSettings
from runevals.targets.program_report import failed, failed_by, is_report, response_from
from runevals.targets.reach import program_of, rules

KEY_REFUSED = 401  # an HTTP status
LEAST_START_S = 120.0  # that a worker has to start: many at once import a large library slowly
# How long a call waits for a worker that is at work: as long as the start of another took, within these.
LEAST_PATIENCE_S, MOST_PATIENCE_S = 0.1, 1.0
EXIT_S = 15.0  # for the last words of a worker with variables of its own
_AS_MODULE = "; name it as a module of its package: python:PACKAGE.MODULE:FUNCTION"
# Of any Python from 3.8 on, which may have neither us nor `-P`: nothing beside the worker's file shadows a module.
_RUN = """\
import sys
if sys.path[0] == "":
    del sys.path[0]
from importlib.machinery import SourceFileLoader
__file__ = sys.argv.pop(1)
exec(SourceFileLoader(__name__, __file__).get_code(__name__))
"""


class PythonTarget:
    """Calls `function(prompt, messages, case)` of a module or file; as many workers as calls at once."""

    def __init__(
        self, settings: PythonSettings, environment: Mapping[str, str], not_from: Path | None = None
    ) -> None:
        """The function must not lie in `not_from`. The system prompt is the first of the messages."""
        self._settings, self._function, self._timeout_s = settings, settings.function, settings.timeout_s
        interpreter = settings.interpreter or environment.get("RUNEVALS_PYTHON") or sys.executable
        # A path is not resolved: the Python of a virtual environment is a link.
        self._interpreter = str(settings.base / interpreter) if "/" in interpreter else interpreter
        self._env = {**cleaned(environment, settings.variables), "PYTHONDONTWRITEBYTECODE": "1"}
        self._not_from = not_from
        system = settings.system_prompt
        self._opening = [{"role": "system", "content": system}] if system else []
        self._idle: queue.LifoQueue[LineProcess] = queue.LifoQueue()
        self._all: set[LineProcess] = set()
        self._lock = threading.Lock()
        self._used = False
        self._first_ended = threading.Event()  # its start
        self._patience_s = LEAST_PATIENCE_S
        self._starting = 0
        self._refused: TargetRefused | None = None
        self._closed = False

    def answer(self, conversation: Conversation) -> Response:
        """What the function returns: text, or the same fields as a command target prints."""
        worker = self._new_worker(conversation.env) if conversation.env else self._worker()
        mocks, start = mocks_of(conversation), time.monotonic()
        try:
            request = request_of(conversation)
            request["messages"] = [*self._opening, *request["messages"]]
            request["cwd"] = None if conversation.workspace is None else str(conversation.cwd)
            reply = json.loads(worker.exchange(request, self._timeout_s))
            while (answered := mocks.reply_to(reply)) is not None:
                reply = json.loads(worker.exchange(answered, start + self._timeout_s - time.monotonic()))
        except TimeoutError:
            self._end(worker)
            return failed("target_timeout", f"no answer within {self._timeout_s:g} s")
        except AnswerTooLarge:
            self._end(worker)
            return failed("target_unparseable", f"the answer is larger than {MAX_OUTPUT_BYTES // 1024**2} MiB")
        except (ProcessDied, ValueError, RecursionError, OSError):
            self._end(worker)
            return failed("target_failed", "the worker process ended during the call")
        latency_s = time.monotonic() - start
        if conversation.env:  # a process of its own, which exports its last spans at its end
            worker.finish(EXIT_S)
            self._end(worker)
        else:
            self._idle.put(worker)
        return with_calls(response_of(reply, latency_s), mocks)

    def identity(self) -> ModelIdentity:
        """The function."""
        return ModelIdentity(
            type="python", deterministic=self._settings.deterministic, detail={"function": self._function}
        )

    def close(self) -> None:
        """Ends the workers, those still at work too."""
        with self._lock:
            self._closed = True
            workers = tuple(self._all)
        for worker in workers:
            worker.kill()

    def _end(self, worker: LineProcess) -> None:
        self._all.discard(worker)
        worker.kill()

    def _worker(self) -> LineProcess:
        with self._lock:
            first, self._used = not self._used, True
        if first:
            return self._first_worker()
        self._first_ended.wait()
        if self._refused is not None:
            raise TargetRefused(str(self._refused))
        while True:
            with suppress(queue.Empty):
                # A quick function is better served by a worker that is nearly free than by starting another.
                while not (worker := self._idle.get(timeout=self._patience_s)).alive:
                    self._end(worker)
                return worker
            with self._lock:
                # More at once would keep a busy machine from the calls of those that are there.
                may_start = self._starting < max(len(self._all) // 2, os.cpu_count() or 1, 2)
                self._starting += may_start
            if may_start:
                try:
                    return self._new_worker()
                finally:
                    with self._lock:
                        self._starting -= 1

    def _first_worker(self) -> LineProcess:
        """Alone: if it cannot start no other can, and of many at once each imports slowly."""
        start = time.monotonic()
        try:
            return self._new_worker()
        except TargetRefused as refused:
            self._refused = refused
            raise
        finally:
            self._patience_s = min(max(time.monotonic() - start, LEAST_PATIENCE_S), MOST_PATIENCE_S)
            self._first_ended.set()

    def _new_worker(self, variables: Mapping[str, str] | None = None) -> LineProcess:
        worker = self._start_worker({**self._env, **(variables or {})})
        with self._lock:
            late = self._closed  # the run was stopped while this one started
            self._all.add(worker)
        if late:
            self._end(worker)
            raise TargetRefused(f"the python target {self._function} is closed")
        complaint = self._complaint(worker.ready)
        if complaint:
            self._end(worker)
            raise TargetRefused(f"the python target {self._function} cannot be loaded: {complaint}")
        return worker

    def _start_worker(self, env: Mapping[str, str]) -> LineProcess:
        script = str(Path(__file__).with_name("python_worker.py"))
        limit_s = max(LEAST_START_S, self._timeout_s)
        try:
            return LineProcess(
                [self._interpreter, "-u", "-c", _RUN, script, self._function],
                env=env,
                cwd=self._settings.base,
                max_answer_bytes=MAX_OUTPUT_BYTES,
                start_timeout_s=limit_s,
            )
        except TimeoutError:
            why = f"it was not imported within {limit_s:g} s; lower `concurrency`, or raise the target's timeout_s"
        except ProcessDied:
            why = f"{self._interpreter} ended at once; is it Python 3.8 or later?"
        except OSError as error:
            why = f"{self._interpreter}: {error.strerror}"
        raise TargetRefused(f"the python target {self._function} cannot be started: {why}")

    def _complaint(self, line: bytes) -> str | None:
        """Why the function that a worker has loaded, or could not load, is not to be called."""
        try:
            ready = dict(json.loads(line))
            file = Path(str(ready.get("file") or "/")).resolve()
        except (ValueError, TypeError, RecursionError):
            return "its code wrote to the pipe of the worker, which is for answers"
        installed = "site-packages" in file.parts
        if self._not_from is not None and not installed and file.is_relative_to(self._not_from.resolve()):
            return f"it would run {file} of another checkout"
        complaint = ready.get("error")
        if complaint is None:
            return None
        missing, relative = (word in str(complaint) for word in ("ModuleNotFoundError", "relative import"))
        return f"{complaint}{what_to_use() if missing else _AS_MODULE if relative else ''}"


def response_of(reply: object, latency_s: float) -> Response:
    """What a function returned or raised, as an answer.

    Raises TargetRefused if a server did not accept its key (401): it will not accept it in the next call either,
    and TryAgain as `failed_by`.
    """
    if not isinstance(reply, Mapping):
        return failed("target_unparseable", "the worker's answer cannot be read")
    if reply.get("status") == KEY_REFUSED:
        raise KeyRefused(f"the target refuses every call: {reply['raised']}")
    if "raised" in reply:
        return failed_by(reply, str(reply["raised"]))
    value = reply.get("value")
    if isinstance(value, str):
        return Response(text=value, latency_s=latency_s)
    if isinstance(value, Mapping) and is_report(value):
        return response_from(value, latency_s)
    kind = "an object without 'output'" if isinstance(value, Mapping) else type(value).__name__
    must = "must return text or an object with 'output'"
    return failed("target_unparseable", f"the function returned {kind}, but {must}")


class PythonSettings(ProgramSettings, frozen=True, kw_only=True):
    """A function."""

    function: str
    interpreter: str | None = None

    traits = Traits(
        takes_files=True, answers_tool_calls=True, is_program=True, needs_files=True, takes_model=False
    )
    word = "function"
    form = "FILE.py:FUNCTION"
    reaches = rules("function", "interpreter", of=program_of)

    @classmethod
    def own_fields(cls, section: Section) -> dict[str, Any]:
        """Its variables. Raises InvalidSettings without a function."""
        if ":" not in section.values.get("function", ""):
            raise InvalidSettings("the python target needs a function: FILE.py:FUNCTION or MODULE:FUNCTION")
        return super().own_fields(section)

    def start(self, making: Making) -> Target:
        """Nothing is started yet."""
        return PythonTarget(self, making.environment, making.not_from)

    @property
    def interpreters(self) -> Sequence[str]:
        """Its Python, if the settings name one."""
        return [self.interpreter] if self.interpreter else []

    @property
    def file(self) -> str:
        """The file of the function, or its module."""
        return self.function.rpartition(":")[0]

    def named_files(self) -> Iterator[Path]:
        """The file; of a module, the files that may be it, and those of its packages."""
        steps = self.file.split(".")
        yield self.base / self.file
        for place in range(len(steps)):
            module = self.base.joinpath(*steps[: place + 1])
            yield from (module / "__init__.py", module.with_name(f"{module.name}.py"))

    def is_program_of(self, result: ModelIdentity, bases: Sequence[Path]) -> bool:
        """Whether a result is of the same function, in one of the bases."""
        former = result.detail.get("function")
        here = (self.base / self.function).resolve()
        return not isinstance(former, str) or here in [(base / former).resolve() for base in bases]

    def absent(self, environment: Mapping[str, str]) -> str | None:  # noqa: ARG002
        """That there is no such file, or no such function in it."""
        file, _, function = self.function.rpartition(":")
        return _absent_function(self.base, file, function) if file.endswith(".py") else None

    def diagnosis(self, environment: Mapping[str, str]) -> Diagnosis:
        """The file is compiled, and not run."""
        if not self.file.endswith(".py"):
            text = f"python {self.function}: a module is looked for only in a run"
            return neither("target", text, "--call tries it")
        if self.interpreter is None and (wrong := _syntax_error(self.base, self.file)) is not None:
            return missing("target", f"python {self.function}: {wrong}", "mend it there", COULD_NOT_MEASURE)
        return super().diagnosis(environment)


def _syntax_error(base: Path, file: str) -> str | None:
    """Why Python cannot read the file of a function."""
    try:
        with warnings.catch_warnings(action="ignore"):
            compile((base / file).read_bytes(), file, "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (OSError, ValueError, RecursionError):
        pass  # loading it says more
    return None


def _absent_function(base: Path, file: str, function: str) -> str | None:
    path = base / file
    if not path.is_file():
        siblings = sorted(path.parent.glob("*.py")) if path.parent.is_dir() else []
        return f"there is no file {file}{did_you_mean(file, [path_from(sibling, base) for sibling in siblings])}"
    try:
        names = set(_names(ast.parse(path.read_bytes())))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None  # loading it says more
    if function in names or not names.isdisjoint(("*", "__getattr__", "globals", "setattr", "exec")):
        return None
    return f"{file} has no function {function}{did_you_mean(function, sorted(names))}"


def _names(tree: ast.Module) -> Iterator[str]:
    """Every name that the module may define, and more."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name
            case _:
                pass
