"""Cases that ask the same, or nearly.

Comparing each with each would take minutes for ten thousand cases. Texts that are nearly the same share rare
words, so each is only compared with others that have one of its three rarest words, and the last few of those;
long texts are first compared at their ends.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from runevals.evaluators.text.tokens import tokens
from runevals.lib.parsing.canonical import canonical
from runevals.records import Case
from runevals.suites.health.hint import Hint, case_label

ALIKE = 90.0  # percent, of rapidfuzz's ratio
RAREST = 3
LAST = 10  # of the texts with a word that are compared
END = 200  # characters at each end
MOST_WHOLE = 3  # whole texts that one is compared with
MOST_CHARACTERS = 8000  # of a whole text
_NUMBERS = re.compile(r"\d+")


class _Prompts(Struct, frozen=True, eq=False):
    case: Case
    text: str

    @property
    def ends(self) -> str:
        return self.text if len(self.text) <= 2 * END else self.text[:END] + self.text[-END:]

    @property
    def expectations(self) -> object:
        return [(turn.expected, turn.checks) for turn in self.case.turns]


def near_duplicates(cases: Sequence[Case]) -> Iterator[Hint]:
    """A case that asks what an earlier one asks; nearly the same only where both want the same answer."""
    for case, earlier, same in similar_cases(cases):
        how = "asks the same as" if same else "asks nearly the same as"
        message = (
            f"{case_label(case)} {how} {case_label(earlier)} ({earlier.location}); keep one, or make them test "
            "different things"
        )
        yield Hint(kind="near-duplicate", location=case.location, message=message)


def similar_cases(cases: Sequence[Case]) -> Iterator[tuple[Case, Case, bool]]:
    """(a case, an earlier one that asks the same or nearly the same, whether it is the same)."""
    every = [_Prompts(case, _text(case)) for case in cases]
    words = [set(tokens(prompts.ends)) for prompts in every]
    frequency = Counter(word for tokens_ in words for word in tokens_)
    same: dict[tuple[str | None, str], _Prompts] = {}
    by_word: dict[tuple[str | None, str], deque[_Prompts]] = defaultdict(lambda: deque(maxlen=LAST))
    for prompts, tokens_ in zip(every, words, strict=True):
        group = prompts.case.group
        first = same.setdefault((group, prompts.text), prompts)
        if first is not prompts:
            yield prompts.case, first.case, True
            continue
        rarest = sorted(tokens_, key=lambda word: (frequency[word], word))[:RAREST]
        buckets = [by_word[group, word] for word in rarest]
        like = _like(prompts, dict.fromkeys(candidate for bucket in buckets for candidate in bucket))
        if like is not None:
            yield prompts.case, like.case, False
        for bucket in buckets:
            bucket.append(prompts)


def _text(case: Case) -> str:
    prompts = [turn.prompt for turn in case.turns]
    return " ".join("\n".join(prompts if any(prompts) else [canonical(case.variables)]).casefold().split())


def _like(prompts: _Prompts, candidates: Iterable[_Prompts]) -> _Prompts | None:
    from rapidfuzz import fuzz  # loaded when first used

    close = (
        candidate
        for candidate in candidates
        if fuzz.ratio(prompts.ends, candidate.ends, score_cutoff=ALIKE)
        and prompts.expectations == candidate.expectations
    )
    for candidate in islice(close, MOST_WHOLE):
        a, b = prompts.text[:MOST_CHARACTERS], candidate.text[:MOST_CHARACTERS]
        if fuzz.ratio(a, b, score_cutoff=ALIKE) and _NUMBERS.findall(a) == _NUMBERS.findall(b):
            return candidate
    return None
