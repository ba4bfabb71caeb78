"""The pages of the documentation, taken apart: links, code, blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/*.md", "examples/README.md", "examples/*/README.md")
    for path in ROOT.glob(pattern)
    if path.name not in ("CHANGELOG.md", "seeds.md")  # what once was; inputs, many of them wrong
)
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
CONTAINER = yaml.safe_load((ROOT / "container" / "action.yml").read_text(encoding="utf-8"))
_OF_OTHER_TOOLS = ("docs/promptfoo.md", "docs/omk.md", "docs/microsoft.md")  # whose words are in first columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One block of code, and the line that it begins in."""

    line: int
    language: str
    text: str


@cache
def tokens(page: str) -> tuple[Token, ...]:
    """The page as Markdown has it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return tuple(MarkdownIt("commonmark").enable("table").parse(text))


def blocks(page: str, *languages: str) -> list[Block]:
    """The page's blocks of code in these languages."""
    return [
        Block(line=token.map[0] + 1, language=token.info, text=token.content)
        for token in tokens(page)
        if token.type == "fence" and token.info in languages
    ]


def spans(page: str) -> list[str]:
    """All code within sentences and tables, but what a page about another tool says of that tool."""
    return [child.content for child in _inline(page) if child.type == "code_inline"]


def prose(page: str) -> str:
    """The page's sentences, without code."""
    return "\n".join(child.content for child in _inline(page) if child.type == "text")


def links(page: str) -> list[str]:
    """Where the page's links and pictures lead."""
    return [
        str(child.attrGet("href") or child.attrGet("src"))
        for token in tokens(page)
        for child in token.children or ()
        if child.type in ("link_open", "image")
    ]


@cache
def anchors(page: str) -> frozenset[str]:
    """The names of the page's headings, as GitHub makes them."""
    found = tokens(page)
    headings = [found[place + 1] for place, token in enumerate(found) if token.type == "heading_open"]
    shown = ["".join(child.content for child in heading.children or ()) for heading in headings]
    return frozenset(re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in shown)


def _inline(page: str) -> Iterator[Token]:
    column = 0
    for token in tokens(page):
        if token.type == "tr_open":
            column = 0
        column += token.type == "td_open"
        if token.type == "inline" and not (column == 1 and page in _OF_OTHER_TOOLS):
            yield from token.children or ()
        if token.type == "table_close":
            column = 0
