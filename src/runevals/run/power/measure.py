"""The measured runs of a suite: the base twice, or runs that were made already."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from operator import attrgetter

from msgspec.structs import replace

from runevals.lib.text.numbers import money, plural
from runevals.records import AttemptReport, CaseReport, RunReport
from runevals.records.errors import ExternalError, InvalidSettings
from runevals.run.call_limit import calls_of_attempt, require_few_calls
from runevals.run.cost_estimate import estimated_cost
from runevals.run.default_target import with_target
from runevals.run.load import plan_of
from runevals.run.measurement import measure
from runevals.run.power.predict import Prediction, predicted, suite_of
from runevals.run.power.simulate import Plan
from runevals.run.request import RunRequest
from runevals.run.sides import open_side
from runevals.settings.resolve import Settings
from runevals.verdict.score import over_attempts, run_report

MOST_USD = 1.0  # without a limit of the settings, if prices are known
TWICE, FEWEST_ROUNDS, MOST_ROUNDS = 2, 3, 5  # runs of each case a side, unless the settings ask for more
FEWEST_RUNS = 100  # of all cases together, a side: how their pass rates are spread shows in few cases by many runs
DETERMINISTIC = "the target counts as deterministic: every difference is a loss, and there is no noise to measure"


def a_a(request: RunRequest, past: Sequence[RunReport]) -> Prediction:
    """Runs the suite twice, unless there are runs of it, and simulates. Raises RunevalsError."""
    settings = with_target(request.settings, request.suites.suites)
    if settings.target is not None and settings.target.deterministic:
        raise InvalidSettings(DETERMINISTIC)
    request = replace(request, settings=settings)
    report = _pooled(request, past) if past else _measured(request)
    if not any(run.status.measured for case in report.cases for run in case.runs):
        raise ExternalError("no run was measured, so that nothing can be said of the suite")
    if report.run.target.deterministic:
        raise InvalidSettings(DETERMINISTIC)
    plan = Plan(
        info=replace(report.run, repeat=settings.measure.repeat, stopped=None),
        rule=settings.rules.regression,
        repeat=settings.measure.repeat,
        base_looks=settings.compare.verify_repeats,
    )
    suite = suite_of(report, plan, request.tell)
    changes = f"Simulating {suite.simulations} changes of each kind and size in {plural(len(suite.odds), 'case')}"
    request.tell(f"{changes}; of thousands of cases, it takes some minutes")
    return predicted(suite)


def limited(settings: Settings) -> Settings:
    """With a limit of dollars, if the price of the target's model is known and there is no other."""
    limits, target = settings.measure.limits, settings.target
    known = (
        target is not None and target.model and settings.measure.prices.cost_usd(target.model, 1, 1) is not None
    )
    if limits.cost_usd is not None or not known:
        return settings
    return replace(settings, measure=replace(settings.measure, limits=replace(limits, cost_usd=MOST_USD)))


def rounds_of(cases: int) -> int:
    """How often a side runs each of so many cases, at least: a few cases more often."""
    return max(FEWEST_ROUNDS, min(MOST_ROUNDS, ceil(FEWEST_RUNS / max(1, cases))))


def _measured(request: RunRequest) -> RunReport:
    rounds = max(rounds_of(len(plan_of(request.suites, request.settings).cases)), request.settings.measure.repeat)
    settings = request.settings.repeated(TWICE * rounds)
    request = replace(request, settings=settings)
    require_few_calls(request)
    calls = calls_of_attempt(settings, request.suites) * settings.attempts
    plan = plan_of(request.suites, settings)
    cost, most = estimated_cost(plan, settings, calls, 0), settings.measure.limits.cost_usd
    end = "no limit (--max-cost)" if most is None else f"it ends at {money(most)}"
    request.tell(
        f"Measuring the suite twice, {plural(settings.attempts, 'run')} of each case in all: "
        f"{plural(calls, 'call')} of target and judge, cost {cost}; {end}"
    )
    with request.budget.timed(), open_side(request) as side:
        report = measure(side, request.progress(side))
    if (stopped := report.run.stopped) is not None:
        ended = f"{stopped.message}; measured: {plural(report.totals.passed + report.totals.failed, 'case')}"
        if stopped.code != "budget_exhausted":
            raise ExternalError(ended)
        request.tell(f"Ended early: {ended}, and what follows is of it alone")
    return report


def _pooled(request: RunRequest, past: Sequence[RunReport]) -> RunReport:
    """Runs of the cases as they are now, of the newest commit and target. Raises InvalidSettings."""
    plan = plan_of(request.suites, request.settings)
    current = {(case.suite, case.key, case.fingerprint) for case in plan.cases}
    newest = max(past, key=lambda report: report.run.started_at)
    code = attrgetter("run.target", "run.commit", "run.uncommitted")
    alike = [report for report in past if code(report) == code(newest)]
    if others := len(past) - len(alike):
        request.tell(f"Left out, of another commit or target than the newest: {plural(others, 'result')}")
    runs: dict[tuple[str, str], list[AttemptReport]] = {}
    cases: dict[tuple[str, str], CaseReport] = {}
    for report in alike:
        for case in report.cases:
            if (case.suite, case.key, case.fingerprint) in current:
                cases.setdefault((case.suite, case.key), case)
                runs.setdefault((case.suite, case.key), []).extend(case.runs)
    if not cases:
        raise InvalidSettings("the results have no run of these cases as they are now; leave --results out")
    return run_report(newest.run, [over_attempts(case, runs[key]) for key, case in cases.items()])
