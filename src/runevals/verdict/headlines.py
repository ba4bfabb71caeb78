"""The first line of a comparison, in one sentence for each state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from runevals.lib.nullable import grouped
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import capitalised, first_of, joined, p_value, phrase, plural, points, short_list
from runevals.records import CauseGroup, Change, Comparison, Finding, Reason, RunInfo, RunReport, State
from runevals.verdict.causes import FEWEST, causes
from runevals.verdict.lost_together import is_in, lost_keys
from runevals.verdict.reasons import MEANINGS
from runevals.verdict.wording import NAMES


def loss(report: RunReport, comparison: Comparison) -> str:
    """What was lost: cases by their number, a score or a part by its fall; then what the lost cases share."""
    worse, lost, of = comparison.cases(State.WORSE), lost_keys(comparison), plural(comparison.compared, "case")
    removed = [finding.called for finding in worse if finding.reason is Reason.REMOVED]
    cases = [finding for finding in worse if finding.reason is not Reason.REMOVED]
    critical = [each.called for each in cases if each.critical]
    sure, checks_of = comparison.lost_cases, {each.key: each.checks for each in cases}
    lower = {(change.suite, change.key): change for change in comparison.of_kind("worse")}
    scored = "share" in {part.metric for part in comparison.parts(State.WORSE)}  # else their runs failed
    fallen = {key: lower[key] for key in lower if key in lost and checks_of.get(key, ("",) * scored) != ()}
    checks = list(dict.fromkeys(check for key in fallen for check in checks_of.get(key, ())))
    others = [each for each in cases if each.key not in fallen]
    groups = next((each.groups for each in causes(report, comparison) if each.kind == "lost"), ())
    shared = "" if fallen and others else _shared(groups)
    untold = lost - fallen.keys() - {each.key for each in others}
    text: list[str] = []
    if sure and {each.key for each in others} <= {(change.suite, change.key) for change in sure}:
        failing = [each for each in comparison.of_kind("regressed") if (each.suite, each.key) in lost]
        untold -= {(each.suite, each.key) for each in failing}
        first = "" if critical else _first(failing, report)
        open_ = [each.called for each in comparison.cases(State.NOT_KNOWN) if each.key not in lost]
        more = phrase(len(open_), "; {:,} more may have: ") + short_list(open_)
        text.append(f"{len(failing):,} of {of} regressed{shared or _category_of(failing, report) + first}{more}")
    elif others:
        text.append(f"{plural(len(others), 'case')} lost: {short_list([each.called for each in others])}")
    if fallen and (checks or text):
        score = f"the score{phrase(short_list(checks), ' of {}')} fell in {len(fallen):,} of {of}"
        text.append(f"{score}{shared or _first([*fallen.values()], report)}")
    text += filter(None, (_critical(critical, "lost"), _critical(removed, "removed")))
    changed = comparison.of_kind("regressed", "worse")
    rest = [*filter(None, (each.head for each in changed if (each.suite, each.key) in untold))]
    parts = [each for each in comparison.parts(State.WORSE) if not text or any(is_in(one, each) for one in rest)]
    if part := strongest(parts):
        text.append(dropped(part) + (shared if part.family == "whole" else ""))
    return capitalised("; ".join(text))


def _critical(names: Sequence[str], what: str) -> str:
    """ "a critical case is removed: KB-1"; empty if there are none."""
    subject = "a critical case is" if len(names) == 1 else "critical cases are"
    return phrase(short_list(names), f"{subject} {what}: {{}}")


def strongest(parts: Sequence[Finding]) -> Finding | None:
    """The part that is least by chance: a category that alone fell, or the whole if all did."""
    return min(parts, key=lambda each: (each.p_value or 0.0, each.family != "whole"), default=None)


def _shared(groups: Sequence[CauseGroup]) -> str:
    """ ": all of shipping (349) and hours (303), 12 others"; empty if the cases share nothing."""
    labelled = [group for group in groups if group.label]
    if not labelled:
        return ""
    all_lost = [group for group in labelled if group.cases == group.measured]
    most_lost = [group for group in labelled if group.cases < group.measured]
    alone = len(groups) == 1
    all_of = [f"{one_line(group.name, 40)}{'' if alone else f' ({group.cases:,})'}" for group in all_lost]
    most_of = [f"{one_line(group.name, 40)} ({group.cases:,} of {group.measured:,})" for group in most_lost]
    others = sum(group.cases for group in groups) - sum(group.cases for group in labelled)
    rest = phrase(others, plural(others, "other"))
    parts = (phrase(joined(all_of), "all of {}"), phrase(joined(most_of), "most of {}"), rest)
    return f": {', '.join(filter(None, parts))}"


def _category_of(lost: Sequence[Change], report: RunReport) -> str:
    """ ", all in shipping": the category of several lost cases, which is not that of the whole run."""
    names = {change.head.category for change in lost if change.head is not None}
    of_run = {case.category for case in report.cases}
    alone = len(lost) >= FEWEST and len(names) == 1 < len(of_run)
    return phrase(one_line(names.pop() or "", 40), ", all in {}") if alone else ""


def _first(some: Sequence[Change], report: RunReport) -> str:
    """The first of these cases, with their suites where several have a case of the name."""
    suites = defaultdict[str, set[str]](set)
    for case in report.cases:
        suites[case.key].add(case.suite)
    whose = [f" of {one_line(each.suite, 60)}" if len(suites[each.key]) > 1 else "" for each in some]
    return f": {first_of([one_line(each.called, 60) + of for each, of in zip(some, whose, strict=True)], 3)}"


def dropped(finding: Finding) -> str:
    """ "the pass rate of 20 cases of suite refunds fell by 47.0 points"."""
    of = plural(finding.cases, "case")
    where = of if finding.family == "whole" else f"{of} of {finding.family} {finding.name[:60]}"
    return f"the {NAMES[finding.metric].lower()} of {where} fell by {100 * finding.drop:.1f} points"


def not_known(findings: Sequence[Finding], run: RunInfo, *, passes: bool = False) -> str:
    """What is not known, by name, with the reason and what settles it: of the most frequent reason.

    `passes`: the settings let it pass already, as is said to be the way out of what cannot be compared.
    """
    by_reason = grouped((finding.reason, finding) for finding in findings)
    reason, some = max(by_reason.items(), key=lambda each: len(each[1]))
    meaning = MEANINGS[reason]
    names = [finding.called for finding in some if finding.family == "case"]
    detail = next((finding.detail for finding in some if finding.detail), "")
    sentence = detail or meaning.sentence
    rest = len(findings) - len(some)
    also = phrase(rest, "; {} more for other reasons")
    subject = phrase(short_list(names), "{} may be lost: ")
    settles = "" if passes and reason is Reason.INCOMPARABLE else phrase(meaning.way_out(run, some), "; {}")
    return f"Not known – {subject}{sentence}{settles}{also}"


def warning(comparison: Comparison) -> str:
    """The cases that nothing proves lost and a reader should look at; empty if there are none."""
    warned = [
        each
        for each in comparison.findings
        if MEANINGS[each.reason].warns and (each.dead or each.critical or each.reason in _IN_LINE_ONE)
    ]
    if not warned:
        return ""
    reason = min((each.reason for each in warned), key=list(MEANINGS).index)
    some = [each for each in warned if each.reason is reason]
    meaning = MEANINGS[reason]
    if reason is Reason.SMALL:
        size = f"{100 * some[0].drop:.1f} points"
        return (
            f"A real drop of {size}, below what blocks ({p_value(some[0].p_value or 0.0)}; no case is proven lost)"
        )
    names = short_list([each.called for each in some])
    if reason is Reason.NEW_FORM:
        pass_ = "passes only in its" if len(some) == 1 else "pass only in their"
        return f"{plural(len(some), 'case')} {pass_} edited form: {names}"
    detail = next((each.detail for each in some if each.detail), meaning.sentence)
    settles = phrase(meaning.way_out(comparison.base.run, some), "; {} would settle it")
    return f"No loss proven – {names} failed that passed on the base: {detail}{settles}"


_IN_LINE_ONE = frozenset({Reason.NEW_FORM, Reason.SMALL, Reason.ERRORS_ALLOWED})


def no_loss(comparison: Comparison) -> str:
    """A comparison that shows no loss."""
    edited = plural(len(comparison.of_kind("edited")), "edited case")
    of = plural(comparison.compared, "case") if comparison.compared else edited
    if not comparison.improved:
        return f"No regression shown in {of}"
    fixed = len(comparison.of_kind("fixed"))
    if fixed:
        none = "" if comparison.of_kind("regressed") else ", none regressed"
        return f"Improved – {plural(fixed, 'case')} fixed{none}"
    gained = points(-(comparison.drop or 0.0)).removeprefix("+")
    return f"Improved – the {NAMES[comparison.metric].lower()} of {of} rose by {gained}"
