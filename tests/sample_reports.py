"""Run reports for tests: cases by key, one letter an attempt (p passed, f failed, e errored, s skipped)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from runevals.records import (
    AttemptReport,
    CaseReport,
    CheckResult,
    Layer,
    Layers,
    ModelIdentity,
    Outcome,
    Problem,
    RunInfo,
    RunReport,
    SuiteInfo,
    TurnReport,
)
from runevals.verdict.score import over_attempts, over_turns, run_report

LETTERS = {"p": Outcome.PASSED, "f": Outcome.FAILED, "e": Outcome.ERRORED, "s": Outcome.SKIPPED}


def check(outcome: Outcome, **more: object) -> CheckResult:
    """One ExactMatch result."""
    error = Problem(code="target_failed", message="connection reset") if outcome is Outcome.ERRORED else None
    score = {Outcome.PASSED: 1.0, Outcome.FAILED: 0.0}.get(outcome)
    reason = {Outcome.PASSED: "the expected text was found", Outcome.FAILED: "not found: 30 days"}.get(outcome, "")
    fields: dict = {
        "id": "ExactMatch",
        "evaluator": "ExactMatch",
        "layer": Layer.FACT,
        "outcome": outcome,
        "score": score,
        "value": score,
        "reason": reason,
        "error": error,
    }
    return CheckResult(**{**fields, **more})


def attempt(
    number: int, outcome: Outcome, *, output: str | None = None, graded: float | None = None
) -> AttemptReport:
    """One attempt with one turn and one check; `graded` is its share where a judge scored it."""
    fact = {Outcome.PASSED: 5.0, Outcome.FAILED: 1.0}.get(outcome)
    composite = fact if graded is None else 1 + 4 * graded
    answer = output or {Outcome.PASSED: "Within 30 days.", Outcome.FAILED: "Please ask support."}.get(outcome)
    result = check(outcome)
    return AttemptReport(
        attempt=number,
        status=outcome,
        composite=composite,
        layers=Layers(fact=composite, incomplete=(Layer.FACT,) if outcome is Outcome.ERRORED else ()),
        turns=(
            TurnReport(
                prompt="How long can I return it?",
                expected="30 days",
                output=answer,
                results=(result,),
                latency_s=0.5,
                cost_usd=0.001,
                input_tokens=10,
                output_tokens=5,
                error=result.error,
            ),
        ),
        graded=graded is not None,
    )


def case(key: str, outcomes: str | list[float], **fields: object) -> CaseReport:
    """A case from letters, or from graded shares; its content is another for each key."""
    if isinstance(outcomes, str):
        attempts = tuple(attempt(n, LETTERS[letter]) for n, letter in enumerate(outcomes, start=1))
    else:
        attempts = tuple(
            attempt(n, Outcome.PASSED if share >= 0.5 else Outcome.FAILED, graded=share)
            for n, share in enumerate(outcomes, start=1)
        )
    measured = [a for a in attempts if a.status in (Outcome.PASSED, Outcome.FAILED)]
    rate = sum(a.status is Outcome.PASSED for a in measured) / len(measured) if measured else None
    if rate is not None:
        status = Outcome.PASSED if rate >= 0.5 else Outcome.FAILED
    else:
        status = Outcome.ERRORED if any(a.status is Outcome.ERRORED for a in attempts) else Outcome.SKIPPED
    shares = [a.share for a in measured if a.share is not None]
    composite = 1 + 4 * sum(shares) / len(shares) if shares else None
    given: dict = {
        "suite": "evals/evals.json",
        "key": key,
        "name": f"case {key}",
        "file": "evals/evals.json",
        "line": 7,
        "fingerprint": sha256(key.encode("utf-8", "surrogatepass")).hexdigest(),
        "status": status,
        "attempts": attempts,
        "layers": Layers(fact=composite),
        "composite": composite,
        "pass_rate": rate,
    }
    return CaseReport(**{**given, **fields})


Checks = str | Sequence[str | float]  # of a turn: a letter each, or a score 0–1, which passes from 0.5 on


def checked(number: int, turns: Sequence[Checks]) -> AttemptReport:
    """One attempt whose turns have these checks, which are called c1, c2 and so on."""
    [sample] = attempt(1, Outcome.PASSED).turns
    return over_turns(
        number, [replace(sample, results=tuple(map(_checked, turn, range(1, 99)))) for turn in turns]
    )


def _checked(value: str | float, number: int) -> CheckResult:
    if isinstance(value, str):
        return check(LETTERS[value], id=f"c{number}")
    return check(Outcome.PASSED if value >= 0.5 else Outcome.FAILED, id=f"c{number}", score=value, value=value)


def checked_case(key: str, *runs: Sequence[Checks], **fields: object) -> CaseReport:
    """A case of runs with several checks: the turns of each run."""
    attempts = [checked(number, turns) for number, turns in enumerate(runs, start=1)]
    return over_attempts(case(key, "p", **fields), attempts)


def report(
    cases: Mapping[str, str | list[float]] | list[CaseReport],
    *,
    deterministic: bool = False,
    repeat: int | None = None,
) -> RunReport:
    """A report of these cases; `repeat` rounds were planned, as many as there are attempts if not told."""
    listed = cases if isinstance(cases, list) else [case(key, outcomes) for key, outcomes in cases.items()]
    info = RunInfo(
        started_at=datetime(2026, 11, 20, 12, 0, tzinfo=UTC),
        duration_s=2.5,
        target=ModelIdentity(type="openai", model="gpt-6.1-terra", deterministic=deterministic),
        judge=None,
        suites=(
            SuiteInfo(name="evals/evals.json", path="evals/evals.json", dialect="eval-document", fingerprint="a"),
        ),
        repeat=repeat or max((len(case.attempts) for case in listed), default=1),
        commit="a1b2c3d4e5",
        ref="main",
        python="3.12.1",
    )
    return run_report(info, listed)


def without_times(value: Any) -> Any:
    """A results document without what differs from run to run."""
    if isinstance(value, dict):
        return {
            name: without_times(item)
            for name, item in value.items()
            if name not in ("started_at", "duration_s", "latency_s", "latency_p95_s")
        }
    return [without_times(item) for item in value] if isinstance(value, list) else value
