"""`--format json`: the verdict, its causes and what to do next as one JSON object, for assistants and scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from runevals.lib.parsing.record_json import json_text
from runevals.lib.record_from import record_from
from runevals.records import Causes, Conclusion, GateResult, Totals
from runevals.records.conclusion import FinalOutcome
from runevals.records.values import Ordinal, Whole
from runevals.reports.block import Example, block_of, difference
from runevals.reports.next_steps import Where, next_steps
from runevals.reports.results_document import Tool, schema_of_type
from runevals.verdict.wording import in_short

ADDRESS = (
    "https://raw.githubusercontent.com/runevals/runevals/v0/src/runevals/reports/schemas/verdict-1.schema.json"
)


class CauseExample(Struct, frozen=True, kw_only=True):
    """A case that a row of `causes` names. Its texts are data: they come from suites and models."""

    suite: str
    key: str
    name: str
    file: str
    line: Ordinal | None
    runs: str  # how many passed, on the base and now; empty if there was one run
    checks: tuple[str, ...]  # those that fail now, each with its reason
    difference: tuple[str, ...]  # both answers, from where they differ


class NextStep(Struct, frozen=True, kw_only=True):
    """A command that works as it stands."""

    purpose: str
    command: str


class VerdictDocument(Struct, frozen=True, kw_only=True):
    """The verdict of a run in one object, format 1."""

    format_version: Literal[1]
    tool: Tool
    outcome: FinalOutcome
    exit_code: Whole  # of the command: also 3 if a passing run could not write its reports
    headline: str
    warns: bool  # it passes, and the headline names what to look at
    summary: str  # both sides in a sentence; empty without a base
    totals: Totals
    gates: tuple[GateResult, ...]
    causes: tuple[Causes, ...]  # the cases to look at, in groups, as in the results document
    examples: tuple[CauseExample, ...]  # two cases of each row of `causes`
    next_steps: tuple[NextStep, ...]
    notices: tuple[str, ...]
    reports: tuple[str, ...]  # the written files


def schema() -> dict[str, Any]:
    """The JSON Schema of the object."""
    return schema_of_type(VerdictDocument, ADDRESS, "runevals verdict (--format json), format 1")


def render(conclusion: Conclusion, where: Where | None, files: Sequence[Path], exit_code: int) -> str:
    """The object in one line. `where` is where its reader types commands."""
    block, comparison = block_of(conclusion), conclusion.comparison
    document = record_from(
        VerdictDocument,
        conclusion.verdict,
        format_version=1,
        tool=Tool(name="runevals", version=conclusion.report.tool_version),
        exit_code=exit_code,
        summary="" if comparison is None else in_short(comparison),
        totals=conclusion.report.totals,
        gates=conclusion.gates,
        causes=block.causes,
        examples=tuple(dict.fromkeys(map(_example, block.examples(block.causes)))),
        next_steps=tuple(
            NextStep(purpose=purpose, command=command)
            for purpose, command in next_steps(conclusion, block.causes, where)
        ),
        notices=conclusion.report.run.notices,
        reports=tuple(map(str, files)),
    )
    return json_text(document) + "\n"


def _example(example: Example) -> CauseExample:
    return record_from(
        CauseExample,
        example.case,
        runs=example.runs,
        checks=tuple(example.checks),
        difference=tuple(line.strip() for line in difference(example)),
    )
