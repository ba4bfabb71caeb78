"""How much the source decides: `if`s and the like per 1,000 lines of each package, which may only become fewer.

The number of lines alone would invite dense ones. A package that needs more decisions needs another design: a
table, a principle for all its cases, a record of another shape.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "runevals"
MOST_LINES = 74_600
MOST = {
    "cli": 130,
    "evaluators": 94,
    "github": 163,
    "judge": 132,
    "imports": 170,
    "lib": 115,
    "models": 134,
    "programs": 91,
    "repository": 177,
    "sandbox": 128,
    "records": 42,
    "reports": 145,
    "run": 155,
    "settings": 170,
    "suites": 156,
    "targets": 124,
    "verdict": 186,
}


def decisions(tree: ast.AST) -> Iterator[int]:
    """`if`, conditional expressions, each further `and` or `or`, filters of comprehensions."""
    for node in ast.walk(tree):
        match node:
            case ast.If() | ast.IfExp():
                yield 1
            case ast.BoolOp():
                yield len(node.values) - 1
            case ast.comprehension():
                yield len(node.ifs)


def lines(files: list[Path]) -> int:
    return sum(file.read_text("utf-8").count("\n") for file in files)


@pytest.mark.parametrize("package", MOST)
def test_a_package_decides_no_more_than_it_did(package):
    files = sorted((SRC / package).rglob("*.py"))
    made = sum(sum(decisions(ast.parse(file.read_text("utf-8")))) for file in files)
    assert round(1000 * made / lines(files)) <= MOST[package]


def test_the_source_does_not_grow():
    assert lines(sorted(SRC.rglob("*.py"))) <= MOST_LINES


def test_one_module_makes_verdicts():
    """Nor is a verdict replaced afterwards by another that the module did not make."""
    makers = {
        file.relative_to(SRC).as_posix()
        for file in SRC.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and (_is(node, "FinalVerdict") or _replaces_a_verdict(node))
    }
    assert makers == {"verdict/outcome.py"}


def _is(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == name


def _replaces_a_verdict(call: ast.Call) -> bool:
    """`replace(….verdict, …)`: with another headline or exit code."""
    return _is(call, "replace") and isinstance(call.args[0], ast.Attribute) and call.args[0].attr == "verdict"
