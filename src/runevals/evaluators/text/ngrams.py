"""ROUGE-N recall and BLEU-4 over tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp, fsum, log


def rouge_recall(response: Sequence[str], reference: Sequence[str], n: int) -> float:
    """Clipped n-gram overlap over the reference's n-grams, 0–1 (Lin 2004).

    A reference without n-grams is covered by a response without any, and by no other.
    """
    wanted, found = ngrams(reference, n), ngrams(response, n)
    if not wanted:
        return float(not found)
    return sum((wanted & found).values()) / wanted.total()


def bleu(response: Sequence[str], reference: Sequence[str]) -> float:
    """The geometric mean of the clipped precisions 1–4, times exp(1 − r/c) where c < r; 0–1 (Papineni 2002).

    Not smoothed: 0 as soon as one precision is 0, and under four tokens.
    """
    precisions = []
    for n in range(1, 5):
        found = ngrams(response, n)
        overlap = sum((found & ngrams(reference, n)).values())
        if not overlap:
            return 0.0
        precisions.append(overlap / found.total())
    c, r = len(response), len(reference)
    brevity = 1.0 if c >= r else exp(1 - r / c)
    return min(1.0, brevity * exp(fsum(log(precision) for precision in precisions) / 4))


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """How often each run of n tokens occurs."""
    return Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))
