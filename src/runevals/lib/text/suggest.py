"""The word somebody probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` most likely was meant to be, None if nothing is close."""
    from rapidfuzz import fuzz, process  # only needed when something is wrong

    match = process.extractOne(word, list(known), scorer=fuzz.ratio, processor=str.casefold, score_cutoff=60)
    return None if match is None else str(match[0])


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """ "; did you mean 'x'?", or the empty text."""
    guess = nearest(word, known)
    return "" if guess is None else f"; did you mean '{guess}'?"
