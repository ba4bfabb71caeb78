"""A run, top to bottom: discover → load → plan → converse → evaluate → score → compare → gate → conclude.

`run.load` discovers and loads the suites of a request before. `verdict.settle` decides which rounds and fresh
runs follow a comparison. Afterwards `reports.publish` writes the reports, `github.post_comment` posts the comment.
`merge`, `gate` and `rejudge` are the same stages for what is measured already: the shards of a run, the results of
another tool, and two results documents whose answers are judged again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from runevals.records import Conclusion, RunReport
from runevals.records.errors import ExternalError
from runevals.repository import git
from runevals.run.against import compared_with, other_side, require_other_side
from runevals.run.baseline.affected import keeping
from runevals.run.baseline.choose import known_base, remarked, settled_base
from runevals.run.baseline.reuse import reuse
from runevals.run.call_limit import require_few_calls
from runevals.run.compare import compare
from runevals.run.head import measure_head
from runevals.run.load import suites_of
from runevals.run.preflight import require_gates
from runevals.run.prepare_request import prepared, prepared_merge, prepared_results, require_comparable
from runevals.run.rejudge import rejudged
from runevals.run.request import RunRequest
from runevals.run.shards.verdict import base_of_shards, conclude_shards, with_filters_of
from runevals.run.tool_results import in_suites_of, not_measured_here, with_declared_determinism, with_lost_scores
from runevals.run.tool_runner import concluded
from runevals.run.world.budget import Budget, Stop
from runevals.verdict.outcome import conclusion_of, incomplete, since_mark


def run(request: RunRequest) -> Conclusion:
    """One run. A loss that noise in a stored base may have made is verified against a fresh run of the base.

    Raises RunevalsError for what stops a run.
    """
    require_comparable(request)
    return within_limits(request, _run)


def _run(request: RunRequest) -> Conclusion:
    request = prepared(request)  # the target that suites imply, the quarantine list, the run of the mark
    base = known_base(request)  # --base, or a stored result
    reused = reuse(request, base)  # --changed-only
    if isinstance(reused, Conclusion):
        return reused
    require_gates(request.settings.rules, request.suites.suites)
    require_few_calls(request)
    require_other_side(request)
    base = settled_base(base, request)  # measured now, if it must be
    request = request.noting(*base.notices)
    if request.settings.compare.changed_cases and base.baseline is not None:
        request = keeping(request, base.baseline.report)
    else:
        request = request.noting(*reused)
    with other_side(request) as other:  # --against
        report, comparison = measure_head(request, base.baseline, other)  # plan → … → score, compare
        report, against = compared_with(other, report)
    rules = request.settings.rules
    mark = since_mark(report, request.mark, rules.regression)
    conclusion = conclusion_of(report, comparison, rules, mark, against)  # gate → conclude
    return _with_blame(remarked(conclusion, base, request), request)


def _with_blame(conclusion: Conclusion, request: RunRequest) -> Conclusion:
    """The conclusion with the lines that lost its cases, if the job searches them."""
    limits = request.settings.github.blame
    if limits is None or not request.finds_lines or conclusion.verdict.outcome != "failed":
        return conclusion
    from runevals.run.blame.after_run import with_blame  # of a failing run only

    return with_blame(conclusion, request, limits)


def merge(report: RunReport, request: RunRequest) -> Conclusion:
    """The report of all shards compared with the base: the same stages without measuring.

    The base is run here if its stored result cannot be used, and again before a loss blocks, if that is possible.
    """
    require_comparable(request, merges=True)
    return within_limits(request, lambda limited: _merge(report, limited))


def _merge(report: RunReport, request: RunRequest) -> Conclusion:
    _require_this_commit(report, request)
    report, request = prepared_merge(report, with_filters_of(report, request))
    base = known_base(request)
    base = settled_base(base, request, lambda commit: base_of_shards(report, commit, request))
    notices = tuple(dict.fromkeys((*report.run.notices, *base.notices)))
    report = replace(report, run=replace(report.run, notices=notices))
    conclusion = conclude_shards(report, base.baseline, request)
    return remarked(conclusion, base, request)


def _require_this_commit(report: RunReport, request: RunRequest) -> None:
    """Raises ExternalError for shards of other files in CI: they are of an earlier run. Elsewhere, says so."""
    repository, commit = request.settings.repository, report.run.commit
    here = git.commit_of(repository, "HEAD")
    if here is None or commit in (None, here) or git.same_files(repository, commit, here):
        return
    mismatch = f"the shards are of commit {commit[:7]}, and this is {here[:7]}"
    if request.settings.in_ci:
        raise ExternalError(f"{mismatch}: were they made by an earlier run? Check out the commit that they are of")
    request.tell(f"Notice: {mismatch}")


def gate(
    report: RunReport,
    request: RunRequest,
    *,
    parameters_are_attempts: bool = False,
    deterministic: bool | None = None,
) -> Conclusion:
    """The results of another tool compared with the base; what looks lost is run again if `rerun` says how."""
    return within_limits(request, lambda limited: _gate(report, limited, parameters_are_attempts, deterministic))


def _gate(
    report: RunReport,
    request: RunRequest,
    parameters_are_attempts: bool,  # noqa: FBT001
    deterministic: bool | None,  # noqa: FBT001
) -> Conclusion:
    report, request = prepared_results(report, request)
    base = settled_base(known_base(request), request, not_measured_here)
    if base.baseline is not None:
        of_base = with_declared_determinism(in_suites_of(base.baseline.report, report), deterministic)
        base = replace(base, baseline=replace(base.baseline, report=of_base))
        report = with_lost_scores(report, of_base)
    report = replace(report, run=replace(report.run, notices=(*report.run.notices, *base.notices)))
    conclusion = concluded(report, base.baseline, request, parameters_are_attempts=parameters_are_attempts)
    return remarked(conclusion, base, request)


def rejudge(base: Path, head: Path, request: RunRequest) -> Conclusion:
    """Two results documents compared after the answers in both are judged again."""
    return within_limits(request, lambda limited: _rejudge(base, head, limited))


def _rejudge(base: Path, head: Path, request: RunRequest) -> Conclusion:
    request = replace(request, suites=suites_of(request.settings))

    def judged(report: RunReport, path: Path) -> RunReport:
        return rejudged(report, str(path), request)

    return compare(base, head, request.settings, request.weakenings, judged=judged)


def within_limits(request: RunRequest, stages: Callable[[RunRequest], Conclusion]) -> Conclusion:
    """What `stages` conclude within the limits of the settings; incomplete if a limit ended the run."""
    budget = Budget(request.settings.measure.limits, Stop())
    with budget.timed():
        conclusion = stages(replace(request, budget=budget))
    stop = budget.stop
    if stop.problem is not None and stop.cut_short and conclusion.report.run.stopped is None:
        return incomplete(conclusion, stop.problem, request.settings.rules)  # the fresh run of the base, say
    return conclusion
