"""The `test_run_*.json` that DeepEval writes to DEEPEVAL_RESULTS_FOLDER."""

from __future__ import annotations

import re

from runevals.lib.parsing.canonical import canonical
from runevals.records import CheckResult, Layer, ToolCall, TurnReport, cut_name, one_line
from runevals.suites.importing.results.fields import Json
from runevals.suites.importing.results.opened import OpenedResults
from runevals.suites.importing.results.records import (
    ImportedAttempt,
    ImportedCase,
    ImportedRun,
    check_result,
    distinct_keys,
    errored,
    joined,
    numbered,
    stated_failure,
)
from runevals.suites.importing.results.repetitions import whole_repeats, without_count

NAME = "deepeval"
WRAPPER = "testRunData"  # around the same in `.latest_test_run.json`
UNFINISHED = "the metric has no result: it raised, or DeepEval was interrupted"
_COUNTED = re.compile(r"(?:conversational_)?test_case_\d+")  # the name of a test case that has none


def recognises(file: OpenedResults) -> bool:
    """A test run, alone or as the latest one that DeepEval keeps."""
    return file.has("testCases", "metricsScores") or file.has("testCases", "testPassed") or file.has(WRAPPER)


def read(file: OpenedResults) -> ImportedRun:
    """The test run. Raises InvalidDocument."""
    assert file.document is not None  # noqa: S101 - it was recognised
    run = file.document[WRAPPER] if file.has(WRAPPER) else file.document
    cases = run["testCases"].entries + run["conversationalTestCases"].entries
    if not cases:
        raise run["testCases"].wrong("a list of test cases")
    metrics = [metric for case in cases for metric in case["metricsData"].entries]
    return ImportedRun(
        tool=NAME,
        path=file.display_path,
        cases=joined(_cases(cases, run["testFile"].name_or_empty or NAME)),
        judges=tuple(dict.fromkeys(filter(None, (one["evaluationModel"].name_or_empty for one in metrics)))),
        duration_s=run["runDuration"].amount_or_none or 0.0,
    )


def _cases(cases: list[Json], suite: str) -> list[ImportedCase]:
    contents = [_content(case) for case in cases]
    names = _names(cases)
    prompts = [_prompt(case) for case in cases]
    keys = distinct_keys(list(zip(names, prompts, contents, strict=True)))
    return [
        ImportedCase(
            suite=suite,
            key=key,
            name=cut_name(name or one_line(prompt) or key),
            place=case.place,
            content=content,
            tags=tuple(tag.text for tag in case["tags"].entries),
            attempts=(_attempt(case, prompt),),
        )
        for case, key, name, prompt, content in zip(cases, keys, names, prompts, contents, strict=True)
    ]


def _names(cases: list[Json]) -> list[str]:
    """The authors' names or those of the tests, without the count of `--repeat`; empty for DeepEval's own."""
    names = [case["name"].name_or_empty for case in cases]
    several = whole_repeats(("", name) for name in names)
    names = [without_count(name) if ("", without_count(name)) in several else name for name in names]
    return ["" if _COUNTED.fullmatch(name) else name for name in names]


def _content(case: Json) -> object:
    inputs = [case.fields.get(name) for name in ("input", "expectedOutput", "context", "scenario")]
    metrics = [[one.fields.get("name"), one.fields.get("threshold")] for one in case["metricsData"].entries]
    return canonical([inputs, sorted(metrics, key=canonical)])


def _prompt(case: Json) -> str:
    """The input; of a conversation, its scenario or first turn."""
    first = next(iter(case["turns"].entries), None)
    texts = [case["input"].text_or_none, case["scenario"].text_or_none]
    return next(filter(None, texts), None) or (first["content"].text_or_none if first else None) or ""


def _attempt(case: Json, prompt: str) -> ImportedAttempt:
    last = next(reversed(case["turns"].entries), None)
    output = case["actualOutput"].text_or_none or (last["content"].text_or_none if last else None)
    calls = case["toolsCalled"]
    turn = TurnReport(
        prompt=prompt,
        expected=case["expectedOutput"].text_or_none,
        output=output,
        results=numbered([_check(metric) for metric in case["metricsData"].entries])
        or stated_failure(case["success"]),
        latency_s=case["completionTime"].amount_or_none,
        cost_usd=case["tokenCost"].amount_or_none,
        input_tokens=case["inputTokenCount"].count_or_none,
        output_tokens=case["outputTokenCount"].count_or_none,
        tool_calls=None if calls.value is None else tuple(map(_call, calls.entries)),
    )
    measured = not any(result.error for result in turn.results)
    decided = measured and bool(turn.results) and case["success"].value is not None
    return ImportedAttempt(turn=turn, passed=case["success"].flag if decided else None)


def _call(call: Json) -> ToolCall:
    return ToolCall(
        name=call["name"].text,
        input=call["inputParameters"].value,
        output=call["output"].text_or_none,
    )


def _check(metric: Json) -> CheckResult:
    """A metric; one that a model gave is the judge's, and so is any score between 0 and 1."""
    name, score = metric["name"].text, metric["score"].number_or_none
    judge = metric["evaluationModel"].name_or_empty or None
    graded = judge is not None or score not in (None, 0.0, 1.0)
    flaky = metric["flaky"].value is True  # DeepEval counts it, but lets it decide nothing
    unfinished = metric["success"].value is None and not flaky
    error = metric["error"].text_or_none or (UNFINISHED if unfinished else "")
    silent = not error and score is None  # it only says whether it passed
    result = check_result(
        name,
        name,
        passed=None if flaky or metric["success"].value is None else metric["success"].flag,
        score=score,
        reason=metric["reason"].text_or_none or "",
        layer=Layer.JUDGE if graded and not silent else Layer.FACT,
        threshold=metric["threshold"].number_or_none,
        judge_model=judge,
        cost_usd=metric["evaluationCost"].amount_or_none,
    )
    return errored(result, error) if error else result
