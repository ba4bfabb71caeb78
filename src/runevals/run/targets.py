"""Several targets measured side by side: the same cases in the same rounds, and a conclusion each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial

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


class _Target(Struct):
    """One target on its way to a conclusion. Its error ends it, and not the others."""

    name: str
    request: RunRequest
    base: StoredBase = StoredBase()
    reused: Conclusion | tuple[str, ...] = ()  # of the base, or notices why it is run
    side: OtherSide | None = None
    report: RunReport | None = None
    comparison: Comparison | None = None
    error: RunevalsError | None = None

    def step(self, stage: Callable[[_Target], None]) -> None:
        """Takes it through a stage, if it has come so far."""
        try:
            if self.error is None:
                stage(self)
        except RunevalsError as error:
            self.error = error


def run_targets(
    requests: Mapping[str, RunRequest], settings: Settings, journal: Journal | None = None
) -> Mapping[str, Conclusion]:
    """A conclusion for each target, by its name; `settings` are those of the run, which names several.

    A target that cannot be measured does not end the others. Raises RunevalsError for what stops all of them.
    """
    _require_possible(requests, settings)
    budget = Budget(settings.measure.limits, Stop())
    own = {name: None if journal is None else journal.of_target(name) for name in requests}
    targets = [
        _Target(name, replace(request, budget=budget, journal=own[name])) for name, request in requests.items()
    ]
    with budget.timed(), ExitStack() as stack:
        for target in targets:
            target.step(_plan)
        if reused := _reused(targets, settings):
            return reused
        for target in targets:
            target.step(partial(_open, stack))
        sides = [target.side for target in targets if target.side is not None]
        if not sides:
            raise next(target.error for target in targets if target.error is not None)
        _measure(sides, targets[0].request)
        for target in targets:
            target.step(_compare)
        reports = {target.name: target.report for target in targets if target.report is not None}
        against = _against(reports, settings)
        return {target.name: _concluded(target, against.get(target.name)) for target in targets}


def _require_possible(requests: Mapping[str, RunRequest], settings: Settings) -> None:
    """Raises InvalidSettings if a part of the cases was to be compared, or too many calls are planned in all."""
    for request in requests.values():
        require_comparable(request)
    if settings.compare.against is not None and settings.selection.shard is not None:
        raise InvalidSettings(
            f"--against {settings.compare.against}: a shard has only a part of the cases; leave out --against"
        )
    require_few_calls(*requests.values())


def _plan(target: _Target) -> None:
    """What is known of its base before anything of it runs."""
    require_present(target.request.settings)
    target.request = prepared(target.request)
    target.base = known_base(target.request)
    target.reused = reuse(target.request, target.base)


def _reused(targets: Sequence[_Target], settings: Settings) -> Mapping[str, Conclusion]:
    """The results of the base (`changed_only`) if they can be those of every target; else of none."""
    reused = {target.name: target.reused for target in targets if isinstance(target.reused, Conclusion)}
    if len(reused) < len(targets):
        return {}
    against = _against({name: one.report for name, one in reused.items() if one.report.cases}, settings)
    conclusions = {}
    for target in targets:
        conclusion, of_other = reused[target.name], against.get(target.name)
        rules = target.request.settings.rules
        again = conclusion_of(conclusion.report, None, rules, conclusion.mark, of_other)
        if of_other is not None and again.verdict.exit_code:
            return {}
        conclusions[target.name] = replace(conclusion, gates=again.gates, against=again.against)
    return conclusions


def _open(stack: ExitStack, target: _Target) -> None:
    """Makes it ready to be measured; its base is measured now if it must be."""
    request, reused = target.request, target.reused
    why = ("run in full: not all targets can be reused",) if isinstance(reused, Conclusion) else reused
    require_gates(request.settings.rules, request.suites.suites)
    target.base = settled_base(target.base, request)
    target.request = request.noting(*target.base.notices, *why)
    target.side = OtherSide(target.name, stack.enter_context(open_side(target.request, target.name)))


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
    assert target.side is not None  # noqa: S101 - it was opened
    target.report = target.side.side.report()
    baseline = target.base.baseline
    if baseline is not None and not target.side.problem:
        target.report, target.comparison = compare_with_base(target.report, baseline, target.request)


def _against(reports: dict[str, RunReport], settings: Settings) -> Mapping[str, AgainstComparison]:
    """Every other target against the one that `--against` names, if that one was measured."""
    if settings.compare.against not in reports:
        return {}
    alpha = settings.rules.regression.alpha
    return against_target(reports, settings.compare.against, margin=settings.compare.margin, alpha=alpha)


def _concluded(target: _Target, against: AgainstComparison | None) -> Conclusion:
    """gate → conclude; incomplete if the target refused in the middle of it, or a limit ended the run.

    Unmeasured if it could not be started, while others could.
    """
    request, settings = target.request, target.request.settings
    if target.error is not None:
        return ended_by(target.error, settings, COULD_NOT_MEASURE)
    assert target.report is not None  # noqa: S101 - the others ended with an error
    assert target.side is not None  # noqa: S101 - as above
    mark = since_mark(target.report, request.mark, settings.rules.regression)
    conclusion = conclusion_of(target.report, target.comparison, settings.rules, mark, against)
    conclusion = remarked(conclusion, target.base, request)
    stop, refusal = request.budget.stop, target.side.problem
    problem = Problem(code="refused", message=refusal) if refusal else stop.problem if stop.cut_short else None
    if problem is None or target.report.run.stopped is not None:
        return conclusion
    return incomplete(conclusion, problem, settings.rules)
