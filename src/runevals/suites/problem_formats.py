"""The results of validation as text, annotations, JSON or SARIF."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from msgspec import Struct

from runevals.lib.nullable import without_none
from runevals.lib.text.escape import visible
from runevals.records import RULES, FileProblem, Suite
from runevals.version import __version__

if TYPE_CHECKING:
    from runevals.suites.health import Hint

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
HEALTH = "health/"  # prefix of a hint's kind as a rule


class ValidationResult(Struct, frozen=True, kw_only=True):
    """The suites and their problems; without suites if there was an error."""

    problems: tuple[FileProblem, ...]
    suites: tuple[Suite, ...] = ()

    @property
    def errors(self) -> int:
        """How many problems stop a run."""
        return sum(problem.level == "error" for problem in self.problems)


def as_problem(finding: Hint) -> FileProblem:
    """A hint for authors as a notice."""
    rule = HEALTH + finding.kind.replace(" ", "-")
    return FileProblem(location=finding.location, pointer="", message=finding.message, level="notice", rule=rule)


def checks_of(suite: Suite) -> int:
    """How many checks a suite has, over all turns."""
    return sum(len(turn.checks) for case in suite.cases for turn in case.turns)


def as_json(result: ValidationResult) -> str:
    """`{"errors", "suites", "problems"}`."""
    document = {
        "errors": result.errors,
        "suites": [
            {"path": suite.path, "dialect": suite.dialect, "cases": len(suite.cases), "checks": checks_of(suite)}
            for suite in result.suites
        ],
        "problems": [
            {
                "file": problem.location.file,
                "line": problem.location.line,
                "column": problem.location.column,
                "pointer": problem.pointer,
                "rule": problem.rule,
                "level": problem.level,
                "message": visible(problem.message),
            }
            for problem in result.problems
        ],
    }
    return json.dumps(document, indent=2)


def as_sarif(result: ValidationResult) -> str:
    """A SARIF 2.1.0 log with one run."""
    meanings = dict(RULES)
    for rule in (problem.rule for problem in result.problems):
        meanings.setdefault(rule, f"A hint for the suite's author: {rule.removeprefix(HEALTH).replace('-', ' ')}.")
    rules = [*meanings]
    driver = {
        "name": "runevals",
        "version": __version__,
        "rules": [{"id": rule, "shortDescription": {"text": text}} for rule, text in meanings.items()],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, rules) for problem in result.problems],
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(problem: FileProblem, rules: Sequence[str]) -> dict[str, Any]:
    location = problem.location
    path = Path(location.file)
    artifact = {"uri": quote(os.fsencode(location.file)), "uriBaseId": "%SRCROOT%"}
    if path.is_absolute():
        artifact = {"uri": path.as_uri()}
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if location.line is not None:
        physical["region"] = without_none(startLine=location.line, startColumn=location.column)
    return {
        "ruleId": problem.rule,
        "ruleIndex": rules.index(problem.rule),
        "level": {"notice": "note"}.get(problem.level, problem.level),
        "message": {"text": visible(problem.message)},
        "locations": [{"physicalLocation": physical}],
    }
