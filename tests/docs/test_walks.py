"""The two ways to read the source in CONTRIBUTING.md: each file returns the record that the next one takes."""

from __future__ import annotations

import ast
import re
from itertools import pairwise

import pytest

from tests.docs.pages import ROOT
from tests.sources import nodes

Step = tuple[str, str]  # a file, and the record that it hands on


def walks() -> list[list[Step]]:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tables = page.split("| file | what it does | hands on |\n")[1:]
    rows = [table.partition("\n\n")[0] for table in tables]
    return [re.findall(r"^\| `([\w/]+\.py)` \|.*\| `?([\w ]+)`? \|$", row, re.M) for row in rows]


def functions(file: str) -> list[ast.FunctionDef]:
    found = nodes(ROOT / "src" / "runevals" / file)
    return [node for node in found if isinstance(node, ast.FunctionDef)]


def names(annotation: ast.expr | None) -> set[str]:
    return set(re.findall(r"\w+", ast.unparse(annotation))) if annotation else set()


def taken(file: str) -> set[str]:
    arguments = [one.args for one in functions(file)]
    return {name for each in arguments for one in (*each.args, *each.kwonlyargs) for name in names(one.annotation)}


def test_there_are_two_of_eight_files():
    assert [len(walk) for walk in walks()] == [8, 8]


@pytest.mark.parametrize(
    ("step", "following"), [each for walk in walks() for each in pairwise(walk)], ids=lambda step: step[0]
)
def test_a_file_returns_what_the_next_one_takes(step, following):
    file, record = step
    assert record in {name for one in functions(file) for name in names(one.returns)}
    assert record in taken(following[0])
