"""The results that promptfoo writes with `--output FILE.json`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from runevals.imports.results.field_map import BROKEN, CheckMap, FieldMap, Keyed, Words
from runevals.imports.results.fields import Json
from runevals.imports.results.records import distinct_keys
from runevals.lib.nullable import distinct
from runevals.lib.parsing.canonical import canonical
from runevals.records import Outcome

ERROR = 2  # a `failureReason`: the test was not decided by an assertion
LONGEST_LABEL = 60
_JUDGED = (
    *("answer-relevance", "classifier", "conversation-relevance", "factuality", "g-eval", "llm-rubric", "pi"),
    *("context-faithfulness", "context-recall", "context-relevance", "max-score", "moderation"),
    *("model-graded-closedqa", "model-graded-factuality", "search-rubric", "select-best", "similar"),
    "trajectory:goal-success",
)

# Options of a test that are about its assertions: which model judges, by which prompt, and what of the answer.
_JUDGING = ("provider", "rubricPrompt", "factuality", "transform", "postprocess")


def _completed(rows: Sequence[Json], _: Path) -> list[Json]:
    """The rows as the table of the page has them, with whether each was measured, and its checks.

    In a file, they stand in the order in which they were finished.
    """
    return [
        _with_checks(row)
        for row in sorted(rows, key=lambda row: [row[at].number_or_none or 0 for at in ("testIdx", "promptIdx")])
    ]


def _with_checks(row: Json) -> Json:
    grading = row["gradingResult"]
    success = row["success"].value
    undecided = grading.value is None or success is True  # else it is why an assertion failed
    failed_to_run = row["failureReason"].value == ERROR or (bool(row["error"].value) and undecided)
    whole = [] if grading.value is None or grading["reason"].value == "No assertions" else [grading]
    parts = grading["componentResults"].entries or whole
    return row.with_fields(
        ended="error" if failed_to_run else None,
        checks=[{**part.fields, "error": _error(part)} for part in parts],
        provider=_provider(row),
        success=grading["pass"].value is not False if success is True else success,
    )


def _error(part: Json) -> str:
    """Why an assertion was not measured; empty for one that was."""
    failed = part["metadata"]["graderError"].value is True or (
        part["pass"].value is False and _is_unmarked_error(part)
    )
    return (part["reason"].text_or_none or BROKEN) if failed else ""


def _keyed(rows: Sequence[Json]) -> list[Keyed]:
    """A case for each row: a test, asked by one provider with one prompt."""
    contents = [_content(row["testCase"]) for row in rows]
    names = [row["testCase"]["description"].name_or_empty for row in rows]
    variables = [canonical(_variables(row).value) for row in rows]
    keys = distinct_keys(list(zip(names, variables, contents, strict=True)))
    return [
        (
            f"{key} [{', '.join(labels)}]" if labels else key,
            name or _name_of(row),
            [content, labels] if labels else content,
        )
        for row, key, labels, name, content in zip(rows, keys, _labels(rows), names, contents, strict=True)
    ]


def _labels(rows: Sequence[Json]) -> Iterator[list[str]]:
    """What tells the rows of one test apart: the provider and the prompt, if there are several."""
    prompts = _prompt_names(rows)
    several = len({_provider(row) for row in rows}) > 1
    for row in rows:
        yield [_provider(row)] * several + [prompts[row["prompt"]["label"].text_or_none]] * (len(prompts) > 1)


def _content(test: Json) -> object:
    """What a test is: its variables and assertions, and how they judge. The prompt is what is under test."""
    content = {name: test.fields.get(name) for name in ("vars", "assert", "threshold")}
    options = {name: value for name, value in test["options"].fields.items() if name in _JUDGING}
    optional = {"scoring": test["assertScoringFunction"].value, "options": options}
    return canonical(content | {name: value for name, value in optional.items() if value})


def _variables(row: Json) -> Json:
    return row["testCase"]["vars"] if row["testCase"]["vars"].value else row["vars"]


def _name_of(row: Json) -> str:
    """A test without a description is named by its variables."""
    values = [value.text_or_none or "" for _, value in _variables(row).members]
    return " ".join(" ".join(values).split()) or "without variables"


def _provider(row: Json) -> str:
    """Its label, which may be empty, or its id."""
    return row.at("provider.label").name_or_empty or row.at("provider.id|provider").name_or_empty


def _prompt_names(rows: Sequence[Json]) -> dict[object, str]:
    """Label → a name that stays if the prompt's text is edited: most labels are that text.

    Of several prompts from one file, all but the first have a number.
    """
    labels = dict.fromkeys(row["prompt"]["label"].text_or_none for row in rows)
    names = (_author_label(label) or f"prompt {number}" for number, label in enumerate(labels, start=1))
    return dict(zip(labels, distinct(names), strict=True))


def _author_label(label: object) -> str:
    """The author's name for a prompt, or its file; empty for its text."""
    if not isinstance(label, str):
        return ""
    file = label.partition(": ")[0]
    if "/" in file or "." in file:
        return file if " " not in file else ""
    return label if "{{" not in label and "\n" not in label and len(label) <= LONGEST_LABEL else ""


def _is_unmarked_error(part: Json) -> bool:
    """Whether a failed assertion has another reason than what promptfoo writes for a measured one.

    It marks the errors of some assertions that ask a model, and not of these.
    """
    kind = part["assertion"]["type"].name_or_empty.removeprefix("not-")
    reason = part["reason"].text_or_none or ""
    if kind == "model-graded-closedqa":
        return not reason.startswith("The submission ")
    return (kind == "answer-relevance" or kind.startswith("similar")) and "threshold" not in reason


_CHECKS = CheckMap(
    at="checks",
    name="assertion.metric",
    kind="assertion.type",
    unnamed="assert-set",
    judged=(*_JUDGED, *(f"not-{one}" for one in _JUDGED)),
    passed="pass",
    score="score",
    reason="reason",
    weight="assertion.weight",
    informs=True,
    error="error",
    threshold="assertion.threshold",
)
PROMPTFOO = FieldMap(
    NAME="promptfoo",
    marks=("results.results|stats.successes", "results"),
    version="results.version|version",
    versions=("2", "3"),
    lists=("results.results|results",),
    rows_of=_completed,
    suite="config.description",
    case={"key": "", "category": "testCase.metadata.category"},
    keyed=_keyed,
    end=Words("ended", {"error": Outcome.ERRORED}),
    passed="success",
    alone="success",
    only_failure=True,
    error="error",
    turn={
        "prompt": "prompt.raw",
        "output": "response.output|text",
        "latency_s": "latencyMs ms",
        "cost_usd": "cost",
        "input_tokens": "tokenUsage.prompt",
        "output_tokens": "tokenUsage.completion",
        "model": "provider",
        "cached": "response.cached",
    },
    checks=(_CHECKS,),
    unmade=(
        replace(_CHECKS, at="testCase.assert", name="metric", kind="type", passed="", weight="weight", error=""),
    ),
    counted=tuple(f"results.stats.{each}|stats.{each}" for each in ("successes", "failures", "errors")),
    run={
        "judges": "testCase.options.provider.id|testCase.options.provider",
        "started_at": "results.timestamp|timestamp",
        "duration_s": "results.stats.durationMs|stats.durationMs ms",
    },
)
# Of --output FILE.jsonl
LINES = replace(PROMPTFOO, marks=("testCase", "promptIdx", "success"), lists=(), lines=True)
