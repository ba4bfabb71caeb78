"""Which hunks that add or change text are noticed by a case: each is put back alone, and all cases run."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import plural
from runevals.records import Blame, HunkCoverage
from runevals.records.errors import ExternalError, InvalidSettings
from runevals.run.blame.changed import ChangedFiles
from runevals.run.blame.hunks import ChangeHunks
from runevals.run.blame.put_back import Key, PutBackRunner, put_back_runner
from runevals.run.blame.search import hunks_since, not_searched
from runevals.run.call_limit import calls_of_attempt
from runevals.run.default_target import with_target
from runevals.run.redaction.redactors import without_either
from runevals.run.request import RunRequest
from runevals.suites.plan import make_plan
from runevals.verdict.blame_search import NOTHING, HunkSet
from runevals.verdict.hunk_coverage import Noticed, Runs, noticed


class CoveragePlan(Struct, frozen=True, kw_only=True):
    """The hunks that are put back one by one, and what runs with each."""

    base: str  # the commit
    files: ChangedFiles
    change: ChangeHunks
    hunks: tuple[int, ...]
    added: HunkSet  # in whose place the base has nothing
    cases: tuple[Key, ...]
    runs: int  # of each case
    calls: int  # of target and judge, in all
    deterministic: bool


def coverage_plan(base: str, request: RunRequest, *, deterministic: bool, code: bool) -> CoveragePlan:
    """Raises InvalidSettings if nothing can be run, or it takes more than `max_calls`."""
    settings = with_target(request.settings, request.suites.suites)
    files, change = hunks_since(base, replace(request, settings=settings), code=code)
    added = change.added
    hunks = [n for n, hunk in enumerate(change.hunks) if hunk.kind == "changed" or n in added]
    cases = [(case.suite, case.key) for case in make_plan(request.suites.suites, settings.selection).cases]
    runs = 1 if deterministic else settings.measure.repeat
    plan = CoveragePlan(
        base=base,
        files=files,
        change=change,
        hunks=tuple(hunks),
        added=added,
        cases=tuple(cases),
        runs=runs,
        calls=calls_of_attempt(settings, request.suites) * runs * (len(hunks) + 1) if hunks else 0,
        deterministic=deterministic,
    )
    most = settings.measure.limits.calls
    if most is not None and plan.calls > most:
        raise InvalidSettings(
            f"{_planned(plan)}, but at most {most} may be (max_calls); choose fewer cases with --filter"
        )
    return plan


def after_coverage(request: RunRequest, plan: CoveragePlan) -> RunRequest:
    """The request with the calls that the coverage leaves."""
    limits = request.settings.measure.limits
    if limits.calls is None:
        return request
    limits = replace(limits, calls=limits.calls - plan.calls)
    settings = request.settings
    return replace(request, settings=replace(settings, measure=replace(settings.measure, limits=limits)))


def covered(plan: CoveragePlan, request: RunRequest, blame: Blame | None) -> Blame:
    """`blame`, if there is one, with the coverage of the change. Raises RunevalsError."""
    settings = with_target(request.settings, request.suites.suites)
    head = settings.head.commit or ""
    request = replace(request, settings=settings)
    blame = blame or not_searched(plan.base, plan.files, plan.change)
    coverage: tuple[HunkCoverage, ...] = ()
    if not plan.hunks:
        request.tell("No hunk adds or changes text: there is nothing to cover.")
    else:
        request.tell(f"Coverage of the change: {_planned(plan)}")
        with request.budget.timed(), put_back_runner(request, head, plan.change) as runner:
            coverage = tuple(_with_lost(one, blame) for one in _coverage(plan, runner))
    return without_either(replace(blame, coverage=coverage), settings)


def _with_lost(one: HunkCoverage, blame: Blame) -> HunkCoverage:
    """With the cases that the search found it to have lost, whose runs are more than those of the coverage."""
    lost = [case.key for case in blame.cases if one.hunk in case.hunks]
    return replace(one, cases=tuple(dict.fromkeys([*one.cases, *lost])))


def _planned(plan: CoveragePlan) -> str:
    hunks, cases, runs = plural(len(plan.hunks), "hunk"), plural(len(plan.cases), "case"), plural(plan.runs, "run")
    return f"{hunks} and the head × {cases} × {runs}: {plural(plan.calls, 'call')} of target and judge planned"


def _coverage(plan: CoveragePlan, runner: PutBackRunner) -> tuple[HunkCoverage, ...]:
    target = runner.request.settings.target
    if target is not None and target.address is not None:
        runner.require_other_target()
    needed = dict.fromkeys(plan.cases, plan.runs)
    head = runner.runs(NOTHING, needed)
    if head is not None and not _is_measured(head):
        raise ExternalError(f"the cases could not be run: {one_line(runner.trouble, 300)}")
    measured: dict[int, Runs] = {}
    reasons: dict[int, str] = {}
    for number in plan.hunks:
        runs = runner.runs(frozenset({number}), needed)
        if runs and _is_measured(runs):
            measured[number] = runs
        else:
            reasons[number] = _why_not(runner, plan, stopped=runs is None)
    answers = noticed(head or {}, list(measured.values()), deterministic=plan.deterministic)
    by_number = dict(zip(measured, answers, strict=True))
    return tuple(_of_hunk(plan, n, by_number.get(n, Noticed()), reasons.get(n, "")) for n in plan.hunks)


def _is_measured(runs: Runs) -> bool:
    return any(run.status.measured for attempts in runs.values() for run in attempts)


def _why_not(runner: PutBackRunner, plan: CoveragePlan, *, stopped: bool) -> str:
    stop = runner.request.budget.stop.problem
    if stopped:
        return "the run was stopped" if stop is None else stop.message
    return f"nothing runs with it put back: {one_line(runner.trouble, 200)}{plan.files.with_code}"


def _of_hunk(plan: CoveragePlan, number: int, answer: Noticed, reason: str) -> HunkCoverage:
    return HunkCoverage(
        hunk=plan.change.hunks[number],
        new=number in plan.added,
        cases=tuple(key for _, key in answer.by),
        p_value=answer.p_value,
        sure=plan.deterministic,
        runs=plan.runs,
        unmeasured=answer.unmeasured,
        reason=reason,
    )
