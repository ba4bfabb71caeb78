"""Writes llms.txt from these pages: `.venv/bin/python docs/llms.py`. A line for each page, for assistants."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent
FILE = DOCS.parent / "llms.txt"
ADDRESS = "https://raw.githubusercontent.com/runevals/runevals/v0"
HEAD = """# runevals

> CI for prompts, agents and skills: did this change make it worse? A GitHub Action and a command line.

For machines: `runevals --format json` prints a verdict as one JSON object, `runevals schema` the JSON Schemas.
"""
_ITEM = re.compile(r"^(?:\*|\d+\.) \[[^\]]+\]\(([\w-]+\.md)\)[:,] (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def text() -> str:
    """The whole file: the skill and the rules first, then the pages in alphabetical order."""
    contents = dict(_ITEM.findall((DOCS / "README.md").read_text(encoding="utf-8")))
    pages = [path for path in sorted(DOCS.glob("*.md")) if path.name != "README.md"]
    first = [
        _line(
            "A skill for assistants",
            "skills/runevals/SKILL.md",
            "write cases, read a verdict, find the line, fix.",
        ),
        _line("For assistants who work on this code", "AGENTS.md", "set up, test, style."),
    ]
    lines = [
        _line(title, f"docs/{path.name}", contents.get(path.name, first_paragraph))
        for path in pages
        for title, first_paragraph in [_beginning(path)]
    ]
    return "\n".join([HEAD, "## For assistants", "", *first, "", "## Documentation", "", *lines, ""])


def _beginning(path: Path) -> tuple[str, str]:
    """The title of a page, and its first paragraph."""
    title, paragraph, *_ = path.read_text(encoding="utf-8").split("\n\n")
    return title.removeprefix("# "), " ".join(paragraph.split())


def _line(title: str, path: str, about: str) -> str:
    plain = _LINK.sub(r"\1", about).replace("*", "")
    sentence = re.split(r"(?<=[.?:;]) ", plain)[0].rstrip(".:;")
    return f"- [{title}]({ADDRESS}/{path}): {sentence}"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
