"""The tools whose results are a table of paths."""

from __future__ import annotations

from collections.abc import Sequence

from runevals.imports.results.field_map import MEASURED, CheckMap, FieldMap, Limit, Words
from runevals.imports.results.fields import Json
from runevals.lib.text.numbers import phrase
from runevals.records import Outcome
from runevals.suites.dialects.signatures import has_any


def _by_grader(trial: Json) -> Json:
    """A trial without the parts of its only grader, such as the judges of a panel; an aggregate has graders."""
    is_sum = has_any(trial.value, "gradeResult.details.[].graderType")
    if is_sum or trial.at("gradeResult.name").value in (None, "aggregate"):
        return trial
    return trial.with_fields(gradeResult={**trial["gradeResult"].fields, "details": None})


def _unfinished_vally(lines: Sequence[Json]) -> str:
    """Why the file is not of a whole run: it counts more stimuli than were run."""
    for summary in lines:
        for one in summary["evals"].entries if summary["type"].value == "run-summary" else ():
            run, planned = one["stimuliRun"].count_or_none, one["stimuliTotal"].count_or_none
            if run is not None and planned is not None and run < planned:
                return f"Vally ran {run} of {planned} stimuli of {one['name'].name_or_empty or 'its eval'}"
    return ""


def _unfinished_harbor(documents: Sequence[Json]) -> str:
    """Why a job was not finished, as its own summary says."""
    total, stats = documents[0]["n_total_trials"].count_or_none, documents[0]["stats"]
    done = stats.at("n_completed_trials|n_trials").count_or_none or 0
    return f"Harbor finished {done} of {total} trials" if total is not None and done < total else ""


PASSED, FAILED, ERRORED, SKIPPED = Outcome.PASSED, Outcome.FAILED, Outcome.ERRORED, Outcome.SKIPPED
_VERDICT = Words("verdict", {"pass": PASSED, "*": FAILED})
_WITHOUT_SKILL = "left out: the runs without the skill (baseline_outcome)"
AGENTV = FieldMap(
    NAME="agentv",
    marks=("test_id|testId", "score", "target"),
    lines=True,
    case={
        "key": "test_id|testId",
        "suite": "suite",
        "file": "projection_identity.dimensions.eval_path",
        "category": "category",
    },
    runs="attempts|trials",
    end=Words("execution_status|executionStatus", {"ok": MEASURED, "quality_failure": MEASURED, "*": ERRORED}),
    whole=_VERDICT,
    verdict=_VERDICT,
    score="score",
    limit=Limit(0.8),
    error="error|failure_reason_code",
    errors_decide=True,
    turn={
        "output": "output.-1.content|output|answer",
        "latency_s": "duration_ms ms",
        "cost_usd": "cost_usd",
        "input_tokens": "token_usage.input",
        "output_tokens": "token_usage.output",
        "model": "target",
    },
    checks=(
        CheckMap(
            at="scores",
            kind="type",
            judged=("llm-", "llm_", "rubric", "agent-judge", "g-eval", "similar"),
            behavior=("tool", "trajectory", "skill", "latency", "cost", "token", "execution"),
            verdict=Words("verdict", {"pass": PASSED, "skip": SKIPPED, "*": FAILED}),
            score="score",
            limit=Limit(0.8),
            reason="assertions",
            weight="weight",
            informs=True,
            end=Words("execution_status", {"execution_error": ERRORED, "*": MEASURED}),
            error="error",
        ),
    ),
    run={"started_at": "start_time", "times": "timestamp"},
)

WAZA = FieldMap(
    NAME="waza",
    marks=("tasks", "summary", "eval_id|eval_name"),
    version="schemaVersion",  # results from before it name none
    versions=("1",),
    lists=("tasks",),
    case={"key": "test_id", "name": "display_name", "category": "group"},
    suite="eval_name|skill",
    runs="runs",
    only_runs=True,
    whole=Words("status", {"passed": PASSED, "skipped": SKIPPED, "n/a": SKIPPED, "*": FAILED}),
    ungraded="it has no run",
    end=Words(
        "status", {"passed": PASSED, "failed": FAILED, "error": ERRORED, "skipped": SKIPPED, "n/a": SKIPPED}
    ),
    error="error_msg",
    alone="status",
    turn={
        "output": "final_output",
        "latency_s": "duration_ms ms",
        "input_tokens": "usage.input_tokens|session_digest.usage.input_tokens",
        "output_tokens": "usage.output_tokens|session_digest.usage.output_tokens",
    },
    calls={"at": "session_digest.tool_calls", "name": "name"},
    checks=(
        CheckMap(
            at="validations",
            by_name=True,
            name="identifier",
            kind="type",
            judged=("prompt",),
            behavior=("action_sequence", "behavior", "skill_invocation", "tool_", "trigger"),
            passed="passed",
            score="score",
            reason="feedback",
            weight="weight",
        ),
    ),
    run={
        "models": "config.model_id",
        "judges": "config.judge_model",
        "started_at": "timestamp",
        "duration_s": "summary.duration_ms ms",
    },
    notice=lambda documents: phrase(documents[0]["baseline_outcome"].value is not None, _WITHOUT_SKILL),
)

VALLY = FieldMap(
    NAME="vally",
    marks=("gradeResult", "stimulus|trajectory"),
    lines=True,
    # The oldest form has no type; other lines are summaries.
    rows_of=lambda lines, _: [_by_grader(one) for one in lines if one["type"].value in ("trial-result", None, "")],
    case={
        "key": "stimulus|trajectory.stimulus.name",
        "suite": "evalName",
        "file": "evalFilePath",
        "variant": "variant",
    },
    number="trialIndex",
    planned="totalTrials",
    end=Words("status", {"success": MEASURED, "error": ERRORED, "skipped": SKIPPED, "ok": MEASURED}),
    passed="gradeResult.passed",
    score="gradeResult.score",
    error="error|skipReason",
    ungraded="the trial was not graded",
    turn={
        "prompt": "trajectory.stimulus.prompt",
        "output": "trajectory.output",
        "latency_s": "trajectory.metrics.wallTimeMs|durationMs ms",
        "input_tokens": "trajectory.metrics.tokenUsage.inputTokens",
        "output_tokens": "trajectory.metrics.tokenUsage.outputTokens",
        "model": "model",
    },
    calls={"at": "trajectory.events", "name": "data.toolName", "input": "data.arguments"},
    checks=(
        CheckMap(
            at="gradeResult.details|gradeResult",
            kind="graderType|name",
            sort="kind",
            judged=("llm", "human"),
            behavior=("tool-", "skill-", "turn-", "token-", "wall-", "error-", "completed", "diff-"),
            passed="passed",
            score="score",
            reason="evidence",
            error="error",
        ),
    ),
    run={"times": "gradeResult.timestamp"},
    why_stopped=_unfinished_vally,
)

HARBOR = FieldMap(
    NAME="harbor",
    marks=("trial_name|n_total_trials", "task_name|stats"),  # of a trial, and of their job
    version="schema_version",
    versions=("1",),
    rows_of=lambda rows, _: [row for row in rows if row["task_name"].value is not None],
    case={"key": "task_name", "suite": "source", "variant": "agent_info.name"},
    content=("task_checksum",),
    end=Words("reward_valid", {"true": MEASURED, "false": ERRORED}),
    error="exception_info.exception_message|exception_info.exception_type",
    ungraded="the verifier gave no reward",
    turn={
        "input_tokens": "agent_result.n_input_tokens",
        "output_tokens": "agent_result.n_output_tokens",
        "cost_usd": "agent_result.cost_usd",
        "model": "agent_info.model_info.name",
    },
    checks=(CheckMap(at="verifier_result.rewards", by_name=True, score=".", limit=Limit(1.0), scale="share"),),
    run={"times": "finished_at", "started_at": "started_at"},
    counted=("n_total_trials",),
    why_stopped=_unfinished_harbor,
)

PYDANTIC_EVALS = FieldMap(
    NAME="pydantic-evals",
    marks=("cases", "failures", "analyses|report_evaluator_failures|trace_id"),
    lists=("cases", "failures"),
    suite="dataset_name|name",
    case={"key": "source_case_name|name", "category": "metadata.category"},
    content=("inputs", "expected_output"),
    number="name",
    error="error_message",
    errors_decide=True,
    turn={
        "prompt": "inputs",
        "expected": "expected_output",
        "output": "output",
        "latency_s": "task_duration",
        "cost_usd": "metrics.cost",
        "input_tokens": "metrics.input_tokens",
        "output_tokens": "metrics.output_tokens",
    },
    checks=(
        CheckMap(at="assertions", by_name=True, kind="source.name", passed="value", reason="reason"),
        CheckMap(
            at="scores",
            by_name=True,
            kind="source.name",
            score="value",
            limit=Limit(0.5),
            scale="share",
            reason="reason",
        ),
        CheckMap(at="evaluator_failures", kind="source.name", error="error_message"),
    ),
)
