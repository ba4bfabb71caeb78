"""Any program: one call an answer, JSON in on stdin, text or JSON out on stdout."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from runevals.errors import TargetRefused
from runevals.line_process import kill_group
from runevals.records import Conversation, ModelIdentity, Problem, Response
from runevals.targets.reported import is_report, reported

MAX_OUTPUT_BYTES = 16 * 1024 * 1024


class CommandTarget:
    """Starts the program for every answer, without a shell, and kills it when it is late."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        timeout_s: float,
        deterministic: bool,
        request: Mapping[str, object],
    ) -> None:
        """`request` is what every call is told beside the conversation: model and system prompt."""
        self._command = list(command)
        self._cwd = cwd
        self._env = dict(env)
        self._timeout_s = timeout_s
        self._deterministic = deterministic
        self._request = dict(request)

    def answer(self, conversation: Conversation) -> Response:
        """What the program prints; a non-zero exit is `target_failed` with the end of its stderr."""
        started = time.monotonic()
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._cwd,
                env=self._env,
                start_new_session=True,
            )
        except OSError as error:
            raise TargetRefused(
                f"the target command cannot be started: {self._command[0]}: {error.strerror}"
            ) from error
        asked = {**self._request, **request_of(conversation)}
        try:
            out, err = process.communicate(json.dumps(asked).encode(), timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            return _failed("target_timeout", f"no answer within {self._timeout_s:g} s")
        finally:
            kill_group(process)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        if process.returncode != 0:
            tail = err.decode(errors="replace").strip()[-1000:]
            return _failed("target_failed", f"the command ended with exit code {process.returncode}: {tail}")
        return _read(out, time.monotonic() - started)

    def identity(self) -> ModelIdentity:
        """The command as it was given."""
        model = self._request.get("model")
        return ModelIdentity(
            type="command",
            model=None if model is None else str(model),
            deterministic=self._deterministic,
            detail={"command": self._command},
        )

    def close(self) -> None:
        """Nothing to end."""


def request_of(conversation: Conversation) -> dict[str, object]:
    """What programs under test are told of a conversation."""
    return {
        "prompt": conversation.prompt,
        "messages": [{"role": m.role, "content": m.content} for m in conversation.messages],
        "case": {
            "suite": conversation.suite,
            "key": conversation.case,
            "attempt": conversation.attempt,
            "turn": conversation.turn,
            "thread": conversation.thread,
            "metadata": dict(conversation.metadata),
        },
    }


def _read(out: bytes, latency_s: float) -> Response:
    if len(out) > MAX_OUTPUT_BYTES:
        return _failed("target_unparseable", f"the answer is larger than {MAX_OUTPUT_BYTES // 1024**2} MiB")
    text = out.decode(errors="replace").removesuffix("\n").removesuffix("\r")
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, Mapping) and is_report(value):
        return reported(value, latency_s)
    return Response(text=text, latency_s=latency_s)


def _failed(code: str, message: str) -> Response:
    return Response(problem=Problem(code=code, message=message))
