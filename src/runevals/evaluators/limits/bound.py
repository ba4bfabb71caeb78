"""At least, or at most, so much of something that an answer has."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from runevals.evaluators.kinds import Check, Subject, missing
from runevals.evaluators.text.tokens import words_in
from runevals.records import Layer, Problem, Verdict


@dataclass(frozen=True, kw_only=True)
class Bound(Check):
    """Passes when what is measured is at least, or at most, `value`; both inclusive.

    What the target never reported is an error (`evidence_missing`), never a pass.
    """

    layer: ClassVar[Layer] = Layer.BEHAVIOR
    unit: ClassVar[str]
    missing: ClassVar[str] = "the target does not report it"

    value: float

    @property
    def at_least(self) -> bool:
        """Whether `value` is the least, not the most, as the evaluator's name says."""
        return "min" in self.name

    @abstractmethod
    def measure(self, subject: Subject) -> float | None:
        """The measured amount; None if unknown."""

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if self.value < 0:
            yield "value", f"value is {self.value:g}; it must not be negative"

    def never_fails(self, expected: str | None) -> str | None:  # noqa: ARG002 - it looks at no expected text
        always = self.at_least and not self.value
        return f"there are always at least {self.value:g} {self.unit}" if always else None

    def check(self, subject: Subject) -> Verdict | Problem:
        value = self.measure(subject)
        if value is None:
            return missing(self.missing)
        passed = value >= self.value if self.at_least else value <= self.value
        limit = f"at {'least' if self.at_least else 'most'} {self.value:g} wanted"
        return Verdict(float(passed), f"{value:.6g} {self.unit}, {limit}")


@dataclass(frozen=True, kw_only=True)
class CharactersBound(Bound):
    """Bounds the length of the response."""

    unit = "characters"

    value: int

    def measure(self, subject: Subject) -> float | None:
        return len(subject.response.text)


@dataclass(frozen=True, kw_only=True)
class WordsBound(Bound):
    """Bounds the number of words, which white space separates; each CJK character is one."""

    unit = "words"

    value: int

    def measure(self, subject: Subject) -> float | None:
        return sum(words_in(chunk) for chunk in subject.response.text.split())


@dataclass(frozen=True, kw_only=True)
class TurnsBound(Bound):
    """Bounds the turns that the target took."""

    unit = "turns"
    missing = "the target does not report its turns"

    value: int

    def measure(self, subject: Subject) -> float | None:
        return subject.response.turns
