"""The response is nearly a reference."""

from __future__ import annotations

from collections.abc import Iterable

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject, either
from runevals.evaluators.text.edit_distance import too_long
from runevals.records import Problem, Verdict


@evaluator("levenshtein_max")
class LevenshteinMax(Check):
    """Passes when at most so many characters (code points) must be changed, added or removed to get the reference.

    Options:
        reference: the text to come close to.
        value: at most so many edits.

    Example:
        {"type": "levenshtein_max", "reference": "30 days", "value": 2}
        passes: 31 day
        fails: a month
    """

    reference: str
    value: int

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if self.value < 0:
            yield "value", f"value is {self.value}; it must not be negative"

    def never_fails(self, expected: str | None) -> str | None:  # noqa: ARG002 - it has its own reference
        if self.value < len(self.reference):
            return None
        return f"any text of up to {self.value} characters is within so many edits of the reference"

    def check(self, subject: Subject) -> Verdict | Problem:
        from rapidfuzz.distance import Levenshtein  # loaded when first used

        if (problem := too_long(subject.response.text, self.reference, self.value)) is not None:
            return problem
        distance = Levenshtein.distance(subject.response.text, self.reference, score_cutoff=self.value)
        passes = f"{distance} edits, at most {self.value} wanted"
        return either(passes, f"more than {self.value} edits", passed=distance <= self.value)
