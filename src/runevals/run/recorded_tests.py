"""The answers that tests recorded → a results document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from runevals.imports.results.records import (
    ImportedAttempt,
    ImportedCase,
    ImportedRun,
    check_result,
    joined,
    unanswered,
)
from runevals.lib.nullable import if_known
from runevals.lib.storage.files import remove_files
from runevals.records import ToolCall, TurnReport
from runevals.reports.publish import publish
from runevals.run.provenance import of_this_checkout
from runevals.run.redaction.omit_content import without_content
from runevals.run.redaction.redactors import report_without_either
from runevals.run.tool_results import report_of
from runevals.settings.resolve import RawSettings, resolve
from runevals.verdict.outcome import decision

TOOL = "pytest"
_NUMBERS = ("latency_s", "cost_usd", "input_tokens", "output_tokens")


def write_records(rows: Sequence[Mapping[str, Any]], path: Path, *, stopped: str = "") -> None:
    """Writes the answers as a results document; `stopped` says why tests are missing. Raises CannotWrite."""
    import os

    settings = resolve(RawSettings(cwd=Path.cwd(), environment=dict(os.environ)))
    now = datetime.now(UTC)
    run = ImportedRun(tool=TOOL, path=str(path), cases=joined(map(_case, rows)), stopped=stopped)
    report = report_of(run, written_at=now)
    report = replace(report, run=of_this_checkout(report.run, settings))
    report = without_content(report_without_either(report, settings), settings.redaction.redact)
    publish(decision(report, None, settings.rules), [path])


def remove_records(path: Path) -> None:
    """Removes what an earlier session recorded. Raises CannotWrite."""
    if path.parent.is_dir():
        remove_files(path.parent, [path.name])


def _case(row: Mapping[str, Any]) -> ImportedCase:
    calls = tuple(
        ToolCall(
            name=str(call.get("name", "tool")), input=call.get("input"), output=if_known(str, call.get("output"))
        )
        for call in row["tool_calls"]
    )
    failed = row.get("error", False)  # before there was an answer
    turn = TurnReport(
        prompt=row["prompt"],
        expected=None,
        output=row["output"],
        results=() if failed else (check_result("test", "test", passed=row["passed"], reason=row["reason"]),),
        error=unanswered(row["reason"]) if failed else None,
        tool_calls=calls,
        **{name: row[name] for name in _NUMBERS if name in row},
    )
    return ImportedCase(
        suite=row["suite"],
        key=row["key"],
        name=row["key"],
        place=f"{row['suite']}: {row['key']}",
        content=[row["key"], row["prompt"]],
        file=row["suite"],
        attempts=(ImportedAttempt(turn=turn),),
    )
