"""The list of cases that are known to flake: `runevals.quarantine.yaml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from runevals.lib.parsing.schema import complaints
from runevals.lib.parsing.source import Source, parse_source
from runevals.records import Case, Weakening
from runevals.records.errors import InvalidSuite

MOST = 0.10  # of a suite's cases


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineEntry:
    """One case on the list; `suite` None is any suite that has it."""

    key: str
    suite: str | None
    owner: str
    reason: str
    expires: date  # the last day it holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """The cases that no gate looks at, by suite and key, and what its reader should know of the list."""

    cases: frozenset[tuple[str, str]] = frozenset()
    notices: tuple[str, ...] = ()


def read_entries(content: bytes, suffix: str, shown: str) -> tuple[QuarantineEntry, ...]:
    """The list. Raises InvalidSuite with every problem of the file."""
    source = parse_source(content, suffix, shown)
    problems = [
        source.problem(complaint.place, complaint.message, key=complaint.key, rule=complaint.rule)
        for complaint in complaints("runevals.suites", "quarantine-1", source.value)
    ]
    if problems:
        raise InvalidSuite(problems)
    assert isinstance(source.value, list)  # noqa: S101 - the schema says so
    return tuple(_entry(item, source, place) for place, item in enumerate(source.value))


def _entry(item: dict[str, str], source: Source, place: int) -> QuarantineEntry:
    try:
        expires = date.fromisoformat(item["expires"])
    except ValueError:
        problem = source.problem((place, "expires"), f"{item['expires']} is no day of the calendar")
        raise InvalidSuite([problem]) from None
    return QuarantineEntry(
        key=item["key"],
        suite=item.get("suite"),
        owner=item["owner"],
        reason=item["reason"],
        expires=expires,
    )


def in_force(entries: Sequence[QuarantineEntry], cases: Sequence[Case], today: date) -> Quarantine:
    """What of the list holds for these cases: nothing expired, and at most a tenth of a suite."""
    notices: list[str] = []
    listed: dict[tuple[str, str], QuarantineEntry] = {}
    for entry in entries:
        found = [c for c in cases if c.key == entry.key and entry.suite in (None, c.suite)]
        if not found:
            notices.append(f"quarantine: there is no case {entry.key}; take it off the list")
        elif entry.expires < today:
            notices.append(f"quarantine: {entry.key} expired on {entry.expires} and counts again ({entry.owner})")
        else:
            listed.update({(case.suite, case.key): entry for case in found})
    in_suite = Counter(case.suite for case in cases)
    wanted = Counter(suite for suite, _ in listed)
    for suite in [suite for suite, number in wanted.items() if number > MOST * in_suite[suite]]:
        notices.append(
            f"quarantine: {wanted[suite]} of {in_suite[suite]} cases of {suite} are listed, more than a tenth; "
            "none of them is left out"
        )
        listed = {case: entry for case, entry in listed.items() if case[0] != suite}
    notices += [f"quarantined: {key} ({entry.owner}: {entry.reason})" for (_, key), entry in listed.items()]
    return Quarantine(cases=frozenset(listed), notices=tuple(notices))


def grown(
    of_base: Sequence[QuarantineEntry], of_head: Iterable[QuarantineEntry], shown: str
) -> tuple[Weakening, ...]:
    """What a change adds to the list, or keeps on it for longer."""
    until = {(entry.suite, entry.key): entry.expires for entry in of_base}
    return tuple(
        Weakening(
            suite=shown,
            key=entry.key,
            message="was added to the quarantine list; until that is merged, it counts",
        )
        for entry in of_head
        if (known := until.get((entry.suite, entry.key))) is None or known < entry.expires
    )
