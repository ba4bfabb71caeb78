"""Scripts of suites and skills: what one is called with, what it answers, and who runs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from msgspec import Struct

CallKind = Literal[
    "evaluator", "assertion", "skill", "regex", "regex_many", "regex_groups", "redact", "json_schema"
]
Language = Literal["javascript", "python"]


class Call(Struct, frozen=True, kw_only=True, gc=False):
    """A call of code in the sandbox."""

    kind: CallKind
    code: str  # the source, the pattern, or the schema as canonical JSON
    arguments: Mapping[str, object]
    timeout_s: float = 1.0
    language: Language = "javascript"
    filename: str = "grader"
    memory_bytes: int = 128 * 1024 * 1024


class Answer(Struct, frozen=True, kw_only=True, gc=False):
    """The result of a call.

    A grader's answer has `passed`, `score` (0–1), `reason` and `details`; a skill's, a pattern's or a schema's has
    its `value` as JSON. If `error` has a code, none of them is set, and `reason` says why.
    """

    passed: bool | None = None
    score: float | None = None
    reason: str = ""
    details: Mapping[str, object] = {}
    value: object = None
    error: str | None = None
    duration_s: float = 0.0
    logs: str = ""  # what the code printed, at most 16 KiB


class ScriptRunner(Protocol):
    """Runs the code of a suite; `mode` is the level of isolation, None if no code ran."""

    @property
    def mode(self) -> Literal["strict", "reduced"] | None: ...

    def run(self, call: Call) -> Answer:
        """The answer to `call`; errors are in the answer."""

    def is_quick(self, call: Call) -> bool:
        """Whether `call` is computed in this process, without waiting."""
