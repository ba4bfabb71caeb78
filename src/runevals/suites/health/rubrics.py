"""Vague rubrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runevals.evaluators.text.tokens import tokens
from runevals.lib.text.escape import one_line
from runevals.records import Case, EvaluatorSpec
from runevals.suites.health.hint import Hint

FEWEST_WORDS = 4  # a CJK character counts as a word
_EMPTY = """
a an the is are be it its this that and or of to for in on with as very well how did does do has have
should must shall needs need will can answer answers response reply output text result results
good great nice fine ok okay correct correctly right accurate accurately proper properly appropriate suitable
helpful useful clear clearly relevant quality high best better complete completely concise
"""
# They fit every answer: a rubric of only these words has no criterion for its case.
EMPTY_WORDS = frozenset(_EMPTY.split())


def unclear_rubrics(cases: Sequence[Case]) -> Iterator[Hint]:
    """Rubrics and dimensions of a few words, or of words only that fit every answer."""
    for case in cases:
        for turn in case.turns:
            for spec in turn.checks:
                for rubric in _rubrics(spec):
                    message = _unclear(str(rubric.options.get("rubric", "")))
                    if message is not None:
                        location = rubric.location or spec.location or case.location
                        name = f"{one_line(rubric.id, 40)}: " if rubric.id else ""
                        yield Hint(kind="unclear rubric", location=location, message=name + message)


def _rubrics(spec: EvaluatorSpec) -> Iterator[EvaluatorSpec]:
    if spec.name == "rubric":
        yield spec
    for child in spec.children:
        yield from _rubrics(child)


def _unclear(rubric: str) -> str | None:
    words = tokens(rubric)
    advice = "describe what a good answer to this prompt contains or does"
    if len(words) < FEWEST_WORDS:
        return f"'{one_line(rubric, 60)}' is too short to judge by; {advice}"
    if EMPTY_WORDS.issuperset(words):
        return f"'{one_line(rubric, 60)}' has no criterion, because it fits every answer; {advice}"
    return None
