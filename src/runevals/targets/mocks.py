"""Answers to a model's tool calls from the mocks of a case; no tool is called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import translate
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.parsing.json_forms import text_or_json
from runevals.lib.parsing.shapes import is_number, is_subset, object_in
from runevals.lib.parsing.strict_json import nested_deeper
from runevals.records import Conversation, Response, ToolCall
from runevals.records.trace import leaves
from runevals.targets.program_report import MOST_LEVELS

DENIED = "denied: no mock answers this call"
MOST_CHARACTERS = 16 * 1024 * 1024  # of the calls of one answer that are kept
NO_TOOL = "error: this tool cannot be used here"
_OTHER_MAGIC = re.compile(r"[?\[]")  # what is special to `fnmatch` beside `*`


class Mocks:
    """The mocks of one conversation, in order; the first that matches answers. Counts calls for `return_seq`."""

    def __init__(self, declared: Sequence[Mapping[str, Any]], *, strict: bool) -> None:
        """`strict`: a call that no mock answers is denied."""
        self.strict = strict
        counts: Counter[str] = Counter()
        self._mocks: list[_Mock] = []
        for mock in declared:
            counts[mock["tool"].casefold()] += 1
            self._mocks.append(_Mock(f"{mock['tool']}:{counts[mock['tool'].casefold()]}", mock["tool"], mock))
        self._hits: dict[str, int] = {}
        self.calls: list[ToolCall] = []  # that a program made
        self._room = MOST_CHARACTERS

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that have mocks, each once, without `*`."""
        return tuple(dict.fromkeys(mock.tool for mock in self._mocks if mock.tool != "*"))

    @property
    def declared(self) -> bool:
        """Whether the case says how tool calls are answered."""
        return self.strict or bool(self._mocks)

    def covers(self, name: str) -> bool:
        """Whether no other tool of this name is called."""
        return self.strict or any(mock.tool in ("*", name) for mock in self._mocks)

    def reply_to(self, message: object) -> dict[str, object] | None:
        """The reply to a program's `{"tool": …, "input": …}`; None if the message is another one."""
        match message:
            case {"tool": str(name), **rest} if rest.keys() <= {"input"}:
                call = self.program_calls(name, rest.get("input", {}))
                return {"output": call.output, "ok": call.ok}
            case _:
                return None

    def program_calls(self, name: str, value: object) -> ToolCall:
        """The call of a program with its answer."""
        is_too_deep = nested_deeper(value, MOST_LEVELS)
        call = self.answer_call(name, f"nested deeper than {MOST_LEVELS} levels" if is_too_deep else value)
        self._room -= len(repr(call))
        if self._room > 0:
            self.calls.append(call)
        return call

    def answer_call(self, name: str, value: object) -> ToolCall:
        """The call with its answer."""
        for mock in self._mocks:
            conditions = mock.declared.get("match", {}).items()
            if mock.tool in ("*", name) and all(_holds(what, expected, value) for what, expected in conditions):
                times = self._hits.get(mock.id, 0)
                answer = mock.answer(times)
                if answer is None:
                    continue  # its sequence is used up, and it has no `return`
                self._hits[mock.id] = times + 1
                return ToolCall(name=name, input=value, output=answer, ok=True, mock=mock.id)
        return ToolCall(name=name, input=value, output=DENIED if self.strict else NO_TOOL, ok=False)


def mocks_of(conversation: Conversation) -> Mocks:
    """What the case declares; without any, every tool call is answered with an error."""
    declared: Any = conversation.metadata.get("mocks") or []
    return Mocks(declared, strict=bool(conversation.metadata.get("mocksStrict", False)))


def with_calls(response: Response, mocks: Mocks) -> Response:
    """The response of a program; its mocked tool calls go before those that it reports."""
    calls = (*mocks.calls, *(response.tool_calls or ()))
    return replace(response, tool_calls=calls) if mocks.declared else response


class _Mock(Struct, frozen=True):
    id: str  # Tool:N, N from 1 over the mocks of that tool
    tool: str
    declared: Mapping[str, Any]

    def answer(self, times: int) -> str | None:
        """The next of the sequence for each hit, then the constant answer; None if there is none."""
        sequence = self.declared.get("return_seq", ())
        if times < len(sequence):
            return text_or_json(sequence[times])
        if "return" in self.declared:
            return text_or_json(self.declared["return"])
        return text_or_json(sequence[-1]) if sequence else None


def _holds(what: str, expected: Any, value: object) -> bool:
    """Whether the input satisfies a condition of a mock."""
    fields = object_in(value)
    path, url, command = fields.get("file_path", fields.get("path")), fields.get("url"), fields.get("command")
    match what:
        case "file_path":
            return isinstance(path, str) and _expanded(path) == _expanded(expected)
        case "file_path_endswith":
            return isinstance(path, str) and (path == expected or path.endswith("/" + expected.lstrip("/")))
        case "url":
            return bool(url == expected)
        case "url_glob":
            return isinstance(url, str) and _glob(expected, url)
        case "command_glob":
            return isinstance(command, str) and _glob(expected, command)
        case "input":
            return is_subset(expected, value)
        case _:  # input_contains
            texts = (str(item) for item in leaves(value) if isinstance(item, str) or is_number(item))
            return any(str(expected).casefold() in text.casefold() for text in texts)


def _expanded(path: str) -> str:
    try:
        return str(Path(path).expanduser())
    except RuntimeError:  # no home folder
        return path


def _glob(pattern: str, text: str) -> bool:
    """Whether `pattern` matches the whole text; `*` matches anything. Takes linear time."""
    return re.match(translate(_OTHER_MAGIC.sub(r"[\g<0>]", pattern)), text) is not None
