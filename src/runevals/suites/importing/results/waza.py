"""The results that `waza run --output FILE.json` writes."""

from __future__ import annotations

from runevals.records import CheckResult, Layer, ToolCall, TurnReport
from runevals.suites.importing.results.fields import Json
from runevals.suites.importing.results.opened import OpenedResults
from runevals.suites.importing.results.records import (
    ImportedAttempt,
    ImportedCase,
    ImportedRun,
    check_result,
    failed_as_a_whole,
    joined,
    numbered,
    unanswered,
)

NAME = "waza"
VERSION = "1"  # the main version; results from before it name none
STATUSES = ("passed", "failed", "error", "skipped", "n/a")
_BEHAVIOR = frozenset(
    {"action_sequence", "behavior", "skill_invocation", "tool_calls", "tool_constraint", "trigger"}
)


def recognises(file: OpenedResults) -> bool:
    """What waza calls an evaluation outcome."""
    return file.has("tasks", "summary", "eval_id") or file.has("tasks", "summary", "eval_name")


def read(file: OpenedResults) -> ImportedRun:
    """The outcome of an evaluation. Raises InvalidDocument."""
    assert file.document is not None  # noqa: S101 - it was recognised
    outcome = file.document
    version = outcome["schemaVersion"]
    if version.value is not None and version.text.partition(".")[0] != VERSION:
        raise version.wrong(f"a version of waza's results that we read ({VERSION})")
    tasks = outcome["tasks"].entries
    if not tasks:
        raise outcome["tasks"].wrong("a list of tasks")
    suite = outcome["eval_name"].name_or_empty or outcome["skill"].name_or_empty or NAME
    baseline = outcome["baseline_outcome"].value is not None
    return ImportedRun(
        tool=NAME,
        path=file.display_path,
        cases=joined(_case(task, suite) for task in tasks),
        models=tuple(filter(None, [outcome["config"]["model_id"].name_or_empty])),
        judges=tuple(filter(None, [outcome["config"]["judge_model"].name_or_empty])),
        started_at=outcome["timestamp"].moment_or_none,
        duration_s=outcome["summary"]["duration_ms"].seconds_or_none or 0.0,
        notices=("left out: the runs without the skill (baseline_outcome)",) if baseline else (),
    )


def _case(task: Json, suite: str) -> ImportedCase:
    """A task; the results do not say what was asked, so that only the name tells a case."""
    key, status = task["test_id"].text, task["status"].name_or_empty
    attempts = tuple(map(_attempt, task["runs"].entries)) or (_unrun(task),)
    if status not in ("", "passed", "skipped", "n/a"):
        attempts = failed_as_a_whole(attempts, status)
    return ImportedCase(
        suite=suite,
        key=key,
        name=task["display_name"].name_or_empty or key,
        place=task.place,
        content=key,
        category=task["group"].name_or_empty or None,
        attempts=attempts,
    )


def _unrun(task: Json) -> ImportedAttempt:
    """The attempt of a task that was not run."""
    why = (
        task["error_msg"].text_or_none
        or f"it has no run; its status is {task['status'].name_or_empty or 'unknown'}"
    )
    turn = TurnReport(prompt="", expected=None, output=None, results=(), error=unanswered(why))
    return ImportedAttempt(turn=turn)


def _attempt(run: Json) -> ImportedAttempt:
    status = run["status"].value
    if status not in STATUSES:
        raise run["status"].wrong(f"one of {', '.join(STATUSES)}")
    session = run["session_digest"]
    usage = run["usage"] if run["usage"].value is not None else session["usage"]
    measured = status in ("passed", "failed")
    checks = [_check(name, grader) for name, grader in run["validations"].members]
    checks = checks or [check_result("status", "status", passed=status == "passed")]
    turn = TurnReport(
        prompt="",
        expected=None,
        output=run["final_output"].text_or_none if measured else None,
        results=numbered(checks) if measured else (),
        latency_s=run["duration_ms"].seconds_or_none,
        input_tokens=usage["input_tokens"].count_or_none,
        output_tokens=usage["output_tokens"].count_or_none,
        tool_calls=_calls(session),
        error=unanswered(run["error_msg"].text_or_none or "") if status == "error" else None,
    )
    return ImportedAttempt(turn=turn, passed=status == "passed" if measured else None)


def _calls(session: Json) -> tuple[ToolCall, ...] | None:
    calls = session["tool_calls"]
    if calls.value is None:
        return None
    return tuple(ToolCall(name=call["name"].name_or_empty or "tool") for call in calls.entries)


def _check(name: str, grader: Json) -> CheckResult:
    kind = grader["type"].name_or_empty or "grader"
    layer = Layer.JUDGE if kind == "prompt" else Layer.BEHAVIOR if kind in _BEHAVIOR else Layer.FACT
    return check_result(
        grader["identifier"].name_or_empty or name,
        kind,
        passed=grader["passed"].flag,
        score=grader["score"].number_or_none,
        reason=grader["feedback"].text_or_none or "",
        layer=layer,
        weight=grader["weight"].amount_or_none or 1.0,
    )
