"""Which hunks lost which cases, one line for each set of hunks; and which hunks are noticed by a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runevals.lib.nullable import grouped, total
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import joined, limited, money, p_value, phrase, plural, short_list
from runevals.records import Blame, BlamedCase, Hunk, HunkCoverage

MOST_LINES = 20
MOST_KEYS = 5
MOST_HUNKS = 100  # of the coverage
MOST_PLACES = 20  # of one case
LONGEST_PLACE = 120


def plain(blame: Blame) -> Iterator[str]:
    """The lines for a terminal."""
    yield from lines(blame)
    files = plural(blame.files, "file")
    own = phrase(blame.uncommitted, ", and what is not committed yet")
    yield f"Put back: {plural(blame.hunks, 'hunk')} in {files} since {one_line(blame.base[:7])}{own}"
    if blame.coverage:
        yield "Coverage of the change:"
        yield from (f"  {line}" for line in coverage_lines(blame))


def lines(blame: Blame | None) -> list[str]:
    """One line of plain text for each set of hunks, which it begins with."""
    return limited([] if blame is None else _groups(blame), MOST_LINES, _line)


def coverage_lines(blame: Blame | None) -> list[str]:
    """One line of plain text for each hunk of the coverage, those that no case notices first."""
    coverage = () if blame is None else blame.coverage
    hunks = sorted(coverage, key=lambda one: any((one.cases, one.p_value is not None, one.reason)))
    return limited(hunks, MOST_HUNKS, _of_hunk)


def _groups(blame: Blame) -> list[list[BlamedCase]]:
    """The cases by what lost them; those without an answer come last, by their reason."""
    cases = sorted(blame.cases, key=lambda case: not case.hunks)
    return [*grouped(((case.hunks, case.put_back, case.reason), case) for case in cases).values()]


def _line(cases: Sequence[BlamedCase]) -> str:
    """One line on cases with the same answer."""
    case, keys = cases[0], short_list([case.key for case in cases], MOST_KEYS)
    alike = sum(case.alike for case in cases)
    rest = f"; not searched: {plural(alike, 'case')} that failed alike" if alike else ""
    if not case.hunks:
        why = one_line(case.reason, 300)
        searched = f"not found: {why} ({_effort(cases)})" if case.calls else f"not searched: {why}"
        return f"{keys}: {searched}{rest}"
    places = [_place(hunk) for hunk in case.hunks[:MOST_PLACES]]
    put_back = case.put_back or case.hunks
    together = " together" if len(case.hunks) > len(put_back) else ""
    what = "put back"
    if len(places) > 1:
        all_of_them = "both" if len(places) == 2 else "all of them"
        what = f"{all_of_them if len(put_back) > 1 else _place(put_back[0])} put back"
    if len(case.hunks) > MOST_PLACES:
        places.append(f"{len(case.hunks) - MOST_PLACES} more")
    runs = f"{what}: {_of(cases, 'head')} → {_of(cases, 'restored')}"
    return f"{joined(places)}{together} lost {keys} ({runs}; {_effort(cases)}){rest}"


def _place(hunk: Hunk) -> str:
    return one_line(hunk.place, LONGEST_PLACE)


def _of(cases: Sequence[BlamedCase], side: str) -> str:
    passed, runs = (sum(getattr(case, f"{side}_{name}") for case in cases) for name in ("passed", "runs"))
    return f"{passed} of {runs}"


def _effort(cases: Sequence[BlamedCase]) -> str:
    cost = total(case.cost_usd for case in cases)
    return f"{plural(sum(case.calls for case in cases), 'call')}{f', {money(cost)}' if cost else ''}"


def _of_hunk(one: HunkCoverage) -> str:
    place = _place(one.hunk)
    unmeasured = f" ({plural(one.unmeasured, 'case')} could not be compared)" if one.unmeasured else ""
    if one.cases:
        return f"{place}: noticed by {short_list(one.cases, MOST_KEYS)}{unmeasured}"
    if one.reason:
        return f"{place}: not known: {one_line(one.reason, 300)}"
    if one.p_value is not None:
        return f"{place}: noticed by the cases together, by none alone ({p_value(one.p_value)}){unmeasured}"
    nothing = "no case notices it" if one.sure else f"no case shows a difference in {plural(one.runs, 'run')}"
    return f"{place} is {'new' if one.new else 'changed'}, and {nothing}{unmeasured}"
