"""Several targets measured side by side: the same cases in the same rounds, and a conclusion each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack

from msgspec import Struct
from msgspec.structs import replace

from runevals.records import AgainstComparison, Comparison, Conclusion, Problem, RunReport
from runevals.records.errors import COULD_NOT_MEASURE, InvalidSettings, RunevalsError
from runevals.run.baseline.choose import known_base, remarked, settled_base
from runevals.run.baseline.reuse import reuse
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.call_limit import require_few_calls
from runevals.run.evaluate import Evaluation
from runevals.run.head import compare_with_base
from runevals.run.measurement import OtherSide
from runevals.run.nothing_measured import ended_by
from runevals.run.preflight import require_gates, require_present
from runevals.run.prepare_request import prepared, require_comparable
from runevals.run.request import RunRequest
from runevals.run.resume.journal import Journal
from runevals.run.sides import open_side
from runevals.run.world.budget import Budget, Stop
from runevals.settings.resolve import Settings
from runevals.verdict.against import against_target
from runevals.verdict.outcome import conclusion_of, incomplete, since_mark


class _Planned(Struct, frozen=True):
    """A target before anything of it runs."""

    request: RunRequest
    base: StoredBase
    reused: Conclusion | tuple[str, ...] = ()  # of the base, or notices why it is run


class _Target(Struct):
    """One target on its way to a conclusion."""

    request: RunRequest
    base: StoredBase
    side: OtherSide
    report: RunReport | None = None
    comparison: Comparison | None = None


def run_targets(
    requests: Mapping[str, RunRequest], settings: Settings, journal: Journal | None = None
) -> Mapping[str, Conclusion]:
    """A conclusion for each target, by its name; `settings` are those of the run, which names several.

    A target that cannot be measured does not end the others. Raises RunevalsError for what stops all of them.
    """
    _require_possible(requests, settings)
    budget = Budget(settings.measure.limits, Stop())
    errors: dict[str, RunevalsError] = {}
    with budget.timed(), ExitStack() as stack:
        planned: dict[str, _Planned] = {}
        for name, request in requests.items():
            own = None if journal is None else journal.of_target(name)
            try:
                planned[name] = _planned(replace(request, budget=budget, journal=own))
            except RunevalsError as error:
                errors[name] = error
        reused = _reused(planned, settings)
        if reused and not errors:
            return reused
        targets: dict[str, _Target] = {}
        for name, plan in planned.items():
            try:
                targets[name] = _opened(name, plan, stack)
            except RunevalsError as error:
                errors[name] = error
        if not targets:
            raise next(iter(errors.values()))
        _measure([target.side for target in targets.values()], next(iter(targets.values())).request)
        for name, target in targets.items():
            try:
                _compare(target)
            except RunevalsError as error:
                errors[name] = error
        against = _against({name: each.report for name, each in targets.items()}, settings)
        conclusions = {
            name: _concluded(target, against.get(name)) for name, target in targets.items() if name not in errors
        }
    return {
        name: _not_measured(errors[name], request.settings) if name in errors else conclusions[name]
        for name, request in requests.items()
    }


def _require_possible(requests: Mapping[str, RunRequest], settings: Settings) -> None:
    """Raises InvalidSettings if a part of the cases was to be compared, or too many calls are planned in all."""
    for request in requests.values():
        require_comparable(request)
    if settings.compare.against is not None and settings.selection.shard is not None:
        raise InvalidSettings(
            f"--against {settings.compare.against}: a shard has only a part of the cases; leave out --against"
        )
    require_few_calls(*requests.values())


def _planned(request: RunRequest) -> _Planned:
    """One target and what is known of its base."""
    require_present(request.settings)
    request = prepared(request)
    base = known_base(request)
    return _Planned(request, base, reuse(request, base))


def _reused(planned: Mapping[str, _Planned], settings: Settings) -> Mapping[str, Conclusion]:
    """The results of the base (`changed_only`) if they can be those of every target; else of none."""
    reused = {name: plan.reused for name, plan in planned.items() if isinstance(plan.reused, Conclusion)}
    if len(reused) < len(planned):
        return {}
    reports = {name: conclusion.report for name, conclusion in reused.items() if conclusion.report.cases}
    against = _against(reports, settings)
    conclusions = {}
    for name, conclusion in reused.items():
        rules = planned[name].request.settings.rules
        again = conclusion_of(conclusion.report, None, rules, conclusion.mark, against.get(name))
        if name in against and again.verdict.exit_code:
            return {}
        conclusions[name] = replace(conclusion, gates=again.gates, against=again.against)
    return conclusions


def _opened(name: str, plan: _Planned, stack: ExitStack) -> _Target:
    """One target, ready to be measured; its base is measured now if it must be."""
    request = plan.request
    why = ("run in full: not all targets can be reused",) if isinstance(plan.reused, Conclusion) else plan.reused
    require_gates(request.settings.rules, request.suites.suites)
    base = settled_base(plan.base, request)
    request = request.noting(*base.notices, *why)
    side = stack.enter_context(open_side(request, name))
    return _Target(request, base, OtherSide(name, side))


def _measure(sides: Sequence[OtherSide], request: RunRequest) -> None:
    """The rounds of all targets in turn, so that an outage affects all of them alike."""

    def rounds() -> Iterator[Evaluation]:
        for number in range(1, max(each.side.plan.repeat for each in sides) + 1):
            for each in sides:
                yield from each.round(number)

    for _ in request.progress(*(each.side for each in sides))(rounds()):
        pass


def _compare(target: _Target) -> None:
    """The report of the target, compared with its own base if there is one."""
    target.report = target.side.side.report()
    baseline = target.base.baseline
    if baseline is not None and not target.side.problem:
        target.report, target.comparison = compare_with_base(target.report, baseline, target.request)


def _against(reports: Mapping[str, RunReport | None], settings: Settings) -> Mapping[str, AgainstComparison]:
    """Every other target against the one that `--against` names, if that one was measured."""
    known = {name: report for name, report in reports.items() if report is not None}
    if settings.compare.against not in known:
        return {}
    alpha = settings.rules.regression.alpha
    return against_target(known, settings.compare.against, margin=settings.compare.margin, alpha=alpha)


def _concluded(target: _Target, against: AgainstComparison | None) -> Conclusion:
    """gate → conclude; incomplete if the target refused in the middle of it, or a limit ended the run."""
    assert target.report is not None  # noqa: S101 - the others ended with an error
    request, settings = target.request, target.request.settings
    mark = since_mark(target.report, request.mark, settings.rules.regression)
    conclusion = conclusion_of(target.report, target.comparison, settings.rules, mark, against)
    conclusion = remarked(conclusion, target.base, request)
    stop = request.budget.stop
    refusal = Problem(code="refused", message=target.side.problem) if target.side.problem else None
    cut_short = stop.problem if stop.cut_short else None
    problem = refusal or cut_short
    if problem is None or target.report.run.stopped is not None:
        return conclusion
    return incomplete(conclusion, problem, settings.rules)


def _not_measured(error: RunevalsError, settings: Settings) -> Conclusion:
    """The conclusion of a target that could not be started, while others could: unmeasured."""
    return ended_by(error, settings, COULD_NOT_MEASURE)
