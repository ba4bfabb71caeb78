"""Suite files as tests: those in `valid` load as `.cases.json` says, those in `invalid` are refused as told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runevals.records import EvaluatorSpec, Suite
from runevals.records.errors import InvalidSuite
from runevals.suites.dialects import LoadOptions, load
from tests.sample_suites import suite_files

ROWS = LoadOptions(evaluators={"preset-exact-match": {}})


def read(path: Path) -> Suite:
    is_rows = path.parent.parent.name == "rows" and "evaluators" not in path.read_text(encoding="utf-8-sig")
    return load(path, path.name, ROWS if is_rows else LoadOptions())


def told(spec: EvaluatorSpec) -> dict[str, object]:
    """The evaluator that an entry of a suite became."""
    more = {
        "evaluator": spec.name if spec.id and spec.id != spec.name else None,
        "not": spec.negated or None,
        "weight": None if spec.weight == 1 else spec.weight,
        "children": [{child.id or child.name: told(child)} for child in spec.children] or None,
    }
    known = {name: value for name, value in more.items() if value is not None}
    return {**spec.options, "threshold": spec.threshold, **known}


@pytest.mark.parametrize("path", suite_files("valid"))
def test_a_valid_file_means_what_its_cases_file_says(path, golden):
    suite = read(path)
    assert suite.errors == ()
    shown = {
        "dialect": suite.dialect,
        "problems": [str(problem) for problem in suite.problems],
        "cases": [
            {
                "key": case.key,
                "name": case.name,
                "category": case.category,
                "tags": list(case.tags),
                "critical": case.critical,
                "line": case.location.line,
                "metadata": dict(case.metadata),
                **({} if case.variables == {} or case.variables is case.metadata else {"vars": case.variables}),
                "turns": [
                    {
                        "prompt": turn.prompt,
                        "expected": turn.expected,
                        "context": turn.context,
                        "checks": {spec.id or spec.name: told(spec) for spec in turn.checks},
                    }
                    for turn in case.turns
                ],
            }
            for case in suite.cases
        ],
    }
    golden(path.with_name(f"{path.name}.cases.json"), json.dumps(shown, ensure_ascii=False, indent=1) + "\n")


@pytest.mark.parametrize("path", suite_files("invalid"))
def test_an_invalid_file_is_refused_with_every_problem(path, golden):
    try:
        problems = read(path).errors
    except InvalidSuite as error:
        problems = error.problems
    assert problems
    golden(path.with_name(f"{path.name}.error.txt"), "".join(f"{problem}\n" for problem in problems))
