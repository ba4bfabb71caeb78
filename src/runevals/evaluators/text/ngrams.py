"""ROUGE-N recall and BLEU-4 over tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import exp, fsum, log

from runevals.evaluators.text.tokens import tokens
from runevals.lib.text.numbers import plural

MOST_NGRAM_WORDS = 10_000_000  # words of all n-grams of a reference together: less than a gigabyte


def rouge_recall(response: Sequence[str], reference: Sequence[str], n: int) -> float:
    """Clipped n-gram overlap over the reference's n-grams, 0–1 (Lin 2004).

    0 for a reference without n-grams, as in Google's implementation: nothing of it can be found.
    """
    reference_ngrams = ngrams(reference, n)
    response_ngrams = Counter(ngram for ngram in _runs(response, n) if ngram in reference_ngrams)
    return sum((reference_ngrams & response_ngrams).values()) / max(1, reference_ngrams.total())


def bleu(response: Sequence[str], reference: Sequence[str]) -> float:
    """The geometric mean of the clipped precisions 1–4, times exp(1 − r/c) where c < r; 0–1 (Papineni 2002).

    Not smoothed: 0 as soon as one precision is 0, and under four tokens.
    """
    precisions = []
    for n in range(1, 5):
        response_ngrams = ngrams(response, n)
        overlap = sum((response_ngrams & ngrams(reference, n)).values())
        if not overlap:
            return 0.0
        precisions.append(overlap / response_ngrams.total())
    c, r = len(response), len(reference)
    brevity = 1.0 if c >= r else exp(1 - r / c)
    return min(1.0, brevity * exp(fsum(log(precision) for precision in precisions) / 4))


def unusable(reference: str, n: int, measure: str) -> str | None:
    """What is wrong with a reference without n-grams, which no response can score on, or with too many."""
    words = len(tokens(reference))
    if words * n > MOST_NGRAM_WORDS:
        return f"reference has {words:,} words, which are too many to compare in runs of {n}; use a smaller n"
    if words >= n:
        return None
    return (
        f"reference has {plural(words, 'word')}, but {measure} compares runs of {n}, so no response can score; "
        "write a longer reference, or use contains"
    )


def ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """How often each run of n tokens occurs."""
    return Counter(_runs(words, n))


def _runs(words: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[start : start + n]) for start in range(len(words) - n + 1))
