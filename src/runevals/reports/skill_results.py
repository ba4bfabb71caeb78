"""`benchmark.json` and `grading.json`, in the names of skill-creator's viewer or those of agentskills.io."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import stdev
from typing import Any

from msgspec.structs import replace

from runevals.lib.nullable import mean
from runevals.records import CaseReport, CheckResult, Comparison, Conclusion, Outcome, RunReport
from runevals.records.report import AttemptReport
from runevals.verdict.wording import about_against

HEAD, BASE, WITHOUT = "with_skill", "old_skill", "without_skill"
FRESH_RUN = "a fresh run, to check a possible loss"
_STATISTICS = ("pass_rate", "time_seconds", "tokens")


def _text(document: Callable[[Conclusion, str], Mapping[str, object]], checks: str, conclusion: Conclusion) -> str:
    """The whole text of a file; `checks` is its key for the list of checks."""
    return json.dumps(document(conclusion, checks), indent=2) + "\n"


def _benchmark(conclusion: Conclusion, checks: str) -> Mapping[str, object]:
    """Every run of every case on both sides, and the means of those that were measured."""
    report = conclusion.report
    sides, notes = [(HEAD, report)], [conclusion.verdict.headline]
    fresh: list[dict[str, object]] = []
    if (against := conclusion.against) is not None:
        notes.append(about_against(against))
        if against.other is not None:
            sides.append((WITHOUT, against.other))
    if conclusion.comparison is not None:
        sides.append((BASE, conclusion.comparison.base))
        fresh += _fresh_runs(conclusion.comparison, checks)
    runs = [_run(case, attempt, side, checks) for side, one in sides for case, attempt in _attempts(one)]
    judge = report.run.judge
    return {
        "metadata": {
            "skill_name": ", ".join(dict.fromkeys(suite.name for suite in report.run.suites)),
            "skill_path": ", ".join(dict.fromkeys(_folder(suite.path) for suite in report.run.suites)),
            "executor_model": report.run.target.model or report.run.target.type,
            "analyzer_model": "" if judge is None else judge.model or judge.type,
            "timestamp": f"{report.run.started_at:%Y-%m-%dT%H:%M:%SZ}",
            "evals_run": [_eval_id(case) for case in report.cases],
            "runs_per_configuration": report.run.repeat,
        },
        "runs": runs + fresh,
        "run_summary": _summary(runs, as_text=checks == "expectations"),
        "notes": notes,
    }


def _fresh_runs(comparison: Comparison, checks: str) -> Iterator[dict[str, object]]:
    """The fresh runs of single cases, numbered after the scored ones. They are in no mean."""
    for finding in comparison.findings:
        for side, case in ((HEAD, finding.head), (BASE, finding.base)):
            if case is None:
                continue
            for attempt in case.attempts:
                number = comparison.rounds_planned + attempt.attempt
                yield _run(case, replace(attempt, attempt=number), side, checks, (FRESH_RUN,))


def _grading(conclusion: Conclusion, checks: str) -> Mapping[str, object]:
    """Every check of this run that was measured, with its evidence."""
    attempts = list(_attempts(conclusion.report))
    entries = [
        {**_entry(result), "eval_id": _eval_id(case), "run_number": attempt.attempt}
        for case, attempt in attempts
        for result in _measured(attempt)
    ]
    passed = sum(bool(entry["passed"]) for entry in entries)
    turns = [turn for _, attempt in attempts for turn in attempt.turns]
    calls = Counter(call.name for turn in turns for call in turn.tool_calls or ())
    return {
        checks: entries,
        "summary": _counts(passed, len(entries)),
        "execution_metrics": {
            "tool_calls": dict(calls),
            "total_tool_calls": calls.total(),
            "total_steps": len(turns),
            "errors_encountered": sum(_errors(attempt) for _, attempt in attempts),
            "output_chars": sum(len(turn.output or "") for turn in turns),
        },
        "timing": {"total_duration_seconds": round(sum(_seconds(attempt) for _, attempt in attempts), 1)},
    }


def _attempts(report: RunReport) -> Iterator[tuple[CaseReport, AttemptReport]]:
    return ((case, attempt) for case in report.cases for attempt in case.attempts)


def _run(
    case: CaseReport, attempt: AttemptReport, side: str, checks: str, notes: Sequence[str] = ()
) -> dict[str, object]:
    entries = [_entry(result) for result in _measured(attempt)]
    errors = _errors(attempt)
    unmeasured = "1 check or answer" if errors == 1 else f"{errors} checks or answers"
    return {
        "eval_id": _eval_id(case),
        "eval_name": case.name,
        "configuration": side,
        "run_number": attempt.attempt,
        "result": {
            **_counts(sum(bool(entry["passed"]) for entry in entries), len(entries)),
            "time_seconds": round(_seconds(attempt), 1),
            "tokens": sum((turn.input_tokens or 0) + (turn.output_tokens or 0) for turn in attempt.turns),
            "tool_calls": sum(len(turn.tool_calls or ()) for turn in attempt.turns),
            "errors": errors,
        },
        checks: entries,
        "notes": [*notes, *([f"{unmeasured} could not be measured"] if errors else [])],
    }


def _counts(passed: int, total: int) -> dict[str, object]:
    rate = round(passed / total, 4) if total else None
    return {"pass_rate": rate, "passed": passed, "failed": total - passed, "total": total}


def _measured(attempt: AttemptReport) -> list[CheckResult]:
    return [result for turn in attempt.turns for result in turn.results if result.outcome.measured]


def _errors(attempt: AttemptReport) -> int:
    """Missing answers, and checks that could not be made."""
    return sum(
        1 if turn.error is not None else sum(result.outcome is Outcome.ERRORED for result in turn.results)
        for turn in attempt.turns
    )


def _entry(result: CheckResult) -> dict[str, object]:
    text = result.details.get("statement", result.id)
    statement = f"not: {text}" if result.negated else text
    return {"text": statement, "passed": result.passed, "evidence": result.reason}


def _seconds(attempt: AttemptReport) -> float:
    return sum(turn.latency_s or 0.0 for turn in attempt.turns)


def _summary(runs: Sequence[Mapping[str, object]], *, as_text: bool) -> Mapping[str, object]:
    """Means of each side, and by how much ours is more than without the skill, or else than with the old one."""
    sides: dict[str, dict[str, dict[str, float | None]]] = {}
    for side in dict.fromkeys(str(run["configuration"]) for run in runs):
        results: list[Any] = [run["result"] for run in runs if run["configuration"] == side]
        measured = [result for result in results if result["pass_rate"] is not None]
        sides[side] = {name: _statistics([one[name] for one in measured]) for name in _STATISTICS}
    other = next((side for side in (WITHOUT, BASE) if side in sides), None)
    if other is None or HEAD not in sides:
        return sides
    means = {name: (sides[HEAD][name]["mean"], sides[other][name]["mean"]) for name in _STATISTICS}
    delta = {name: None if head is None or base is None else head - base for name, (head, base) in means.items()}
    digits = dict(zip(_STATISTICS, (2, 1, 0), strict=True))
    texts = {name: "n/a" if value is None else f"{value:+.{digits[name]}f}" for name, value in delta.items()}
    numbers = {name: None if value is None else round(value, 4) for name, value in delta.items()}
    return {**sides, "delta": texts if as_text else numbers}


def _statistics(values: Sequence[float]) -> dict[str, float | None]:
    """All null if nothing was measured."""
    if not values:
        return dict.fromkeys(("mean", "stddev", "min", "max"))
    spread = stdev(values) if len(values) > 1 else 0.0
    statistics = {"mean": mean(values) or 0.0, "stddev": spread, "min": min(values), "max": max(values)}
    return {name: round(value, 4) for name, value in statistics.items()}


def _eval_id(case: CaseReport) -> int | str:
    return int(case.key) if case.key.isascii() and case.key.isdigit() and len(case.key) < 16 else case.key


def _folder(path: str) -> str:
    """The skill's folder, by the path of its suite."""
    return path.rpartition("/")[0].removesuffix("evals").removesuffix("/") or "."


benchmark = partial(_text, _benchmark, "expectations")
grading = partial(_text, _grading, "expectations")
benchmark_of_agentskills = partial(_text, _benchmark, "assertion_results")
grading_of_agentskills = partial(_text, _grading, "assertion_results")
