"""One exchange with a program whose tool calls are answered by mocks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any

from runevals.lib.parsing.json_forms import json_in
from runevals.programs.exchange import Exchange
from runevals.targets.mocks import Mocks


class MockedExchange(Exchange):
    """Each line of its output that is a tool call, `{"tool": …, "input": …}`, gets a line of its input.

    It reads its question as one line, because its input stays open.
    """

    def __init__(self, mocks: Mocks, command: Sequence[str], **options: Any) -> None:
        """`options`: as of an exchange."""
        self._mocks, self._start = mocks, 0  # the start of the line that is not complete yet
        super().__init__(command, **options)

    def take(self, chunk: bytes) -> None:
        self.out += chunk
        while (end := self.out.find(b"\n", self._start)) >= 0:
            reply = self._mocks.reply_to(json_in(self.out[self._start : end]))
            if reply is None:
                self._start = end + 1
            else:
                del self.out[self._start : end + 1]
                self._write(json.dumps(reply).encode())

    def _feed(self, question: bytes) -> None:
        self._write(question)

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - opened as a pipe
        with suppress(OSError):  # it has ended
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()

    def _drain(self, pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
        super()._drain(pipe, take)
        if take == self.take:  # closed where it is written: a process that is left with the pipe delays this alone
            with suppress(OSError, AttributeError):
                self._process.stdin.close()  # type: ignore[union-attr]
