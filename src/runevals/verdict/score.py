"""Results → layers, composites, cases and totals; arithmetic, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from math import fsum

from msgspec.structs import replace

from runevals.lib.nullable import grouped, if_known, mean
from runevals.lib.record_from import record_from
from runevals.records import (
    NEVER_SENT_CODES,
    NO_JSON,
    WORKSPACE_BROKEN,
    AttemptReport,
    Case,
    CaseReport,
    CheckResult,
    Layer,
    Layers,
    ModelIdentity,
    Outcome,
    Problem,
    Provenance,
    RunInfo,
    RunReport,
    TurnReport,
)
from runevals.records.suite import labels_of, notes_of
from runevals.verdict.cached_runs import copies
from runevals.verdict.totals import summary_of
from runevals.version import __version__

VALUE_OF: Mapping[Outcome, float] = {Outcome.FAILED: 0.0, Outcome.PASSED: 1.0}  # of what was measured
_layers = lru_cache(1024)(Layers)  # most cases of a suite have the same few


def run_report(run: RunInfo, cases: Sequence[CaseReport], *, complete: bool = True) -> RunReport:
    """Cases → report with its totals."""
    return record_from(
        RunReport,
        summary_of(cases),
        tool_version=__version__,
        run=run,
        cases=tuple(cases) if isinstance(cases, list) else cases,
        complete=complete,
    )


def nothing_run(target: ModelIdentity, provenance: Provenance) -> RunReport:
    """The report of a run without any calls."""
    run = record_from(
        RunInfo, provenance, started_at=datetime.now(UTC), duration_s=0.0, target=target, judge=None, suites=()
    )
    return run_report(run, (), complete=False)


def over_turns(number: int, turns: Sequence[TurnReport]) -> AttemptReport:
    """Layers, composite and status over all turns' checks; an answer that never came makes it errored."""
    results = _results(turns)
    layers = layer_scores(results)
    return AttemptReport(
        attempt=number,
        status=_status_over_turns(turns, results),
        composite=mean((layers.fact, layers.behavior, layers.judge)),
        layers=layers,
        turns=tuple(turns),
        graded=any(r.layer is Layer.JUDGE and r.outcome is not Outcome.SKIPPED for r in results),
    )


def _results(turns: Iterable[TurnReport]) -> list[CheckResult]:
    return [result for turn in turns for result in turn.results]


def _status_over_turns(turns: Iterable[TurnReport], results: Sequence[CheckResult]) -> Outcome:
    """The status by the checks, unless an answer never came."""
    return without_answer(turn.error for turn in turns) or status_of(results)


def without_answer(problems: Iterable[Problem | None]) -> Outcome | None:
    """What an attempt is in which an answer never came: errored, or skipped if it was not due."""
    codes = {problem.code for problem in filter(None, problems)} - {NO_JSON, WORKSPACE_BROKEN}
    if not codes:
        return None
    return Outcome.SKIPPED if codes <= NEVER_SENT_CODES else Outcome.ERRORED


def layer_scores(results: Iterable[CheckResult]) -> Layers:
    """Layer = 1 + 4 × share of passed weight; the judge layer is the mean score on 1–5. Errors leave both sums."""
    every = list(results)
    of_layer = grouped((result.layer, result) for result in every if result.outcome.measured)
    return _layers(
        fact=_by_weight(of_layer.get(Layer.FACT, [])),
        behavior=_by_weight(of_layer.get(Layer.BEHAVIOR, [])),
        judge=mean(of_five(result.score) for result in of_layer.get(Layer.JUDGE, ())),
        incomplete=tuple(sorted({result.layer for result in every if result.outcome is Outcome.ERRORED})),
    )


def of_five(share: float | None) -> float | None:
    """A share on the scale of all scores, 1–5."""
    return if_known(lambda known: 1.0 + 4.0 * known, share)


def score_of(report: RunReport) -> float | None:
    """The mean score of the cases, 1–5, with the scores of checks that pass: what two sides are compared by."""
    return of_five(mean(mean(case.values) for case in report.cases))


def status_of(results: Sequence[CheckResult]) -> Outcome:
    """Any failed → failed; else any errored → errored; else any passed → passed; else skipped."""
    outcomes = {result.outcome for result in results}
    return next(filter(outcomes.__contains__, (Outcome.FAILED, Outcome.ERRORED, Outcome.PASSED)), Outcome.SKIPPED)


def case_report(case: Case, attempts: Sequence[AttemptReport], *, quarantined: bool = False) -> CaseReport:
    """Attempts → case."""
    return record_from(
        CaseReport,
        case,
        file=case.location.file,
        line=case.location.line,
        quarantined=quarantined,
        labels=labels_of(case),
        notes=notes_of(case),
        tripwire=case.metadata.get("tripwire") is True,
        **_over_attempts(attempts),
    )


def over_attempts(case: CaseReport, attempts: Sequence[AttemptReport]) -> CaseReport:
    """`case` with these attempts instead of its own, numbered from 1."""
    numbered = [replace(attempt, attempt=number) for number, attempt in enumerate(attempts, start=1)]
    return replace(case, **_over_attempts(numbered))


def contradiction(case: CaseReport, *, of_tool: bool) -> str:
    """What a case says of itself and its attempts do not; empty if they agree.

    `of_tool`: another tool made it, which may call an attempt passed of which a check failed.
    """
    for attempt in () if of_tool else case.attempts:
        status = _status_over_turns(attempt.turns, _results(attempt.turns))
        if status is not attempt.status:
            return f"attempt {attempt.attempt} is called {attempt.status}, and by its checks is {status}"
    status = _most(case.attempts, _pass_rate(case.attempts))
    return "" if status is case.status else f"it is called {case.status}, and by its attempts is {status}"


def _over_attempts(attempts: Sequence[AttemptReport]) -> Mapping[str, object]:
    """The fields of a case: means over the measured ones; the status of the greater half, a tie passes."""
    measured = [a for a in attempts if a.status.measured]
    pass_rate = _pass_rate(attempts)
    return {
        "status": _most(attempts, pass_rate),
        "attempts": tuple(attempts),
        "layers": _mean_layers(measured),
        "composite": mean(a.composite for a in measured),
        "pass_rate": pass_rate,
        "copies": copies(attempts),
    }


def _pass_rate(attempts: Sequence[AttemptReport]) -> float | None:
    return mean(VALUE_OF.get(a.status) for a in attempts)


def _most(attempts: Sequence[AttemptReport], pass_rate: float | None) -> Outcome:
    """The status of the greater half of the measured ones, a tie passes; else errored if any is."""
    if pass_rate is not None:
        return Outcome.PASSED if pass_rate >= 0.5 else Outcome.FAILED
    return Outcome.ERRORED if any(a.status is Outcome.ERRORED for a in attempts) else Outcome.SKIPPED


def without_checks(case: CaseReport, left_out: Callable[[CheckResult], bool]) -> CaseReport:
    """`case` as if it had none of these checks."""
    return over_attempts(case, [_attempt_without(attempt, left_out) for attempt in case.attempts])


def _attempt_without(attempt: AttemptReport, left_out: Callable[[CheckResult], bool]) -> AttemptReport:
    turns = [
        replace(turn, results=tuple(result for result in turn.results if not left_out(result)))
        for turn in attempt.turns
    ]
    return over_turns(attempt.attempt, turns)


def pooled(newest: RunReport, older: Sequence[RunReport]) -> RunReport:
    """`newest` with the attempts that `older` runs made at the same cases, equal in content, added to it.

    A cached answer is not added: the run that made it may have been counted already.
    """
    more = grouped(
        ((case.suite, case.key, case.fingerprint), attempt)
        for report in older
        for case in report.cases
        for attempt in case.attempts
        if not attempt.cached
    )
    cases = []
    for case in newest.cases:
        from_cache = any(attempt.cached for attempt in case.attempts)
        others = () if from_cache else more.get((case.suite, case.key, case.fingerprint), ())
        cases.append(over_attempts(case, [*case.attempts, *others]))
    return run_report(newest.run, cases, complete=newest.complete)


def _by_weight(results: Sequence[CheckResult]) -> float | None:
    if not results:
        return None
    passed = fsum(result.weight for result in results if result.outcome is Outcome.PASSED)
    return 1.0 + 4.0 * passed / fsum(result.weight for result in results)


def _mean_layers(attempts: Sequence[AttemptReport]) -> Layers:
    if len(attempts) == 1:
        return attempts[0].layers
    incomplete = {layer for attempt in attempts for layer in attempt.layers.incomplete}
    return Layers(
        fact=mean(attempt.layers.fact for attempt in attempts),
        behavior=mean(attempt.layers.behavior for attempt in attempts),
        judge=mean(attempt.layers.judge for attempt in attempts),
        incomplete=tuple(sorted(incomplete)),
    )
