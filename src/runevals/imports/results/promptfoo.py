"""The results that promptfoo writes with `--output FILE.json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from runevals.imports.results.fields import Json
from runevals.imports.results.opened import OpenedResults
from runevals.imports.results.records import (
    ImportedAttempt,
    ImportedCase,
    ImportedRun,
    check_result,
    distinct_keys,
    errored,
    joined,
    numbered,
    stated_failure,
    unanswered,
)
from runevals.lib.parsing.canonical import canonical
from runevals.records import CheckResult, Layer, Outcome, TurnReport, cut_name

NAME = "promptfoo"
VERSIONS = (2, 3)  # of its results
ERROR = 2  # a `failureReason`: the test was not decided by an assertion
LONGEST_LABEL = 60
_JUDGED = frozenset(
    {
        *("answer-relevance", "classifier", "conversation-relevance", "factuality", "g-eval", "llm-rubric", "pi"),
        *("context-faithfulness", "context-recall", "context-relevance", "max-score", "moderation"),
        *("model-graded-closedqa", "model-graded-factuality", "search-rubric", "select-best"),
        *("similar", "similar:cosine", "similar:dot", "similar:euclidean", "trajectory:goal-success"),
    }
)

# Options of a test that are about its assertions: which model judges, by which prompt, and what of the answer.
_JUDGING = ("provider", "rubricPrompt", "factuality", "transform", "postprocess")


def recognises(file: OpenedResults) -> bool:
    """What `promptfoo eval --output` writes, or the summary that its library returns."""
    if file.rows is not None:
        return all(_is_row(row) for row in file.rows)
    if file.document is None or not file.has("results"):
        return False
    inner = file.document["results"].value
    return "results" in inner if isinstance(inner, dict) else isinstance(inner, list) and file.has("stats")


def _is_row(row: Json) -> bool:
    """A line of `--output FILE.jsonl`."""
    return isinstance(row.value, dict) and {"testCase", "promptIdx", "success"} <= row.value.keys()


def read(file: OpenedResults) -> ImportedRun:
    """The results of a file. Raises InvalidDocument."""
    if file.rows is not None:
        return _run(file, file.rows, NAME)
    assert file.document is not None  # noqa: S101 - it was recognised
    document = file.document
    summary = document["results"] if isinstance(document["results"].value, dict) else document
    version = summary["version"].value
    if version not in VERSIONS:
        raise summary["version"].wrong(f"a version of results that we read ({', '.join(map(str, VERSIONS))})")
    rows = summary["results"].entries
    if not rows:
        raise summary["results"].wrong("a list of results; was it written with --filter, or without a test?")
    run = _run(file, rows, document["config"]["description"].name_or_empty or NAME)
    took = summary["stats"]["durationMs"].seconds_or_none or 0.0
    return replace(run, started_at=summary["timestamp"].moment_or_none, duration_s=took)


def _run(file: OpenedResults, rows: Sequence[Json], suite: str) -> ImportedRun:
    rows = sorted(rows, key=_place_in_table)
    models = tuple(dict.fromkeys(_provider(row) for row in rows))
    return ImportedRun(
        tool=NAME,
        path=file.display_path,
        cases=joined(_cases(rows, suite, file.display_path)),
        models=models,
        judges=tuple(dict.fromkeys(_judges(rows))),
    )


def _place_in_table(row: Json) -> tuple[float, float]:
    """Rows stand in the order in which they were finished."""
    return row["testIdx"].number_or_none or 0, row["promptIdx"].number_or_none or 0


def _cases(rows: Sequence[Json], suite: str, display_path: str) -> list[ImportedCase]:
    """A case for each row: a test, asked by one provider with one prompt."""
    contents = [_content(row["testCase"]) for row in rows]
    names = [row["testCase"]["description"].name_or_empty for row in rows]
    variables = [canonical(_variables(row).value) for row in rows]
    keys = distinct_keys(list(zip(names, variables, contents, strict=True)))
    return [
        ImportedCase(
            suite=suite,
            key=f"{key} [{', '.join(labels)}]" if labels else key,
            name=cut_name(name or _name_of(row)),
            place=row.place,
            content=[content, labels] if labels else content,
            file=display_path,
            category=row["testCase"]["metadata"]["category"].name_or_empty or None,
            attempts=(_attempt(row),),
        )
        for row, key, labels, name, content in zip(rows, keys, _labels(rows), names, contents, strict=True)
    ]


def _labels(rows: Sequence[Json]) -> Iterator[list[str]]:
    """What tells the rows of one test apart: the provider and the prompt, if there are several."""
    prompts = _prompt_names(rows)
    several = len({_provider(row) for row in rows}) > 1
    for row in rows:
        prompt = prompts[row["prompt"]["label"].text_or_none]
        yield ([_provider(row)] if several else []) + ([prompt] if len(prompts) > 1 else [])


def _content(test: Json) -> object:
    """What a test is: its variables and assertions, and how they judge. The prompt is what is under test."""
    content = {name: test.fields.get(name) for name in ("vars", "assert", "threshold")}
    scoring = test["assertScoringFunction"].value
    options = {name: value for name, value in test["options"].fields.items() if name in _JUDGING}
    return canonical(
        content | ({"scoring": scoring} if scoring else {}) | ({"options": options} if options else {})
    )


def _judges(rows: Sequence[Json]) -> Iterator[str]:
    """The models that the tests name for their assertions."""
    for row in rows:
        provider = row["testCase"]["options"]["provider"]
        name = (provider["id"] if isinstance(provider.value, dict) else provider).name_or_empty
        if name:
            yield name


def _variables(row: Json) -> Json:
    return row["testCase"]["vars"] if row["testCase"]["vars"].value else row["vars"]


def _name_of(row: Json) -> str:
    """A test without a description is named by its variables."""
    values = [value.text_or_none or "" for _, value in _variables(row).members]
    return " ".join(" ".join(values).split()) or "without variables"


def _provider(row: Json) -> str:
    provider = row["provider"]
    if isinstance(provider.value, str):
        return provider.text
    return provider["label"].name_or_empty or provider["id"].text


def _prompt_names(rows: Sequence[Json]) -> dict[object, str]:
    """Label → a name that stays if the prompt's text is edited: most labels are that text.

    Of several prompts from one file, all but the first have a number.
    """
    names: dict[object, str] = {}
    counts: Counter[str] = Counter()
    labels = dict.fromkeys(row["prompt"]["label"].text_or_none for row in rows)
    for number, label in enumerate(labels, start=1):
        name = _author_label(label) or f"prompt {number}"
        counts[name] += 1
        names[label] = name if counts[name] == 1 else f"{name} ({counts[name]})"
    return names


def _author_label(label: object) -> str:
    """The author's name for a prompt, or its file; empty for its text."""
    if not isinstance(label, str):
        return ""
    file = label.partition(": ")[0]
    if "/" in file or "." in file:
        return file if " " not in file else ""
    plain = "{{" not in label and "\n" not in label and len(label) <= LONGEST_LABEL
    return label if plain else ""


def _attempt(row: Json) -> ImportedAttempt:
    undecided = (
        row["gradingResult"].value is None or row["success"].value is True
    )  # else it is why an assertion failed
    failed_to_run = row["failureReason"].value == ERROR or (bool(row["error"].value) and undecided)
    usage = row["tokenUsage"]
    response = row["response"]
    output = response["output"] if response.value is not None else row["text"]
    turn = TurnReport(
        prompt=row["prompt"]["raw"].text_or_none or "",
        expected=None,
        output=None if failed_to_run else output.text_or_none,
        value=output.value if isinstance(output.value, dict | list) and not failed_to_run else None,
        results=_unmeasured(row)
        if failed_to_run
        else _checks(row["gradingResult"]) or stated_failure(row["success"]),
        latency_s=row["latencyMs"].seconds_or_none,
        cost_usd=row["cost"].amount_or_none,
        input_tokens=usage["prompt"].count_or_none,
        output_tokens=usage["completion"].count_or_none,
        model=_provider(row),
        cached=response["cached"].value is True,
        error=unanswered(row["error"].text_or_none or "") if failed_to_run else None,
    )
    decided = bool(turn.results) and not failed_to_run
    passed = row["success"].flag and row["gradingResult"]["pass"].value is not False if decided else None
    return ImportedAttempt(turn=turn, passed=passed)


def _unmeasured(row: Json) -> tuple[CheckResult, ...]:
    """The assertions of a test that was not answered."""
    return numbered([_check(assertion) for assertion in row["testCase"]["assert"].entries])


def _checks(grading: Json) -> tuple[CheckResult, ...]:
    """The assertions; the verdict of the whole if it has no assertion of its own."""
    parts = grading["componentResults"].entries
    if parts:
        return numbered([_of_part(part) for part in parts])
    if grading.value is None or grading["reason"].value == "No assertions":
        return ()
    return (_of_part(grading),)


def _of_part(part: Json) -> CheckResult:
    """An assertion with its result; one of weight 0 informs, and decides nothing."""
    weight = part["assertion"]["weight"].number_or_none
    informs = weight is not None and weight <= 0
    reason = part["reason"].text_or_none or ""
    passed = None if informs else part["pass"].flag
    result = _check(part["assertion"], passed=passed, score=part["score"].number_or_none, reason=reason)
    failed = result.outcome is Outcome.FAILED
    return errored(result, reason) if _is_grader_error(part) or (failed and _is_unmarked_error(part)) else result


def _is_grader_error(part: Json) -> bool:
    return part["metadata"]["graderError"].value is True


def _is_unmarked_error(part: Json) -> bool:
    """Whether a failed assertion has another reason than what promptfoo writes for a measured one.

    It marks the errors of some assertions that ask a model, and not of these.
    """
    kind = part["assertion"]["type"].name_or_empty.removeprefix("not-")
    reason = part["reason"].text_or_none or ""
    if kind == "model-graded-closedqa":
        return not reason.startswith("The submission ")
    return (kind == "answer-relevance" or kind.startswith("similar")) and "threshold" not in reason


def _check(
    assertion: Json, *, passed: bool | None = None, score: float | None = None, reason: str = ""
) -> CheckResult:
    kind = assertion["type"].name_or_empty or "assert-set"
    weight = assertion["weight"].number_or_none
    return check_result(
        cut_name(assertion["metric"].name_or_empty or kind),
        kind,
        passed=passed,
        score=score,
        reason=reason,
        layer=Layer.JUDGE if kind.removeprefix("not-") in _JUDGED else Layer.FACT,
        threshold=assertion["threshold"].number_or_none,
        weight=weight if weight is not None and weight > 0 else 1.0,
    )
