"""Judges stored answers again, after a change of the judge, a check or a threshold."""

from __future__ import annotations

from msgspec.structs import replace

from runevals.records import Case, CaseReport, RunReport
from runevals.records.errors import InvalidSettings
from runevals.run.load import load_request
from runevals.run.measurement import Measurement
from runevals.run.provenance import provenance
from runevals.run.request import RunRequest
from runevals.run.world.build import real_world, require_judge
from runevals.suites import load as loading
from runevals.suites.plan import make_plan
from runevals.targets.recorded import RecordedTarget, answers_of


def rejudged(report: RunReport, display_name: str, request: RunRequest) -> RunReport:
    """`report` with its answers evaluated by the current checks and judge, within the budget of the request.

    Cases that the suites no longer have, or that ask something else today, are left out. Raises InvalidSettings
    where nothing is left, or where the answers were not kept.
    """
    settings = request.settings
    cases_of_report = {(case.suite, case.key): case for case in report.cases}
    suites = []
    for suite in loading.prompted_suites(request.suites.suites, load_request(settings)):
        cases = tuple(
            c for c in suite.cases if (old := cases_of_report.get((c.suite, c.key))) and _same_questions(c, old)
        )
        suites.append(replace(suite, cases=cases))
    if not any(suite.cases for suite in suites):
        raise InvalidSettings(f"{display_name}: none of its cases has an answer to the prompts of the suites here")
    plan = make_plan(suites, settings.selection, repeat=max(len(case.attempts) for case in report.cases))
    require_judge(plan, settings)
    numbers = {(c.suite, c.key): {attempt.attempt for attempt in c.attempts} for c in report.cases}
    trials = [trial for trial in plan.trials if trial.attempt in numbers[trial.case.suite, trial.case.key]]
    target = RecordedTarget(answers_of(report), display_name, model=report.run.target.model)
    with real_world(settings, suites, target=target, budget=request.budget) as world:
        loading.dry_run_evaluators(plan, world.sandbox)
        side = Measurement(plan, settings, world, provenance(settings, ()))
        for _ in request.progress(side, total=len(trials))(side.evaluations(trials)):
            pass
        result = side.report()
    # The run stays the earlier one, but for its judge and suites, and for a limit that ended the judging.
    run = replace(report.run, judge=result.run.judge, suites=result.run.suites)
    run = replace(run, stopped=result.run.stopped or run.stopped)
    return replace(result, run=run, complete=report.complete and result.complete)


def _same_questions(case: Case, old: CaseReport) -> bool:
    """Whether every stored run of the case answered its current prompts."""
    prompts = [turn.prompt for turn in case.turns]
    return all(
        [turn.prompt for turn in attempt.turns] == prompts
        and all(turn.output is not None or turn.error is not None for turn in attempt.turns)
        for attempt in old.attempts
    )
