"""The response is close to a reference by BLEU-4."""

from __future__ import annotations

from collections.abc import Iterable

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.evaluators.text.ngrams import bleu, unusable
from runevals.evaluators.text.tokens import tokens
from runevals.records import Verdict


@evaluator("bleu_min")
class BleuMin(Check):
    """Scores sentence BLEU-4 against one reference: unsmoothed, with the brevity penalty; 0 under four tokens.

    Tokens are lower-cased runs of letters and digits; each CJK character stands for itself.

    Options:
        reference: the text to come close to; at least four words.

    Example:
        {"type": "bleu_min", "reference": "Refunds are possible within 30 days", "threshold": 0.3}
        passes: Refunds are possible within 30 days of purchase
        fails: You can return it for 30 days
    """

    default_threshold = 0.5

    reference: str

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if (reason := unusable(self.reference, 4, "BLEU-4")) is not None:
            yield "reference", reason

    def check(self, subject: Subject) -> Verdict:
        score = bleu(tokens(subject.response.text), tokens(self.reference))
        return Verdict(score, f"BLEU-4 {score:.2f}")
