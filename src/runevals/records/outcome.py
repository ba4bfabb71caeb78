"""What an evaluator finds."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import force_setattr


class Layer(StrEnum):
    """The three layers a check can count in."""

    FACT = "fact"
    BEHAVIOR = "behavior"
    JUDGE = "judge"


class Outcome(StrEnum):
    """What became of a check, an attempt or a case; `measured` says whether it passed or failed."""

    measured: bool

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    SKIPPED = "skipped"

    def __new__(cls, word: str) -> Outcome:
        """Every comparison asks for `measured` often, so it is no property."""
        outcome = str.__new__(cls, word)
        outcome._value_ = word
        outcome.measured = word in ("passed", "failed")
        return outcome


FROM_0_TO_1: tuple[float, float | None] = (0.0, 1.0)


class Scale(Struct, frozen=True, gc=False):
    """The range of an evaluator's own score, higher is better; `maximum` None is open-ended."""

    minimum: float
    maximum: float | None
    range: tuple[float, float | None] = FROM_0_TO_1  # of these two, one for all results

    def __post_init__(self) -> None:
        if self.range != (self.minimum, self.maximum):
            force_setattr(self, "range", (self.minimum, self.maximum))

    def holds(self, score: float) -> bool:
        """Whether `score` lies on this scale; NaN does not."""
        return self.minimum <= score and (self.maximum is None or score <= self.maximum)

    def __str__(self) -> str:
        return f"{self.minimum:g} {'upwards' if self.maximum is None else f'to {self.maximum:g}'}"

    def share(self, score: float) -> float | None:
        """`score` as a share 0–1 of this scale; None if the scale is open-ended."""
        return None if self.maximum is None else (score - self.minimum) / (self.maximum - self.minimum)


class Verdict(Struct, frozen=True, gc=False):
    """A score on the evaluator's own scale, one sentence of reason, and details.

    `score` None means that there was nothing to judge. `passed` is set by evaluators that decide themselves;
    the score of the others is compared with their threshold.
    """

    score: float | None
    reason: str
    details: Mapping[str, object] = {}
    passed: bool | None = None

    @classmethod
    def skipped(cls, reason: str) -> Verdict:
        """Nothing to judge, and why."""
        return cls(None, reason)


PASS_OR_FAIL = Scale(0.0, 1.0)
ONE_TO_FIVE = Scale(1.0, 5.0)
