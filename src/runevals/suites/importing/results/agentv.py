"""The `index.jsonl` of an agentv run, and other JSON Lines of its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runevals.records import CheckResult, Layer, TurnReport
from runevals.suites.importing.results.fields import Json
from runevals.suites.importing.results.opened import OpenedResults
from runevals.suites.importing.results.records import (
    ImportedAttempt,
    ImportedCase,
    ImportedRun,
    check_result,
    errored,
    failed_as_a_whole,
    joined,
    numbered,
    unanswered,
)

NAME = "agentv"
PASSES = 0.8  # the score from which agentv calls a result passed, if it does not say its verdict
_JUDGED = ("llm-", "llm_", "rubric", "agent-judge", "g-eval", "similar")
_BEHAVIOR = ("tool", "trajectory", "skill", "latency", "cost", "token", "execution")


def recognises(file: OpenedResults) -> bool:
    """Rows with `test_id` (`testId` in old ones) and `score`."""
    return all(_is_row(row) for row in _rows(file)) and bool(_rows(file))


def _rows(file: OpenedResults) -> tuple[Json, ...]:
    """The lines; a file of one line is one JSON object."""
    return file.rows or (() if file.document is None else (file.document,))


def _is_row(row: Json) -> bool:
    fields = row.value if isinstance(row.value, dict) else {}
    return ("test_id" in fields or "testId" in fields) and "score" in fields


def read(file: OpenedResults) -> ImportedRun:
    """The rows. Raises InvalidDocument with the line."""
    rows = _rows(file)
    targets = tuple(dict.fromkeys(row["target"].name_or_empty for row in rows))
    starts = [moment for row in rows if (moment := row["start_time"].moment_or_none)]
    at = [moment for row in rows if (moment := row["timestamp"].moment_or_none)]
    began = min(starts or at, default=None)
    return ImportedRun(
        tool=NAME,
        path=file.display_path,
        cases=joined(_case(row, several=len(targets) > 1) for row in rows),
        models=tuple(filter(None, targets)),
        started_at=began,
        duration_s=(max(at) - began).total_seconds() if at and began else 0.0,
    )


def _case(row: Json, *, several: bool) -> ImportedCase:
    """A row; the results do not say what was asked, so that only the name tells a case."""
    key = (row["test_id"] if row["test_id"].value is not None else row["testId"]).text
    suite = row["suite"].name_or_empty or NAME
    entries = row["attempts"].entries or row["trials"].entries
    attempts = tuple(_attempt(one, row, entries) for one in entries or [row])
    verdict = row["verdict"].name_or_empty
    if verdict.casefold() not in ("", "pass", "borderline", "skip"):
        attempts = failed_as_a_whole(attempts, verdict)
    return ImportedCase(
        suite=f"{suite} ({row['target'].name_or_empty})" if several else suite,
        key=key,
        name=key,
        place=row.place,
        content=key,
        file=row["projection_identity"]["dimensions"]["eval_path"].name_or_empty,
        category=row["category"].name_or_empty or None,
        attempts=attempts,
    )


def _attempt(one: Json, row: Json, attempts: Sequence[Json]) -> ImportedAttempt:
    """One of the row's attempts; what only the row says, such as time and tokens, is of an only attempt."""
    whole = row if len(attempts) <= 1 else one
    of_row = _failed_to_run(row) and not any(map(_failed_to_run, attempts))  # and which one failed is not said
    failed_to_run = of_row or _failed_to_run(one)
    usage = whole["token_usage"]
    error = one["error"].text_or_none or row["error"].text_or_none or row["failure_reason_code"].text_or_none
    turn = TurnReport(
        prompt="",
        expected=None,
        output=None if failed_to_run else _output(whole),
        results=() if failed_to_run else numbered(list(_checks(one))),
        latency_s=whole["duration_ms"].seconds_or_none,
        cost_usd=one["cost_usd"].amount_or_none,
        input_tokens=usage["input"].count_or_none,
        output_tokens=usage["output"].count_or_none,
        model=row["target"].name_or_empty or None,
        error=unanswered(error or "") if failed_to_run else None,
    )
    measured = not failed_to_run and not any(result.error for result in turn.results)
    return ImportedAttempt(turn=turn, passed=_verdict(one) if measured else None)


def _failed_to_run(one: Json) -> bool:
    """Whether it was not measured: its status is another than these two, or it has none and an error."""
    status = one["execution_status"] if one["execution_status"].value else one["executionStatus"]
    if status.value is None:
        return bool(one["error"].value)
    return status.value not in ("ok", "quality_failure")


def _output(row: Json) -> str | None:
    """The answer, in the rows that have it; of messages, the last one."""
    output = row["output"] if row["output"].value is not None else row["answer"]
    if isinstance(output.value, list):
        last = next(reversed(output.entries), None)
        return None if last is None or not isinstance(last.value, dict) else last["content"].text_or_none
    return output.text_or_none


def _verdict(one: Json) -> bool:
    """Raises InvalidDocument for a row without a score."""
    if isinstance(one["verdict"].value, str):
        return one["verdict"].value == "pass"
    score = one["score"].number_or_none
    if score is None:
        raise one["score"].wrong("a score")
    return score >= PASSES


def _checks(one: Json) -> Iterator[CheckResult]:
    """The graders; the score itself if there is none."""
    scores = one["scores"].entries
    if not scores:
        yield check_result("score", "score", passed=_verdict(one), score=one["score"].number_or_none)
    for score in scores:
        kind = score["type"].name_or_empty or "grader"
        weight = score["weight"].amount_or_none
        informs = weight == 0  # it decides nothing, also if it could not be made
        skipped = score["verdict"].value == "skip" or informs
        result = check_result(
            score["name"].name_or_empty or kind,
            kind,
            passed=None if skipped else _verdict(score),
            score=score["score"].number_or_none,
            reason="; ".join(_failures(score)),
            layer=_layer(kind),
            weight=weight or 1.0,
        )
        broken = score["execution_status"].value == "execution_error" or score["error"].value
        yield (
            errored(result, score["error"].text_or_none or "the grader failed")
            if broken and not informs
            else result
        )


def _failures(score: Json) -> Iterator[str]:
    for assertion in score["assertions"].entries:
        if assertion["passed"].value is False:
            evidence = assertion["evidence"].text_or_none
            yield f"{assertion['text'].text_or_none}{f' ({evidence})' if evidence else ''}"


def _layer(kind: str) -> Layer:
    if kind.startswith(_JUDGED):
        return Layer.JUDGE
    return Layer.BEHAVIOR if kind.startswith(_BEHAVIOR) else Layer.FACT
