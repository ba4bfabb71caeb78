"""Two results documents → verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from runevals.records import Conclusion, RunReport, Weakening
from runevals.reports.results_document import read
from runevals.run.baseline.from_files import read_baseline, require_whole
from runevals.run.redaction.redactors import without_patterns
from runevals.run.tool_results import in_projects_of, in_suites_of
from runevals.settings.resolve import Settings
from runevals.verdict.outcome import decision


def compare(
    base: Path,
    head: Path,
    settings: Settings,
    weakenings: tuple[Weakening, ...] = (),
    *,
    judged: Callable[[RunReport, Path], RunReport] | None = None,
) -> Conclusion:
    """Two results documents compared; `judged` judges the answers in both again first."""
    chosen = replace(settings.compare, baseline=str(base), baseline_named=True)
    baseline, _ = read_baseline(replace(settings, compare=chosen, base_side=None))  # the base is this file
    assert baseline is not None  # noqa: S101 - it is named
    before, now = baseline.report, read(head)
    require_whole(now, head.name)
    if judged is not None:
        before, now = judged(before, base), judged(now, head)
    before, now = (without_patterns(report, settings) for report in (before, now))
    baseline = replace(baseline, report=in_suites_of(in_projects_of(before, now), now))
    return decision(now, baseline, settings.rules, weakenings=weakenings)
