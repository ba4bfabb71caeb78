"""Cases that ask the same, or nearly.

Comparing each with each would take minutes for ten thousand cases. Texts that are nearly the same share rare
words, so each is only compared with others that have one of its three rarest words, and the last few of those;
long texts are first compared at their ends.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from runevals.evaluators.text.tokens import tokens
from runevals.lib.parsing.canonical import canonical
from runevals.records import Case
from runevals.suites.health.hint import Hint, named

ALIKE = 90.0  # percent, of rapidfuzz's ratio
RAREST = 3
LAST = 10  # of the texts with a word that are compared
END = 200  # characters at each end
MOST_WHOLE = 3  # whole texts that one is compared with
MOST_CHARACTERS = 8000  # of a whole text
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    case: Case
    text: str

    @property
    def ends(self) -> str:
        return self.text if len(self.text) <= 2 * END else self.text[:END] + self.text[-END:]

    @property
    def wanted(self) -> object:
        return [(turn.expected, turn.checks) for turn in self.case.turns]


def near_duplicates(cases: Sequence[Case]) -> Iterator[Hint]:
    """A case that asks what an earlier one asks; nearly the same only where both want the same answer."""
    every = [_Asked(case, _text(case)) for case in cases]
    words = [set(tokens(asked.ends)) for asked in every]
    frequency = Counter(word for found in words for word in found)
    same: dict[tuple[str | None, str], _Asked] = {}
    by_word: dict[tuple[str | None, str], deque[_Asked]] = defaultdict(lambda: deque(maxlen=LAST))
    for asked, found in zip(every, words, strict=True):
        group = asked.case.group
        first = same.setdefault((group, asked.text), asked)
        if first is not asked:
            yield _finding(asked.case, first.case, "asks the same as")
            continue
        rarest = sorted(found, key=lambda word: (frequency[word], word))[:RAREST]
        buckets = [by_word[group, word] for word in rarest]
        like = _like(asked, dict.fromkeys(other for bucket in buckets for other in bucket))
        if like is not None:
            yield _finding(asked.case, like.case, "asks nearly the same as")
        for bucket in buckets:
            bucket.append(asked)


def _text(case: Case) -> str:
    prompts = [turn.prompt for turn in case.turns]
    asked = prompts if any(prompts) else [canonical(case.variables)]  # the target's own prompt is the same for all
    return " ".join("\n".join(asked).casefold().split())


def _like(asked: _Asked, others: Iterable[_Asked]) -> _Asked | None:
    from rapidfuzz import fuzz  # loaded when first used

    close = (
        other
        for other in others
        if fuzz.ratio(asked.ends, other.ends, score_cutoff=ALIKE) and asked.wanted == other.wanted
    )
    for other in islice(close, MOST_WHOLE):
        one, two = asked.text[:MOST_CHARACTERS], other.text[:MOST_CHARACTERS]
        if fuzz.ratio(one, two, score_cutoff=ALIKE) and _NUMBERS.findall(one) == _NUMBERS.findall(two):
            return other
    return None


def _finding(case: Case, other: Case, how: str) -> Hint:
    told = (
        f"{named(case)} {how} {named(other)} ({other.location}); keep one, or make them differ in what they test"
    )
    return Hint(kind="near-duplicate", location=case.location, message=told)
