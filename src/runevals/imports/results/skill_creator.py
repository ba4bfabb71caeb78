"""`benchmark.json` and `grading.json` of skill-creator, and in the words of agentskills.io."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from runevals.imports.results.fields import Json
from runevals.imports.results.opened import OpenedResults
from runevals.imports.results.records import (
    ImportedAttempt,
    ImportedCase,
    ImportedRun,
    check_result,
    failed_as_a_whole,
    joined,
    numbered,
    unanswered,
)
from runevals.lib.text.numbers import plural
from runevals.records import CheckResult, Layer, TurnReport, cut_name

NAME = "skill-creator"
CONTROLS = ("without_skill", "old_skill", "baseline")  # what a skill is compared with: other runs than the skill's
_CHECKS = ("expectations", "assertion_results", "assertions")


def recognises(file: OpenedResults) -> bool:
    """A benchmark, or the grading of one run."""
    return _is_benchmark(file) or _is_grading(file)


def _is_benchmark(file: OpenedResults) -> bool:
    return file.has("run_summary") or (file.has("runs", "metadata") and not file.has("tasks"))


def is_summary(file: OpenedResults) -> bool:
    """A benchmark without its runs, as agentv writes it, too."""
    return file.has("run_summary") and not (file.document and file.document["runs"].value)


def _is_grading(file: OpenedResults) -> bool:
    return file.has("summary") and any(file.has(name) for name in _CHECKS)


def read(file: OpenedResults) -> ImportedRun:
    """The runs. Raises InvalidDocument."""
    assert file.document is not None  # noqa: S101 - it was recognised
    return _benchmark(file, file.document) if _is_benchmark(file) else _grading(file, file.document)


def _benchmark(file: OpenedResults, document: Json) -> ImportedRun:
    runs = document["runs"].entries
    if not runs:
        raise document["runs"].wrong("a list of runs; give the grading.json of each run, or agentv's index.jsonl")
    ours = [run for run in runs if run["configuration"].value not in CONTROLS]
    if not ours:
        raise document["runs"].wrong("a list with runs of the skill")
    metadata = document["metadata"]
    left_out = len(runs) - len(ours)
    return ImportedRun(
        tool=NAME,
        path=file.display_path,
        cases=joined(_case_of_run(run, _name(metadata["skill_name"]) or NAME) for run in ours),
        models=tuple(filter(None, [_name(metadata["executor_model"])])),
        judges=tuple(filter(None, [_name(metadata["analyzer_model"])])),
        started_at=metadata["timestamp"].moment_or_none,
        notices=(f"left out: {plural(left_out, 'run')} without the skill, or with its old form",)
        if left_out
        else (),
    )


def _name(value: Json) -> str:
    """A name; empty for the `<model-name>` that its script leaves to be filled in."""
    name = value.name_or_empty
    return "" if name.startswith("<") and name.endswith(">") else name


def _case_of_run(run: Json, suite: str) -> ImportedCase:
    key = run["eval_id"].text if run["eval_id"].value is not None else run["eval_name"].text
    result = run["result"]
    turn = TurnReport(
        prompt="",
        expected=None,
        output=None,
        results=_checks(run),
        latency_s=result["time_seconds"].amount_or_none,
    )
    return ImportedCase(
        suite=suite,
        key=key,
        name=cut_name(run["eval_name"].name_or_empty or key),
        place=run.place,
        content=key,
        attempts=(_attempt(turn, run, result),),
    )


def _attempt(turn: TurnReport, run: Json, summary: Json) -> ImportedAttempt:
    """The run; if its summary counts failed expectations and it lists none that failed, it failed all the same."""
    if not turn.results:
        return ImportedAttempt(turn=_without_checks(turn, run, summary))
    attempt = ImportedAttempt(turn=turn)
    total, passed = summary["total"].count_or_none, summary["passed"].count_or_none
    missed = 0 if total is None or passed is None else total - passed
    counted = max(missed, *(summary[name].count_or_none or 0 for name in ("failed", "errors")))
    says = f"failed in {plural(counted, 'expectation')}"
    return failed_as_a_whole([attempt], says)[0] if counted > 0 else attempt


def _without_checks(turn: TurnReport, run: Json, summary: Json) -> TurnReport:
    """A run of which only the share of passed expectations is known, or nothing."""
    rate, total = summary["pass_rate"].amount_or_none, summary["total"].value
    lists_none = any(run[name].value == [] for name in _CHECKS)
    if rate is None or total == 0 or (lists_none and total is None):
        return replace(turn, error=unanswered("the run has no graded expectation"))
    whole = check_result("expectations", "expectations", passed=rate >= 1, score=rate, layer=Layer.JUDGE)
    return replace(turn, results=(whole,))


def _grading(file: OpenedResults, document: Json) -> ImportedRun:
    """One run: its case is named by the folders above `grading.json`."""
    key, control = _case_of_folder(file.path)
    timing = document["timing"]
    seconds = timing["executor_duration_seconds"].amount_or_none or timing["total_duration_seconds"].amount_or_none
    turn = TurnReport(prompt="", expected=None, output=None, results=_checks(document), latency_s=seconds)
    case = ImportedCase(
        suite=NAME,
        key=key,
        name=key,
        place=file.display_path,
        content=key,
        attempts=(_attempt(turn, document, document["summary"]),),
    )
    notice = "left out: runs without the skill, or with its old form"
    return ImportedRun(
        tool=NAME, path=file.display_path, cases=() if control else (case,), notices=(notice,) if control else ()
    )


def _case_of_folder(path: Path) -> tuple[str, bool]:
    """(the folder of the eval, whether the run is a control): `EVAL/with_skill/run-1/grading.json`."""
    folders = [part for part in path.absolute().parent.parts if not part.startswith("run-")]
    if folders and folders[-1] in (*CONTROLS, "with_skill", "new_skill"):
        return (folders[-2] if len(folders) > 1 else NAME), folders[-1] in CONTROLS
    return folders[-1] if folders else NAME, False


def _checks(document: Json) -> tuple[CheckResult, ...]:
    checks = next((document[name] for name in _CHECKS if document[name].value is not None), None)
    return () if checks is None else numbered([_check(entry) for entry in checks.entries])


def _check(entry: Json) -> CheckResult:
    return check_result(
        cut_name(" ".join(entry["text"].text.split())),
        "expectation",
        passed=entry["passed"].flag,
        reason=entry["evidence"].text_or_none or "",
        layer=Layer.JUDGE,
        details={"statement": entry["text"].text},
    )
