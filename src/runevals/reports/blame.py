"""Which hunks lost which cases, one line for each set of hunks; and which hunks are noticed by a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from runevals.lib.nullable import total
from runevals.lib.text.escape import code_cell, inert_line, one_line
from runevals.lib.text.numbers import and_more, money, p_value, plural, short_list
from runevals.records import Blame, BlamedCase, Hunk, HunkCoverage

MOST_LINES = 20
MOST_KEYS = 5
MOST_HUNKS = 100  # of the coverage
MOST_PLACES = 20  # of one case
LONGEST_PLACE = 120


def plain(blame: Blame) -> Iterator[str]:
    """The lines for a terminal."""
    files = plural(blame.files, "file")
    own = ", and what is not committed yet" if blame.uncommitted else ""
    yield f"Put back: {plural(blame.hunks, 'hunk')} in {files} since {one_line(blame.base[:7])}{own}"
    yield from (f"  {line}" for line in lines(blame))
    if blame.coverage:
        yield "Coverage of the change:"
        yield from (f"  {line}" for line in coverage_lines(blame))


def lines(blame: Blame) -> list[str]:
    """One line of plain text for each set of hunks."""
    safe, place = partial(one_line, limit=300), partial(one_line, limit=LONGEST_PLACE)
    groups = _groups(blame)
    first = [_line(cases, safe, place) for cases in groups[:MOST_LINES]]
    return [*first, *and_more(groups, MOST_LINES)]


def coverage_lines(blame: Blame) -> list[str]:
    """One line of plain text for each hunk of the coverage."""
    return list(_coverage(blame, partial(one_line, limit=300), partial(one_line, limit=LONGEST_PLACE)))


def markdown(blame: Blame) -> str:
    """The lines of a comment; empty if there is none."""
    lines = [
        f"* {_line(cases, partial(inert_line, limit=300), partial(code_cell, limit=LONGEST_PLACE))}"
        for cases in _groups(blame)[:MOST_LINES]
    ]
    causes = "\n".join(["**Which lines lost it**\n", *lines]) if lines else ""
    safe, place = partial(inert_line, limit=300), partial(code_cell, limit=LONGEST_PLACE)
    hunks = [f"* {line}" for line in _coverage(blame, safe, place)]
    of_change = "\n".join(["**Coverage of the change**\n", *hunks]) if hunks else ""
    return "\n\n".join(text for text in (causes, of_change) if text)


def _groups(blame: Blame) -> list[list[BlamedCase]]:
    """The cases by what lost them; those without an answer come last, by their reason."""
    groups: dict[tuple[tuple[Hunk, ...], tuple[Hunk, ...], str], list[BlamedCase]] = {}
    for case in sorted(blame.cases, key=lambda case: not case.hunks):
        groups.setdefault((case.hunks, case.put_back, case.reason), []).append(case)
    return list(groups.values())


def _line(cases: Sequence[BlamedCase], safe: Callable[[str], str], place_of: Callable[[str], str]) -> str:
    """One line on cases with the same answer; `safe` and `place_of` make texts and places harmless."""
    case, keys = cases[0], safe(short_list([case.key for case in cases], MOST_KEYS))
    if not case.hunks and not case.calls:
        return f"{keys}: not searched: {safe(case.reason)}"
    if not case.hunks:
        return f"{keys}: not found: {safe(case.reason)} ({_effort(cases)})"
    places = [place_of(hunk.place) for hunk in case.hunks[:MOST_PLACES]]
    put_back = case.put_back or case.hunks
    together = " together" if len(case.hunks) > len(put_back) else ""
    what = "put back"
    if len(places) > 1:
        all_of_them = "both" if len(places) == 2 else "all of them"
        what = f"{all_of_them if len(put_back) > 1 else place_of(put_back[0].place)} put back"
    if len(case.hunks) > MOST_PLACES:
        places.append(f"{len(case.hunks) - MOST_PLACES} more")
    runs = f"{what}: {_of(cases, 'head')} → {_of(cases, 'restored')}"
    return f"{keys}: lost by {' and '.join(places)}{together} ({runs}; {_effort(cases)})"


def _of(cases: Sequence[BlamedCase], side: str) -> str:
    passed, runs = (sum(getattr(case, f"{side}_{name}") for case in cases) for name in ("passed", "runs"))
    return f"{passed} of {runs}"


def _effort(cases: Sequence[BlamedCase]) -> str:
    cost = total(case.cost_usd for case in cases)
    return f"{plural(sum(case.calls for case in cases), 'call')}{f', {money(cost)}' if cost else ''}"


def _coverage(blame: Blame, safe: Callable[[str], str], place_of: Callable[[str], str]) -> Iterator[str]:
    """One line for each hunk, those that no case notices first."""
    hunks = sorted(blame.coverage, key=lambda one: bool(one.cases or one.p_value is not None or one.reason))
    yield from (_of_hunk(one, safe, place_of) for one in hunks[:MOST_HUNKS])
    yield from and_more(hunks, MOST_HUNKS)


def _of_hunk(one: HunkCoverage, safe: Callable[[str], str], place_of: Callable[[str], str]) -> str:
    place = place_of(one.hunk.place)
    unmeasured = f" ({plural(one.unmeasured, 'case')} could not be compared)" if one.unmeasured else ""
    if one.reason:
        return f"{place}: not known: {safe(one.reason)}"
    if one.cases:
        return f"{place}: noticed by {safe(short_list(one.cases, MOST_KEYS))}{unmeasured}"
    if one.p_value is not None:
        return f"{place}: noticed by the cases together, by none alone ({p_value(one.p_value)}){unmeasured}"
    return f"{place} is {'new' if one.new else 'changed'}, and {_unnoticed(one)}{unmeasured}"


def _unnoticed(one: HunkCoverage) -> str:
    return "no case notices it" if one.sure else f"no case shows a difference in {plural(one.runs, 'run')}"
