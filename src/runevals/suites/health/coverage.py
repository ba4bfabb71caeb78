"""What looks at too little: cases without a check, labels with too few cases, rubrics without a criterion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from runevals.evaluators import catalogue
from runevals.evaluators.text.tokens import tokens
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import plural
from runevals.records import Case, EvaluatorSpec, Suite
from runevals.records.suite import labels_of
from runevals.suites.health.hint import Hint, case_label

FEWEST_CASES = 3
SMALLEST_SUITE = 10  # in a smaller one everything is thin
FEWEST_WORDS = 4  # a CJK character counts as a word
_EMPTY = """
a an the is are be it its this that and or of to for in on with as very well how did does do has have
should must shall needs need will can answer answers response reply output text result results
good great nice fine ok okay correct correctly right accurate accurately proper properly appropriate suitable
helpful useful clear clearly relevant quality high best better complete completely concise
"""
# They fit every answer: a rubric of only these words has no criterion for its case.
EMPTY_WORDS = frozenset(_EMPTY.split())


def thin_labels(suites: Sequence[Suite]) -> Iterator[Hint]:
    """Each label with too few cases, at the location of its first case."""
    for suite in suites:
        if len(suite.cases) < SMALLEST_SUITE:
            continue
        groups: dict[tuple[str, str], list[Case]] = defaultdict(list)
        for case in suite.cases:
            for value in labels_of(case).get("capability", ()):
                groups["capability", value].append(case)
            if case.category:
                groups["category", case.category].append(case)
        for (label, value), cases in groups.items():
            if len(cases) < FEWEST_CASES:
                few = plural(len(cases), "case")
                message = (
                    f"{label} '{one_line(value, 60)}' rests on {few} of {len(suite.cases)}; "
                    f"a loss there may not be detected: add cases until it has {FEWEST_CASES}"
                )
                yield Hint(kind="thin", location=cases[0].location, message=message)


def without_checks(cases: Sequence[Case]) -> Iterator[Hint]:
    """Cases that no check looks at, or only such as need an expected text that is not there."""
    for case in cases:
        checks = [(turn, spec) for turn in case.turns for spec in turn.checks]
        if not checks:
            message = "no check looks at its answer, so it is never measured; add one, or remove the case"
        elif all(turn.expected is None and catalogue.find(spec.name).needs_expected for turn, spec in checks):
            message = "its checks compare with an expected text, and it has none: they are always skipped; add one"
        else:
            continue
        yield Hint(kind="no checks", location=case.location, message=f"{case_label(case)}: {message}")


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
    words, advice = tokens(rubric), "describe what a good answer to this prompt contains or does"
    if len(words) < FEWEST_WORDS:
        return f"'{one_line(rubric, 60)}' is too short to judge by; {advice}"
    if EMPTY_WORDS.issuperset(words):
        return f"'{one_line(rubric, 60)}' has no criterion, because it fits every answer; {advice}"
    return None
