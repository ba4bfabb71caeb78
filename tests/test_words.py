"""The retired words do not come back: plain technical English in names, messages, docs and golden outputs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources import nodes

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "runevals"

PACKAGES = sorted(path.parent.name for path in SOURCES.glob("*/__init__.py"))
# A participle says nothing about the value: use `settings`, `text`, `matches`, `options`, `error`, …
PARTICIPLES = frozenset({"told", "asked", "kept", "given", "held", "found", "shown", "made", "named", "listed"})
PARTICIPLES |= {"said", "seen", "wanted", "heard", "meant", "understood"}
# Names that were replaced everywhere.
RETIRED_NAMES = frozenset({"ToldWrong", "WorldRefused", "TOLD_WRONG", "WORLD_REFUSED", "CheckReport"})
RETIRED_NAMES |= {"Texted", "Threads", "CUT_SHORT", "NOT_ASKED", "become_nobody", "BURIAL_S"}

PHRASES = (
    r"told wrong",
    r"the world refused",
    r"what it was told",
    r"\ba (?:would-be )?red\b(?! (?:herring|team))",
    r"pass(?:ed|es) over",
    r"stands? here twice",
    r"kept answer",
    r"dealt anew",
    r"\bis held (?:to|against)",
    r"somebody else's",
    r"\bwhom\b",
    r"(?<!there )is no (?:suite|eval document|JSON|text\b|number|file|link)",
    r"None where",
    r"Raises \w+ where",
    r"^#+ (?:In parts|Kept answers|Run again)$",
)


# How a docstring begins that cannot be understood without the one above it.
CONTINUED = re.compile(r"(?:The same|That of|Those|Of|So many|So it|It is|Such|By (?:which|what|how))\b")


def python_files(package: str) -> Iterator[Path]:
    return iter(sorted((SOURCES / package).rglob("*.py")))


def names(file: Path) -> Iterator[tuple[int, str]]:
    """Every name that a module defines: functions, classes, parameters, variables, attributes."""
    for node in nodes(file):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.alias():
                yield node.lineno, node.asname or node.name


def phrases(text: str) -> list[str]:
    flat = re.compile("|".join(PHRASES), re.IGNORECASE | re.MULTILINE)
    return [match[0] for match in flat.finditer(text)]


def retired_names(file: Path) -> list[str]:
    return [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for line, name in names(file)
        if name.strip("_").lower() in PARTICIPLES or name in RETIRED_NAMES
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_of_a_package_is_a_participle_or_a_retired_name(package):
    assert [name for file in python_files(package) for name in retired_names(file)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_text_of_a_package_has_a_retired_phrase(package):
    retired = {
        str(file.relative_to(ROOT)): words
        for file in python_files(package)
        if (words := phrases(file.read_text(encoding="utf-8")))
    }
    assert retired == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_docstring_can_be_read_alone(package):
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    assert [
        f"{file.relative_to(ROOT)}:{node.lineno}: {node.name}"
        for file in python_files(package)
        for node in nodes(file)
        if isinstance(node, definitions) and CONTINUED.match(ast.get_docstring(node) or "")
    ] == []


def test_no_page_action_or_golden_output_has_a_retired_phrase():
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / name for name in ("README.md", "SECURITY.md", "action.yml"))]
    outputs = [*(ROOT / "tests").rglob("*.error.txt"), *(ROOT / "tests").rglob("remarks.txt")]
    golden = [file for file in (ROOT / "tests" / "reports" / "golden").iterdir() if file.suffix != ".html"]
    files = [*pages, ROOT / "container" / "action.yml", *outputs, *golden]
    retired = {str(file): words for file in files if (words := phrases(file.read_text(encoding="utf-8")))}
    assert retired == {}


def test_replaced_names_are_used_nowhere():
    pattern = re.compile(rf"\b(?:{'|'.join(sorted(RETIRED_NAMES))})\b")
    files = [*SOURCES.rglob("*.py"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    assert [str(file) for file in files if pattern.search(file.read_text(encoding="utf-8"))] == []
