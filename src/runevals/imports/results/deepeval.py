"""The `test_run_*.json` that DeepEval writes to DEEPEVAL_RESULTS_FOLDER."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runevals.imports.results.field_map import MEASURED, CheckMap, FieldMap, Keyed, Words
from runevals.imports.results.fields import Json
from runevals.imports.results.records import distinct_keys
from runevals.imports.results.repetitions import whole_repeats, without_count
from runevals.lib.parsing.canonical import canonical
from runevals.records import Outcome, one_line

_COUNTED = re.compile(r"(?:conversational_)?test_case_\d+")  # the name of a test case that has none
_PROMPT = "input|scenario|turns.0.content"


def _keyed(cases: Sequence[Json]) -> list[Keyed]:
    """Keys cases by the authors' names or the tests' names, without the count of `--repeat`; else by the input."""
    names = [case["name"].name_or_empty for case in cases]
    several = whole_repeats(("", name) for name in names)
    names = [without_count(name) if ("", without_count(name)) in several else name for name in names]
    names = ["" if _COUNTED.fullmatch(name) else name for name in names]
    contents = [_content(case) for case in cases]
    prompts = [case.at(_PROMPT).text_or_none or "" for case in cases]
    keys = distinct_keys(list(zip(names, prompts, contents, strict=True)))
    titles = [name or one_line(prompt) or key for name, prompt, key in zip(names, prompts, keys, strict=True)]
    return list(zip(keys, titles, contents, strict=True))


def _content(case: Json) -> object:
    inputs = [case.fields.get(name) for name in ("input", "expectedOutput", "context", "scenario")]
    metrics = [[one.fields.get("name"), one.fields.get("threshold")] for one in case["metricsData"].entries]
    return canonical([inputs, sorted(metrics, key=canonical)])


DEEPEVAL = FieldMap(
    NAME="deepeval",
    marks=("testCases|testRunData", "metricsScores|testPassed|testRunData"),  # the latest run is wrapped
    lists=("testRunData.testCases|testCases", "testRunData.conversationalTestCases|conversationalTestCases"),
    suite="testRunData.testFile|testFile",
    case={"key": "name", "tags": "tags"},
    keyed=_keyed,
    passed="success",
    alone="success",
    only_failure=True,
    turn={
        "prompt": _PROMPT,
        "expected": "expectedOutput",
        "output": "actualOutput|turns.-1.content",
        "latency_s": "completionTime",
        "cost_usd": "tokenCost",
        "input_tokens": "inputTokenCount",
        "output_tokens": "outputTokenCount",
    },
    calls={"at": "toolsCalled", "name": "name", "input": "inputParameters", "output": "output"},
    checks=(
        CheckMap(
            at="metricsData",
            passed="success",
            verdict=Words("flaky", {"true": Outcome.SKIPPED, "false": MEASURED}),  # it lets these decide nothing
            score="score",
            scale="size",
            reason="reason",
            error="error",
            unfinished="the metric has no result: it raised, or DeepEval was interrupted",
            threshold="threshold",
            judge="evaluationModel",
            cost="evaluationCost",
        ),
    ),
    counted=("testRunData.testPassed|testPassed", "testRunData.testFailed|testFailed"),
    run={"duration_s": "testRunData.runDuration|runDuration"},
)
