"""Two results documents → verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from runevals.records import Conclusion, RunReport, Weakening
from runevals.reports.results_document import read
from runevals.run.baseline.from_files import read_baseline, require_whole
from runevals.run.redaction.redactors import base_without_patterns, without_patterns
from runevals.run.tool_results import in_suites_of
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
    report = read(head)
    require_whole(report, head.name)
    if judged is not None and baseline is not None:
        baseline = replace(baseline, report=judged(baseline.report, base))
        report = judged(report, head)
    report, baseline = without_patterns(report, settings), base_without_patterns(baseline, settings)
    if baseline is not None:
        baseline = replace(baseline, report=in_suites_of(baseline.report, report))
    return decision(report, baseline, settings.rules, weakenings=weakenings)
