"""Capabilities and categories that rest on too few cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import plural
from runevals.records import Case, Suite
from runevals.records.suite import labels_of
from runevals.suites.health.hint import Hint

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
