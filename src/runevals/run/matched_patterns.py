"""Different patterns of many answers, matched in one call of the sandbox instead of one call each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from runevals.records.script import Answer, Call, ScriptRunner

AT_ONCE = 200  # answers
FEWEST = 20  # different patterns: below, each is compiled once in this process
MOST_CHARACTERS = 1_000_000  # of all texts together

Match = tuple[str, str, str]  # pattern, flags, text


def with_matches(sandbox: ScriptRunner, calls: Collection[Call]) -> ScriptRunner:
    """`sandbox`; the calls of patterns among `calls` are answered already, if there are many different ones."""
    matches = list(dict.fromkeys(_match(call) for call in calls if call.kind == "regex"))
    characters = sum(len(text) for _, _, text in matches)
    if len({match[:2] for match in matches}) < FEWEST or characters > MOST_CHARACTERS:
        return sandbox
    answer = sandbox.run(Call(kind="regex_many", code="", arguments={"calls": matches}))
    return _Matched(sandbox, _by_match(matches, answer.value))


def _by_match(matches: Sequence[Match], values: object) -> Mapping[Match, bool]:
    """What was found; not those that are refused, which their own call explains."""
    if not isinstance(values, list) or len(values) != len(matches):
        return {}
    return {match: value for match, value in zip(matches, values, strict=True) if isinstance(value, bool)}


def _match(call: Call) -> Match:
    return call.code, str(call.arguments["flags"]), str(call.arguments["text"])


class _Matched:
    """A sandbox that knows some answers."""

    def __init__(self, sandbox: ScriptRunner, matches: Mapping[Match, bool]) -> None:
        self._sandbox = sandbox
        self._matches = matches

    @property
    def mode(self) -> Literal["strict", "reduced"] | None:
        return self._sandbox.mode

    def run(self, call: Call) -> Answer:
        result = self._matches.get(_match(call)) if call.kind == "regex" else None
        return self._sandbox.run(call) if result is None else Answer(value=result)

    def is_quick(self, call: Call) -> bool:
        return (call.kind == "regex" and _match(call) in self._matches) or self._sandbox.is_quick(call)
