"""The response is not written in capitals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from runevals.evaluators import Check, Subject, Verdict, evaluator


@evaluator("no_shouting")
@dataclass(frozen=True, kw_only=True)
class NoShouting(Check):
    """Passes when at most so many words in a row are in capitals.

    Options:
        most: so many words in capitals may follow each other.

    Example:
        "evaluators": {"no_shouting": {"most": 2}}
        passes: The UN and NATO met.
        fails: READ THE MANUAL FIRST
    """

    most: int = 1

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if self.most < 0:
            yield "most", f"most is {self.most}; it must not be negative"

    def check(self, subject: Subject) -> Verdict:
        longest = run = 0
        for word in subject.response.text.split():
            run = run + 1 if word.isupper() and len(word) > 1 else 0
            longest = max(longest, run)
        if longest <= self.most:
            return Verdict(1.0, "nothing is shouted")
        return Verdict(0.0, f"{longest} words in a row are in capitals")
