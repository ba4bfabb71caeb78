"""What the tools evaluators share: finding calls by the names that a suite uses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from runevals.evaluators.kinds import Check, Subject, missing, unless
from runevals.evaluators.limits.bound import Bound
from runevals.evaluators.text.blank import is_blank
from runevals.lib.nullable import if_known
from runevals.lib.parsing.json_forms import json_forms, json_in
from runevals.lib.parsing.strict_json import nested_deeper
from runevals.records import Layer, Problem, ToolCall, Verdict
from runevals.records.trace import leaves, same_tool

MOST_LEVELS = 100  # of JSON in a text
NO_TRACE = missing("the target does not report its tool calls (a program prints `toolCalls` beside `output`)")


class CallsCheck(Check):
    """Looks at the tool calls of the answer; a problem if the target does not report them."""

    layer = Layer.BEHAVIOR

    def check(self, subject: Subject) -> Verdict | Problem:
        calls = subject.response.tool_calls
        return NO_TRACE if calls is None else self.of_calls(calls)

    @abstractmethod
    def of_calls(self, calls: Sequence[ToolCall]) -> Verdict | Problem:
        """The verdict on the calls."""


@dataclass(frozen=True, kw_only=True)
class NamedToolsCheck(CallsCheck):
    """Looks for calls of the tools with these names."""

    fails_if_called: ClassVar[bool]
    passes: ClassVar[str]
    fails: ClassVar[str]

    values: tuple[str, ...]

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if not all(value.strip() for value in self.values):
            yield "values", "values holds a blank name, which no tool has"

    def of_calls(self, calls: Sequence[ToolCall]) -> Verdict:
        wrong = [tool for tool in self.values if bool(of_tool(calls, tool)) is self.fails_if_called]
        return unless(wrong, self.passes, self.fails, called=[call.name for call in calls])


@dataclass(frozen=True, kw_only=True)
class CallsBound(Bound):
    """Bounds the number of tool calls."""

    unit = "calls"
    missing = NO_TRACE.message

    value: int

    def measure(self, subject: Subject) -> float | None:
        return if_known(len, subject.response.tool_calls)


def of_tool(calls: Sequence[ToolCall], tool: str) -> list[ToolCall]:
    """The calls of one tool."""
    return [call for call in calls if same_tool(call.name, tool)]


@dataclass(frozen=True, kw_only=True)
class NeedleCheck(CallsCheck):
    """Whether a call of the tool has the needle of `Tool:needle` in one of its texts; case is ignored.

    A problem if it was not found, but the input or output of some call is not reported.
    """

    layer = Layer.FACT
    what: ClassVar[Literal["input", "output"]]

    value: str

    def problems(self) -> Iterable[tuple[str | None, str]]:
        tool, needle = split(self.value)
        if not tool or is_blank(needle):
            yield "value", f"value is {self.value!r}; it must be Tool:text"

    def of_calls(self, calls: Sequence[ToolCall]) -> Verdict | Problem:
        tool, needle = split(self.value)
        of_this, texts = of_tool(calls, tool), input_texts if self.what == "input" else output_texts
        if any(needle.lower() in text.lower() for call in of_this for text in texts(call)):
            return Verdict(1.0, f"found in the {self.what} of {tool}: {needle}")
        if any(getattr(call, self.what) is None for call in of_this):
            return missing(f"the target does not report the {self.what} of every call of {tool}")
        return Verdict(0.0, f"not in the {self.what} of {len(of_this)} calls of {tool}: {needle}")


def split(value: str) -> tuple[str, str]:
    """`Tool:needle`, split at the first colon; the needle may contain more."""
    tool, _, needle = value.partition(":")
    return tool.strip(), needle


def input_texts(call: ToolCall) -> list[str]:
    """The searched texts of an input: its texts and numbers, and the whole as JSON."""
    return [] if call.input is None else _texts(decoded(call.input), call.input)


def output_texts(call: ToolCall) -> list[str]:
    """The searched texts of an output: the text, and its values if it is JSON."""
    says = decoded(call.output)
    return [call.output or ""] if says is call.output else _texts(says, call.output)


def _texts(says: object, raw: object) -> list[str]:
    """A value's own texts, its JSON, and the text that it was given as, if it was one."""
    texts = [str(item) for item in leaves(says) if item is not None]
    return [*texts, *json_forms(says), *([raw] if isinstance(raw, str) else [])]


def decoded(value: object) -> object:
    """The parsed value of a JSON text with a list or object; other values unchanged."""
    says = json_in(value)
    return value if nested_deeper(says, MOST_LEVELS) else says
