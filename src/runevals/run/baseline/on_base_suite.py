"""Suites that cannot be compared: the head's target is run on the base's suite instead."""

from __future__ import annotations

from msgspec.structs import replace

from runevals.records import Comparison, ComparisonVerdict, Conclusion, GateRules
from runevals.records.errors import RunevalsError
from runevals.run.head import measure_head
from runevals.run.request import RunRequest
from runevals.run.sides import on_cases_of, rerunnable
from runevals.settings.resolve import Settings
from runevals.verdict.comparability import judges_differ, other_target
from runevals.verdict.decide import Baseline, conclusion_of


def on_base_suite(conclusion: Conclusion, baseline: Baseline | None, request: RunRequest) -> Conclusion:
    """The head's target on the base's suite, judged as the base was: an edited suite switches no gate off.

    The conclusion as it is if the suites can be compared, or if the head cannot be run on the base's.
    """
    commit, _ = rerunnable(request.settings, baseline)
    if baseline is None or commit is None or not _is_incomparable(conclusion.comparison):
        return conclusion
    if other_target(conclusion.report, baseline.report) or conclusion.report.run.stopped is not None:
        return conclusion  # nor could it be compared there
    rules = request.settings.rules
    other_judge = judges_differ(conclusion.report, baseline.report)
    if other_judge and any(_is_replaced(request.settings, name) for name in ("judge", "judge_model")):
        return conclusion  # by the flag, that judge would judge there too
    request.tell(f"The results cannot be compared: running the head on the suite of {commit[:7]}")
    try:
        with on_cases_of(request, commit) as borrowed:
            journal = None if request.journal is None else request.journal.looking_at("on the base's suite")
            there, again = measure_head(replace(borrowed, journal=journal), baseline)
    except RunevalsError as error:
        why = f"the head cannot be run on the suite of {commit[:7]}: {error.first_line}"
        return still_incomparable(conclusion, why, rules)
    if again is None or _is_incomparable(again):
        return conclusion
    assert conclusion.comparison is not None  # noqa: S101 - it was incomparable
    why = "another judge scored the base" if other_judge else "too many cases were edited or removed"
    again = replace(
        again,
        on_base_suite=True,
        changes=(*again.changes, *conclusion.comparison.of_kind("added", "removed")),
        weakenings=conclusion.comparison.weakenings,
        caveats=(*again.caveats, f"{why}: compared on the suite of {commit[:7]}"),
    )
    decided = conclusion_of(conclusion.report, again, rules, conclusion.mark, conclusion.against)
    return replace(decided, head_on_base_suite=there)


def still_incomparable(conclusion: Conclusion, why: str, rules: GateRules) -> Conclusion:
    """The same, with the reason why the base's suite could not decide."""
    assert conclusion.comparison is not None  # noqa: S101 - it was incomparable
    comparison = replace(conclusion.comparison, caveats=(*conclusion.comparison.caveats, why))
    return conclusion_of(conclusion.report, comparison, rules, conclusion.mark, conclusion.against)


def _is_replaced(settings: Settings, name: str) -> bool:
    """Whether a flag, a variable or an input sets it, for every commit."""
    of_file = None if settings.file is None else settings.file.display_name
    return settings.origins.get(name, "default") not in ("default", of_file)


def _is_incomparable(comparison: Comparison | None) -> bool:
    return comparison is not None and comparison.verdict is ComparisonVerdict.INCOMPARABLE
