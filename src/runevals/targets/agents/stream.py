"""The event stream of an agent's command line, line by line → its answer and tool calls."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.parsing.shapes import is_whole
from runevals.lib.parsing.strict_json import finite, refuse_constant
from runevals.lib.text.secrets import beginning
from runevals.records import Delivery, Problem, Response, ToolCall
from runevals.targets.program_report import LARGEST, output_text, shallow

MAX_OUTPUT_BYTES = 20 * 1024 * 1024
MOST_LINE_BYTES = 10 * 1024 * 1024
Event = Mapping[str, Any]


class _Call(Struct):
    name: str
    input: object
    began: float
    output: str | None = None
    ok: bool | None = None
    ended: float | None = None

    def record(self) -> ToolCall:
        duration_s = None if self.ended is None else self.ended - self.began
        return ToolCall(name=self.name, input=self.input, output=self.output, ok=self.ok, duration_s=duration_s)


class Usage(Struct):
    """Tokens as an agent counts them; the input with what was cached of it."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(slots=True)
class Reader(ABC):
    """Reads the events of one kind of agent. The final event decides: without it there is no answer."""

    text: str = ""  # of the last message
    model: str | None = None
    session: str | None = None
    turns: int | None = None
    cost_usd: float | None = None
    usage: Usage = field(default_factory=Usage)
    refused: list[str] = field(default_factory=list)
    skills: tuple[str, ...] | None = None  # that it could load, if it says so
    failed_servers: frozenset[str] = frozenset()  # MCP servers that it could not start, if it says so
    finished: bool = False
    error: str | None = None  # the error in the final event
    now: Callable[[], float] = time.monotonic
    _calls: dict[str, _Call] = field(default_factory=dict)
    _rounds: int = 0
    _after_result: bool = True

    @abstractmethod
    def see(self, event: Event) -> None:
        """Takes one event. Raises ValueError, KeyError, TypeError or AttributeError for another shape."""

    def add_text(self, text: str) -> None:
        """A message of the agent, which replaces those before. Raises ValueError if it is not text."""
        self._acts()
        self.text = text_of(text, "a message")

    def called(self, call: str, name: str, arguments: object) -> None:
        """A tool call that begins; `call` is its id. Raises ValueError for a name that is not text."""
        self._acts()
        name = text_of(name, "the name of a tool")
        self._calls[call] = _Call(name, shallow(arguments, "the input of a tool call"), self.now())

    def returned(self, call: str, output: object, *, ok: object) -> None:
        """The result of a tool call."""
        self._after_result = True
        if (known := self._calls.get(call)) is not None:
            known.output = output_text(output)
            known.ok, known.ended = ok if isinstance(ok, bool) else None, self.now()

    def refuse(self, call: str) -> None:
        """A call that was not permitted."""
        if call in self._calls:
            self.refused.append(self._calls[call].name)

    def _acts(self) -> None:
        self._rounds += self._after_result
        self._after_result = False

    def response(self, latency_s: float) -> Response:
        """What was read, whether or not it is whole."""
        usage = self.usage
        return Response(
            text=self.text,
            tool_calls=tuple(call.record() for call in self._calls.values()),
            cost_usd=self.cost_usd,
            input_tokens=usage.input,
            output_tokens=usage.output,
            reasoning_tokens=usage.reasoning,
            delivery=None if usage.cached is None else Delivery(cached_tokens=usage.cached),
            latency_s=latency_s,
            turns=self._rounds if self.turns is None else self.turns,
            model=self.model,
            session=self.session,
            refused=tuple(dict.fromkeys(self.refused)),
            skills=self.skills,
        )


class Stream:
    """Splits what a program prints into events, and hands them to a reader."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.problem: str | None = None
        self._rest = b""
        self._begun = False

    def feed(self, chunk: bytes) -> None:
        """More of the output, in pieces of any size. After a line that cannot be read, nothing is."""
        if self.problem is not None:
            return
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._line(line)
        if len(self._rest) > MOST_LINE_BYTES:
            self.problem = f"it printed a line longer than {MOST_LINE_BYTES // 1024**2} MiB"

    def end(self) -> None:
        """The output is over; text after the last line break is a line, too."""
        if self._rest:
            self._line(self._rest)
            self._rest = b""

    def _line(self, line: bytes) -> None:
        if self.problem is not None or not line.strip():
            return
        try:
            event = json.loads(line.decode("utf-8"), parse_constant=refuse_constant, parse_float=finite)
        except UnicodeDecodeError:
            self.problem = "it printed a line that is not UTF-8"
            return
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            if self._begun or line.lstrip().startswith(b"{"):  # before the first event, wrappers may print notices
                words = beginning(line.decode(errors="replace"), 80)
                self.problem = f"it printed a line that is not a JSON object: {words}"
            return
        self._begun = True
        try:
            self.reader.see(event)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self.problem = f"an event of type {str(event.get('type'))[:40]} cannot be read: {error!r}"

    def outcome(self, latency_s: float, failure: Problem | None) -> Response:
        """The answer; a problem in its place for `failure`, an unreadable line, or a missing final event."""
        response = self.reader.response(latency_s)
        if failure is not None:
            pass
        elif self.problem is not None:
            failure = Problem(code="target_unparseable", message=self.problem)
        elif self.reader.error is not None:
            failure = Problem(code="target_failed", message=f"the agent says: {self.reader.error}")
        elif not self.reader.finished:
            failure = Problem(code="target_failed", message="it ended without its final event")
        return replace(response, problem=failure)


def read_whole(reader: Reader, output: bytes, latency_s: float, *, exit_code: int | None) -> Response:
    """The answer in the whole output of a program that printed an agent's events."""
    stream = Stream(reader)
    stream.feed(output)
    stream.end()
    failure = None
    if exit_code != 0 and reader.error is None:
        failure = Problem(code="target_failed", message=f"the command ended with exit code {exit_code}")
    return stream.outcome(latency_s, failure)


def count(value: object) -> int | None:
    """A number of tokens, None for anything else."""
    return value if is_whole(value) and 0 <= value <= LARGEST else None


def usage_of(counts: Mapping[str, object], *names: str) -> Usage:
    """The tokens that an agent counts, under its names of them: as in Usage."""
    return Usage(*(count(counts.get(name)) for name in names))


def text_of(value: object, what: str) -> str:
    """`value`. Raises ValueError if it is not text."""
    if not isinstance(value, str):
        raise ValueError(f"{what} is not text")
    return value


def text_or_none(value: object, what: str) -> str | None:
    """`value`. Raises ValueError if it is neither text nor null."""
    return None if value is None else text_of(value, what)
