"""What looks at too little: cases without a check, capabilities and categories with too few cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from runevals.evaluators import catalogue
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import plural
from runevals.records import Case, Suite
from runevals.records.suite import labels_of
from runevals.suites.health.hint import Hint, case_label

FEWEST_CASES = 3
SMALLEST_SUITE = 10  # in a smaller one everything is thin


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
