"""What every kind of target says of itself, so that no other code has to ask for its type."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

import runevals
from runevals.targets.kind import Section, TargetSettings
from runevals.targets.kinds import KINDS, forms, kind_of
from tests.sources import nodes

SRC = Path(str(files(runevals)))
MOST_TESTS = 15
OF_RESULTS = ("verdict/", "reports/", "imports/", "run/tool_results", "run/shards/")  # they read documents
CLASSES = {place.rpartition(".")[2] for place in KINDS.values()}


def asks_for_a_type(node: ast.AST) -> bool:
    """`X.type == …`, `X.target_type in …`, `match X.type`, or whether it is of a kind's settings."""
    match node:
        case ast.Compare(left=left, comparators=[right]):
            return is_type(left) != is_type(right)
        case ast.Match(subject=subject):
            return is_type(subject)
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id=name)]):
            return name in CLASSES
    return False


def is_type(node: ast.AST) -> bool:
    """`part.type` is a content of MCP."""
    match node:
        case ast.Attribute(attr="type" | "target_type", value=value):
            return not (isinstance(value, ast.Name) and value.id == "part")
    return False


def places_that_ask() -> Iterator[str]:
    for path in sorted(SRC.rglob("*.py")):
        place = path.relative_to(SRC).as_posix()
        if not place.startswith(OF_RESULTS):
            yield from (f"{place}:{node.lineno}" for node in nodes(path) if asks_for_a_type(node))


def test_few_places_ask_for_the_type_of_a_target():
    found = list(places_that_ask())
    assert len(found) <= MOST_TESTS, found


def test_a_test_of_a_type_is_noticed():
    code = "a.type == 'x'\na.type in B\nisinstance(a, SkillSettings)\nmatch a.type:\n    case _: pass\n"
    more = "part.type == 'text'\na.type == b.type\nisinstance(a, str)\n"
    assert sum(map(asks_for_a_type, ast.walk(ast.parse(code + more)))) == 4


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_has_settings_of_its_own(name):
    kind = kind_of(name)
    assert issubclass(kind, TargetSettings)
    assert kind.build is not TargetSettings.build
    assert any(form.partition(":")[0] == name for form in forms())


def test_files_that_a_change_names_lie_inside_the_repository(tmp_path):
    section = Section(values={"type": "skill"}, base=tmp_path, repository=tmp_path)
    assert (section.kind, section.inside) == ("skill", tmp_path)
