"""Every name in the pages means something: settings, inputs, evaluators, options, modules, files, messages."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from types import ModuleType

import pytest
import yaml

from runevals import reports
from runevals.cli.schema import NAMES, schema_of
from runevals.evaluators import catalogue
from runevals.lib.parsing.schema import schema
from runevals.settings.table import SETTINGS
from runevals.suites import dialects
from runevals.targets import plugin
from tests.docs.pages import ACTION, CONTAINER, PAGES, ROOT, blocks, spans
from tests.sources import nodes

HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
PLUGINS = {room.PLUGINS for room in (catalogue, dialects, plugin, reports)}
# What pages name of others: of JavaScript, of GitHub, of what examples make up.
OTHERS = {
    "ReferenceError",
    "TextDecoder",
    "check_suite",
    "cmark-gfm",
    "copilot-requests",
    "id-token",
    "issue_comment",
    "max-parallel",
    "maxTokens",
    "no_shouting",
    "repository_dispatch",
    "runevals-validate",
}


def words_of(value: object) -> Iterator[str]:
    """All keys and texts of a document."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from words_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from words_of(item)
    elif isinstance(value, str):
        yield value


def source() -> Iterator[ast.AST]:
    """The syntax of all our modules."""
    return chain.from_iterable(map(nodes, (ROOT / "src" / "runevals").rglob("*.py")))


@cache
def known() -> frozenset[str]:
    """Every name that means something to runevals: its texts, fields and classes, schemas, action and examples."""
    found: set[str] = OTHERS | set(catalogue.names())
    for name in NAMES:
        found |= set(words_of(schema_of(name)))
    for document in (schema("runevals.suites.urls", "mcp-1"), ACTION, CONTAINER, HOOKS):
        found |= set(words_of(document))
    for file in (*(ROOT / "docs" / "ci").iterdir(), ROOT / "src/runevals/github/evals.yml"):
        found |= set(re.findall(r"[\w-]+", file.read_text(encoding="utf-8")))
    for node in source():
        match node:
            case ast.Constant(value=str(text)):
                found |= set(re.findall(r"[\w-]+", text))
            case ast.ClassDef(name=name):
                found.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]) if name.isupper():
                found.add(name)
    return frozenset(found)


@pytest.mark.parametrize("page", PAGES)
def test_names_are_known(page):
    named = {span.partition(":")[0] for span in spans(page)}
    looks_like_one = re.compile(r"[A-Za-z]\w*(?:[_-]\w+|[a-z][A-Z]\w*)+")
    assert {name for name in named if looks_like_one.fullmatch(name)} <= known()


@pytest.mark.parametrize("page", PAGES)
def test_variables_are_read(page):
    named = set(re.findall(r"\bRUNEVALS_[A-Z_]+", (ROOT / page).read_text(encoding="utf-8")))
    assert named <= known() | {f"RUNEVALS_{setting.name.upper()}" for setting in SETTINGS}


@pytest.mark.parametrize("page", PAGES)
def test_python_names_can_be_imported(page):
    for span in spans(page):
        if (
            re.fullmatch(r"runevals(\.\w+)+", span)
            and span not in PLUGINS
            and not span.endswith((".yaml", ".json"))
        ):
            module, _, name = span.rpartition(".")
            assert _in(importlib.import_module(module), name), span
    for block in blocks(page, "python") if page != "CONTRIBUTING.md" else ():
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runevals"):
                module = importlib.import_module(node.module)
                assert [alias.name for alias in node.names if not _in(module, alias.name)] == []


def _in(module: ModuleType, name: str) -> bool:
    """Whether a module has this name, or is a package with this module."""
    return hasattr(module, name) or importlib.util.find_spec(f"{module.__name__}.{name}") is not None


def test_files_that_contributors_are_sent_to_exist():
    folders = (ROOT, ROOT / "src" / "runevals", ROOT / "src" / "runevals" / "reports")
    for span in spans("CONTRIBUTING.md"):
        if re.fullmatch(r"[\w./-]+(/|\.py|\.md)", span) and "asks_back" not in span:
            assert any((folder / span).exists() for folder in folders), span


def test_what_the_action_is_said_to_say_is_said_somewhere():
    """The messages in the table of docs/troubleshooting.md."""
    texts = [node.value for node in source() if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    said = "\n".join(texts).replace("`", "")
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    for message in re.findall(r"^\| `(\D[^`]+)`", page, re.M):
        parts = [part for part in re.split(r"[…–]|\d+", message) if re.search(r"\w{4}", part)]
        assert [part for part in parts if part.strip(" :") not in said] == [], message
