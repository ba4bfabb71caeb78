"""Suggestions for misspelt words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runevals.lib.text.numbers import first_of

ALIKE = 60.0  # of 100: from here on, a word is suggested
MISSPELT = 82.0  # from here on, a word counts as misspelt
LEAST_PART = 4  # letters of the end of a name that are enough to mean it


def nearest(word: str, names: Iterable[str], *, least: float = ALIKE) -> str | None:
    """The nearest known word, None if none is close."""
    from rapidfuzz import fuzz, process  # only needed when something is wrong

    match = process.extractOne(word, list(names), scorer=fuzz.ratio, processor=str.casefold, score_cutoff=least)
    return None if match is None else str(match[0])


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """ "; did you mean 'x'?", or the empty text."""
    known = list(names)
    swapped = next((name for name in known if sorted(name) == sorted(word)), None)  # `=>` is `>=`, not `>`
    inside = next((name for name in known if len(word) >= LEAST_PART and name.endswith(word)), None)
    guess = swapped or nearest(word, known) or inside
    return "" if guess is None else f"; did you mean '{guess}'?"


def known_names(word: str, names: Sequence[str]) -> str:
    """The suggestion, and the names: of columns, say, which are written nowhere else."""
    return f"{did_you_mean(word, names)} (there are {first_of(names, 20)})"
