"""A run, top to bottom: discover → load → plan → converse → evaluate → score → compare → gate → conclude.

`run.load` discovers and loads the suites of a request before. `verdict.settle` decides which rounds and fresh
runs follow a comparison. Afterwards `reports.publish` writes the reports, `github.post_comment` posts the comment.
`merge`, `gate` and `rejudge` are the same stages for what is measured already: the shards of a run, the results of
another tool, and two results documents whose answers are judged again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from runevals.records import AgainstComparison, Conclusion, Problem, RunReport
from runevals.records.errors import COULD_NOT_MEASURE, ExternalError
from runevals.repository import git
from runevals.run.baseline.choose import known_base, remarked, settled_base
from runevals.run.call_limit import require_few_calls
from runevals.run.head import measure_head
from runevals.run.load import suites_of
from runevals.run.nothing_measured import ended_by
from runevals.run.preflight import require_gates, require_present
from runevals.run.prepare_request import prepared, prepared_merge, prepared_results, require_comparable
from runevals.run.request import RunRequest
from runevals.run.shards.verdict import base_of_shards, conclude_shards, with_filters_of
from runevals.run.sides import HEAD, open_side
from runevals.run.targets import Job, against_each, each, measure_together, reused_by_all
from runevals.run.tool_results import (
    in_projects_of,
    in_suites_of,
    not_measured_here,
    with_declared_determinism,
    with_lost_scores,
)
from runevals.run.tool_runner import concluded
from runevals.run.world.budget import Budget, Stop
from runevals.settings.resolve import Settings, ignored_changes
from runevals.verdict.outcome import conclusion_of, incomplete, since_mark


def run(request: RunRequest) -> Conclusion:
    """A run of one target. Raises RunevalsError for what stops it."""
    [conclusion] = run_each([request], request.settings)
    return conclusion


def run_each(requests: Sequence[RunRequest], settings: Settings) -> list[Conclusion]:
    """One run, with a request and a conclusion for each target; `settings` are those of the run.

    A loss that noise in a stored base may have made is verified against a fresh run of the base. A target that
    cannot be measured does not end the others. Raises RunevalsError for what stops all of them.
    """
    require_comparable(settings, requests[0].base)
    budget = Budget(settings.measure.limits, Stop())
    jobs = [
        Job(replace(one, budget=budget, journal=one.journal and one.journal.of_target(one.name)))
        for one in requests
    ]
    with budget.timed():
        return _run(jobs, settings)


def _run(jobs: Sequence[Job], settings: Settings) -> list[Conclusion]:
    left = each(jobs, _prepare)
    if reused := reused_by_all(jobs, settings):  # --changed-only
        return reused
    require_few_calls(*(job.request for job in left))
    with ExitStack() as stack:
        left = each(left, partial(_open, stack))
        if len(jobs) > 1:
            measure_together(left)
        each(left, _compare)  # plan → … → score, compare
    against = against_each({job.request.name: job.report for job in jobs if job.report is not None}, settings)
    return [_concluded(job, job.against or against.get(job.request.name)) for job in jobs]


def _prepare(job: Job) -> None:
    """What is known before anything runs: the target that suites imply, quarantined cases, mark and base."""
    job.request = prepared(job.request)
    job.base = known_base(job.request)  # --base, or a stored result
    if job.request.settings.compare.changed_only:
        from runevals.run.baseline.reuse import reuse

        job.reused = reuse(job.request, job.base)


def _open(stack: ExitStack, job: Job) -> None:
    """Makes it ready to be measured; its base is measured now if it must be."""
    request, compare, reused = job.request, job.request.settings.compare, job.reused
    why = ("run in full: not all targets can be reused",) if isinstance(reused, Conclusion) else reused
    require_present(request.settings)
    require_gates(request.settings, request.suites.suites)
    if compare.against is not None:
        from runevals.run.against import other_side

        job.other = stack.enter_context(other_side(request))
    job.base = settled_base(job.base, request)
    request = request.noting(*job.base.notices)
    if compare.changed_cases and job.base.baseline is not None:
        from runevals.run.baseline.affected import keeping

        request = keeping(request, job.base.baseline.report)
    else:
        request = request.noting(*why)
    job.request = request
    base = None if job.base.baseline is None else job.base.baseline.report
    job.head = head = stack.enter_context(open_side(request, request.name or HEAD, base))
    head.other = job.other


def _compare(job: Job) -> None:
    """The report of the target, compared with its own base if there is one."""
    assert job.head is not None  # noqa: S101 - it was opened
    job.report, job.comparison = measure_head(job.head, None if job.refusal else job.base.baseline, job.request)
    if job.other is not None:
        from runevals.run.against import compared_with

        job.report, job.against = compared_with(job.other, job.report)


def _concluded(job: Job, against: AgainstComparison | None) -> Conclusion:
    """gate → conclude. Unmeasured if the target could not be started, while others could."""
    request, settings, report = job.request, job.request.settings, job.report
    if report is None:
        assert job.error is not None  # noqa: S101 - it ended the job
        return ended_by(job.error, settings, COULD_NOT_MEASURE)
    mark = since_mark(report, request.mark, settings.rules.regression)
    conclusion = conclusion_of(report, job.comparison, settings.rules, mark, against)
    conclusion = _with_blame(remarked(conclusion, job.base, request), request)
    if request.has_page:
        from runevals.run.strength.suite import with_strength

        conclusion = with_strength(conclusion, request)
    return _cut_short(conclusion, request, job.refusal)


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
    require_comparable(request.settings, merges=True)
    return within_limits(request, lambda limited: _merge(report, limited))


def _merge(report: RunReport, request: RunRequest) -> Conclusion:
    _require_this_commit(report, request)
    report, request = prepared_merge(report, with_filters_of(report, request))
    base = known_base(request)
    base = settled_base(base, request, lambda commit: base_of_shards(report, commit, request), report)
    notices = tuple(dict.fromkeys((*report.run.notices, *base.notices)))
    report = replace(report, run=replace(report.run, notices=notices))
    return remarked(conclude_shards(report, base.baseline, request), base, request)


def _require_this_commit(report: RunReport, request: RunRequest) -> None:
    """Raises ExternalError for shards of other files in CI: they are of an earlier run. Elsewhere, says so."""
    repository, commit = request.settings.repository, report.run.commit
    here = request.settings.head.commit
    if here is None or commit in (None, here) or git.same_files(repository, commit, here):
        return
    mismatch = f"the shards are of commit {commit[:7]}, and this is {here[:7]}"
    if request.settings.in_ci:
        raise ExternalError(f"{mismatch}: were they made by an earlier run? Check out the commit that they are of")
    request.tell(f"Notice: {mismatch}")


def gate(report: RunReport, request: RunRequest, *, deterministic: bool | None = None) -> Conclusion:
    """The results of another tool compared with the base; what looks lost is run again if `rerun` says how."""
    return within_limits(request, lambda limited: _gate(report, limited, deterministic))


def _gate(report: RunReport, request: RunRequest, deterministic: bool | None) -> Conclusion:  # noqa: FBT001
    report, request = prepared_results(report, request)
    base = settled_base(known_base(request), request, not_measured_here, report)
    if base.baseline is not None:
        of_base = in_suites_of(in_projects_of(base.baseline.report, report), report)
        of_base = with_declared_determinism(of_base, deterministic)
        base = replace(base, baseline=replace(base.baseline, report=of_base))
        report = with_lost_scores(report, of_base)
    report = replace(report, run=replace(report.run, notices=(*report.run.notices, *base.notices)))
    return remarked(concluded(report, base.baseline, request), base, request)


def rejudge(base: Path, head: Path, request: RunRequest) -> Conclusion:
    """Two results documents compared after the answers in both are judged again."""
    return within_limits(request, lambda limited: _rejudge(base, head, limited))


def _rejudge(base: Path, head: Path, request: RunRequest) -> Conclusion:
    from runevals.run.compare import compare
    from runevals.run.rejudge import rejudged

    request = replace(request, suites=suites_of(request.settings))

    def judged(report: RunReport, path: Path) -> RunReport:
        return rejudged(report, str(path), request)

    return compare(base, head, request.settings, ignored_changes(request.raw), judged=judged)


def within_limits(request: RunRequest, stages: Callable[[RunRequest], Conclusion]) -> Conclusion:
    """What `stages` conclude within the limits of the settings; incomplete if a limit ended the run."""
    request = replace(request, budget=Budget(request.settings.measure.limits, Stop()))
    with request.budget.timed():
        conclusion = stages(request)
    return _cut_short(conclusion, request)


def _cut_short(conclusion: Conclusion, request: RunRequest, refusal: str = "") -> Conclusion:
    """Incomplete if the target refused in the middle of it, or a limit ended the run or the base's fresh run."""
    stop = request.budget.stop
    problem = Problem(code="refused", message=refusal) if refusal else stop.problem if stop.cut_short else None
    if problem is None or conclusion.report.run.stopped is not None:
        return conclusion
    return incomplete(conclusion, problem, request.settings.rules)
