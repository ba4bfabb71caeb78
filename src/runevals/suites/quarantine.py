"""The list of cases that are known to flake: `runevals.quarantine.yaml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.parsing.source import Source
from runevals.lib.text.suggest import did_you_mean
from runevals.records import Case, CaseReport, FileProblem, Weakening
from runevals.records.errors import InvalidSuite
from runevals.records.report import is_critical
from runevals.suites.accepted import entries_in

MOST = 0.10  # of a suite's cases
NOTICES = ("quarantine: ", "quarantined: ")  # how the notices of a list begin


class QuarantineEntry(Struct, frozen=True, kw_only=True):
    """One case on the list; `suite` None is any suite that has it."""

    key: str
    suite: str | None
    owner: str
    reason: str
    expires: date  # the last valid day
    place: FileProblem  # what is wrong with it is said there, as a warning


class Quarantine(Struct, frozen=True, kw_only=True):
    """The cases that no gate looks at, by suite and key, and what its reader should know of the list."""

    cases: frozenset[tuple[str, str]] = frozenset()
    notices: tuple[str, ...] = ()
    problems: tuple[FileProblem, ...] = ()  # entries that no list should have; a run says so, and ignores them
    weakenings: tuple[Weakening, ...] = ()  # entries that a change would add


def read_entries(content: bytes, suffix: str, display_path: str) -> tuple[QuarantineEntry, ...]:
    """The list. Raises InvalidSuite with every problem of the file."""
    source, entries = entries_in(content, suffix, display_path, "quarantine-1")
    return tuple(_entry(item, source, index) for index, item in enumerate(entries))


def _entry(item: dict[str, str], source: Source, index: int) -> QuarantineEntry:
    try:
        expires = date.fromisoformat(item["expires"])
    except ValueError:
        problem = source.problem((index, "expires"), f"{item['expires']} is not a calendar date")
        raise InvalidSuite([problem]) from None
    return QuarantineEntry(
        key=item["key"],
        suite=item.get("suite"),
        owner=item["owner"],
        reason=item["reason"],
        expires=expires,
        place=source.warning((index, "key"), ""),
    )


def active_entries(
    entries: Sequence[QuarantineEntry], cases: Sequence[Case | CaseReport], today: date
) -> Quarantine:
    """The entries that apply to these cases: not expired, not critical, and at most a tenth of a suite."""
    problems: list[FileProblem] = []
    active: dict[tuple[str, str], QuarantineEntry] = {}
    for entry in entries:
        of_suite = [case for case in cases if entry.suite in (None, case.suite)]
        of_key = [case for case in of_suite if case.key == entry.key]
        matches = [case for case in of_key if not is_critical(case)]
        if len(matches) < len(of_key):
            message = f"{entry.key} is critical, so it counts; remove it from the list"
            problems.append(replace(entry.place, message=message, level="error"))
        if not of_key:
            near = did_you_mean(entry.key, [case.key for case in of_suite])
            message = f"no case {entry.key} is in the suites of this run{near}"
            problems.append(replace(entry.place, message=message))
        elif entry.expires < today:
            message = f"{entry.key} expired on {entry.expires} and counts again ({entry.owner})"
            problems.append(replace(entry.place, message=message))
        else:
            active.update({(case.suite, case.key): entry for case in matches})
    in_suite = Counter(case.suite for case in cases)
    counts = Counter(suite for suite, _ in active)
    for suite in [suite for suite, number in counts.items() if number > MOST * in_suite[suite]]:
        message = (
            f"{counts[suite]} of {in_suite[suite]} cases of {suite} are listed, more than a tenth; "
            "none of them is ignored (of fewer than 10 cases, none can be)"
        )
        first = next(entry for case, entry in active.items() if case[0] == suite)
        problems.append(replace(first.place, message=message))
        active = {case: entry for case, entry in active.items() if case[0] != suite}
    notices = [f"quarantine: {problem.message}" for problem in problems]
    notices += [f"quarantined: {key} ({entry.owner}: {entry.reason})" for (_, key), entry in active.items()]
    return Quarantine(cases=frozenset(active), notices=tuple(notices), problems=tuple(problems))


def weakened_entries(
    of_base: Sequence[QuarantineEntry], of_head: Iterable[QuarantineEntry], display_path: str
) -> tuple[Weakening, ...]:
    """What a change adds to the list, or keeps on it for longer."""
    until = {(entry.suite, entry.key): entry.expires for entry in of_base}
    return tuple(
        Weakening(
            suite=display_path,
            key=entry.key,
            message="was added to the quarantine list; until that is merged, it counts",
        )
        for entry in of_head
        if (old := until.get((entry.suite, entry.key))) is None or old < entry.expires
    )
