"""Cases that nothing looks at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runevals.evaluators import catalogue
from runevals.records import Case
from runevals.suites.health.hint import Hint, case_label


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
