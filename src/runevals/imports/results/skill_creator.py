"""`benchmark.json` and `grading.json` of skill-creator, and in the words of agentskills.io."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runevals.imports.results.field_map import CheckMap, FieldMap
from runevals.imports.results.fields import Json
from runevals.imports.results.opened import OpenedResults
from runevals.lib.parsing.shapes import object_in
from runevals.lib.text.numbers import phrase, plural

CONTROLS = ("without_skill", "old_skill", "baseline")  # what a skill is compared with: other runs than the skill's
_NAMES = ("expectations", "assertion_results", "assertions")  # of the list of checks
_LEFT_OUT = "left out: {} without the skill, or with its old form"


def is_summary(file: OpenedResults) -> bool:
    """A benchmark without its runs, as agentv writes it, too."""
    return file.has("run_summary") and not (file.document and file.document["runs"].value)


def _is_control(run: Json) -> bool:
    return run["configuration"].value in CONTROLS


def _left_out(documents: Sequence[Json]) -> str:
    controls = sum(map(_is_control, documents[0]["runs"].entries))
    return phrase(controls, _LEFT_OUT.format(plural(controls, "run")))


def _of_folders(documents: Sequence[Json], path: Path) -> list[Json]:
    """The grading, whose case the folders name: `EVAL/with_skill/run-1/grading.json`; none of a control."""
    case, configuration = _folders(path)
    return [
        _completed(one, one["summary"]).with_fields(case=case)
        for one in documents
        if configuration not in CONTROLS
    ]


def _folders(path: Path) -> tuple[str, str]:
    """The folder of the eval, and that of the configuration in it."""
    folders = [part for part in path.absolute().parent.parts if not part.startswith("run-")]
    configuration = folders[-1] if folders[-1] in (*CONTROLS, "with_skill", "new_skill") else ""
    return (folders[:-1] if configuration else folders)[-1], configuration


def _completed(run: Json, counts: Json) -> Json:
    """The run with a check for what only its counts say: failures, or the share of what passed."""
    run = run.with_fields(**object_in(run["with_skill"].value))  # of which agent-skill-eval has two for each run
    name = next((name for name in _NAMES if run[name].value is not None), _NAMES[0])
    own = run[name]
    rate, total, passed = counts["pass_rate"].amount_or_none, counts["total"].count_or_none, counts["passed"]
    missed = 0 if total is None or passed.value is None else total - (passed.count_or_none or 0)
    failed = max(missed, *(counts[name].count_or_none or 0 for name in ("failed", "errors")))
    checks = [{**one.fields, "kind": "expectation"} for one in own.entries]
    if not checks and rate is not None and (total or (own.value is None and total is None)):
        checks = [{"text": "expectations", "kind": "expectations", "passed": rate >= 1, "score": rate}]
    elif failed > 0 and checks and not any(one.get("passed") is False for one in checks):
        reason = f"the results call the whole case failed in {plural(failed, 'expectation')}"
        checks += [{"text": "whole case", "kind": "verdict", "passed": False, "evidence": reason}]
    return run.with_fields(**{name: checks})


_EXPECTATIONS = CheckMap(
    at="|".join(_NAMES),
    name="text",
    kind="kind",
    judged=("expectation",),
    passed="passed",
    score="score",
    reason="evidence",
    statement="text",
)
_UNGRADED = "the run has no graded expectation"
BENCHMARK = FieldMap(
    NAME="skill-creator",
    marks=("run_summary|runs.[].configuration",),
    lists=("runs",),
    if_empty=" of the skill; give the grading.json of each run, or agentv's index.jsonl",
    rows_of=lambda runs, _: [_completed(run, run["result"]) for run in runs if not _is_control(run)],
    suite="metadata.skill_name",
    case={"key": "eval_id|eval_name", "name": "eval_name"},
    ungraded=_UNGRADED,
    turn={"latency_s": "result.time_seconds"},
    checks=(_EXPECTATIONS,),
    run={
        "models": "metadata.executor_model",
        "judges": "metadata.analyzer_model",
        "started_at": "metadata.timestamp",
    },
    notice=_left_out,
)
GRADING = FieldMap(
    NAME=BENCHMARK.NAME,
    marks=("summary", "|".join(_NAMES)),
    rows_of=_of_folders,
    case={"key": "case"},
    ungraded=_UNGRADED,
    turn={"latency_s": "timing.executor_duration_seconds|timing.total_duration_seconds"},
    checks=(_EXPECTATIONS,),
    notice=lambda docs: _LEFT_OUT.format("runs") if _folders(Path(docs[0].file))[1] in CONTROLS else "",
)
