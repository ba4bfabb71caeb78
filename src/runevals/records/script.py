"""Scripts of suites and skills: what one is called with, what it answers, and who runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

CallKind = Literal["evaluator", "assertion", "skill", "regex", "regex_groups", "redact", "json_schema"]
Language = Literal["javascript", "python"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What the sandbox is asked to run."""

    kind: CallKind
    code: str  # the source, the pattern, or the schema as canonical JSON
    arguments: Mapping[str, object]
    timeout_s: float = 1.0
    language: Language = "javascript"
    filename: str = "grader"
    memory_bytes: int = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a worker found.

    A grader's answer has `passed`, `score` (0–1), `reason` and `details`; a skill's, a pattern's or a schema's has
    its `value` as JSON; where `error` has a code there is none of them, and `reason` says why.
    """

    passed: bool | None = None
    score: float | None = None
    reason: str = ""
    details: Mapping[str, object] = field(default_factory=dict)
    value: object = None
    error: str | None = None
    duration_s: float = 0.0
    logs: str = ""  # what the code printed, at most 16 KiB


class ScriptRunner(Protocol):
    """Runs what a suite brings along; `mode` is how well it was locked in, None where no code ran."""

    @property
    def mode(self) -> Literal["strict", "reduced"] | None: ...

    def run(self, call: Call) -> Answer:
        """The answer to `call`; what goes wrong is in the answer."""

    def is_quick(self, call: Call) -> bool:
        """Whether `call` is answered at once."""
