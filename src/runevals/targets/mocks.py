"""Answering a model's tool calls by what a case declares, instead of really calling anything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runevals.lib.parsing.subset import is_subset
from runevals.records import ToolCall
from runevals.records.trace import leaves

DENIED = "denied: no mock answers this call"
NO_TOOL = "error: this tool cannot be used here"


class Mocks:
    """The mocks of one conversation, in order; the first that matches answers. Keeps count of `return_seq`."""

    def __init__(self, declared: Sequence[Mapping[str, Any]], *, strict: bool) -> None:
        """`strict`: a call that no mock answers is denied."""
        self._strict = strict
        self._mocks = [_Mock.of(told, declared[: index + 1]) for index, told in enumerate(declared)]
        self._hits: dict[str, int] = {}

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that have mocks, each once; `*` is none."""
        return tuple(dict.fromkeys(mock.tool for mock in self._mocks if mock.tool != "*"))

    def answered(self, name: str, given: object) -> ToolCall:
        """The call with its answer."""
        for mock in self._mocks:
            if mock.tool in ("*", name) and _matches(mock.match, given):
                times = self._hits.get(mock.id, 0)
                answer = mock.answer(times)
                if answer is None:
                    continue  # its sequence is over, and it has nothing else
                self._hits[mock.id] = times + 1
                return ToolCall(name=name, input=given, output=answer, ok=True, mock=mock.id)
        return ToolCall(name=name, input=given, output=DENIED if self._strict else NO_TOOL, ok=False)


@dataclass(frozen=True, slots=True)
class _Mock:
    id: str  # Tool:N, N from 1 over the mocks of that tool
    tool: str
    match: Mapping[str, Any]
    returns: object
    has_return: bool
    sequence: tuple[object, ...]

    @classmethod
    def of(cls, told: Mapping[str, Any], so_far: Sequence[Mapping[str, Any]]) -> _Mock:
        number = sum(other["tool"].casefold() == told["tool"].casefold() for other in so_far)
        return cls(
            id=f"{told['tool']}:{number}",
            tool=told["tool"],
            match=told.get("match", {}),
            returns=told.get("return"),
            has_return="return" in told,
            sequence=tuple(told.get("return_seq", ())),
        )

    def answer(self, times: int) -> str | None:
        """One of the sequence for each hit, then what it returns always; None where there is no more."""
        if times < len(self.sequence):
            return _text(self.sequence[times])
        if self.has_return:
            return _text(self.returns)
        return _text(self.sequence[-1]) if self.sequence else None


def _matches(match: Mapping[str, Any], given: object) -> bool:
    """Whether the input has everything that a mock asks of it."""
    fields = given if isinstance(given, dict) else {}
    path, url, command = fields.get("file_path", fields.get("path")), fields.get("url"), fields.get("command")
    return all(_holds(what, wanted, (path, url, command), given) for what, wanted in match.items())


def _holds(what: str, wanted: Any, known: tuple[object, object, object], given: object) -> bool:
    path, url, command = known
    match what:
        case "file_path":
            return isinstance(path, str) and _expanded(path) == _expanded(wanted)
        case "file_path_endswith":
            return isinstance(path, str) and (path == wanted or path.endswith("/" + wanted.lstrip("/")))
        case "url":
            return isinstance(url, str) and url == wanted
        case "url_glob":
            return isinstance(url, str) and _glob(wanted, url)
        case "command_glob":
            return isinstance(command, str) and _glob(wanted, command)
        case "input":
            return is_subset(wanted, given)
        case _:  # input_contains
            return any(str(wanted).casefold() in text.casefold() for text in _texts(given))


def _expanded(path: str) -> str:
    try:
        return str(Path(path).expanduser())
    except RuntimeError:  # there is no home
        return path


def _glob(pattern: str, text: str) -> bool:
    """`*` stands for anything, the rest for itself, over the whole text; in time that grows with both alone."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == first
    last = rest.pop()
    if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in rest:
        found = text.find(part, at, end)
        if found == -1:
            return False
        at = found + len(part)
    return True


def _texts(value: object) -> Iterator[str]:
    """Every text and number in `value`."""
    for leaf in leaves(value):
        if isinstance(leaf, str | int | float) and not isinstance(leaf, bool):
            yield str(leaf)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
