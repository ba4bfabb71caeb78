"""The response covers the n-grams of a reference."""

from __future__ import annotations

from collections.abc import Iterable

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.text.ngrams import rouge_recall, unusable
from runevals.evaluators.text.tokens import tokens
from runevals.records import Verdict


@evaluator("rouge_n_min")
class RougeNMin(Check):
    """Scores ROUGE-N recall: the share of the reference's n-grams that the response has, counted at most as often.

    Tokens are lower-cased runs of letters and digits; each CJK character stands for itself.

    Options:
        reference: the text to come close to; at least n words.
        n: how long the n-grams are, from 1.

    Example:
        {"type": "rouge_n_min", "reference": "Refunds within 30 days", "threshold": 0.6}
        passes: Refunds are paid within 30 days.
        fails: Refunds are paid in a month.
    """

    default_threshold = 0.5

    reference: str
    n: int = 1

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if self.n < 1:
            yield "n", f"n is {self.n}; it must be at least 1"
        elif (reason := unusable(self.reference, self.n, f"ROUGE-{self.n}")) is not None:
            yield "reference", reason

    def check(self, subject: Subject) -> Verdict:
        score = rouge_recall(tokens(subject.response.text), tokens(self.reference), self.n)
        return Verdict(score, f"ROUGE-{self.n} recall {score:.2f}")
