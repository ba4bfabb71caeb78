"""Which facts of src/runevals/models/facts.json this repository uses, and which of them end.

`python .ci/facts.py [YYYY-MM-DD]`: a line for each that ends within 45 days; exit 1 if one is past.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from runevals.models.facts import Fact, facts, used

ROOT = Path(__file__).parents[1]
WARNING = timedelta(days=45)
SHIPPED = (
    *(
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "Dockerfile",
        "action.yml",
        "container/action.yml",
        "pyproject.toml",
    ),
    *("docs/**/*", "examples/**/*", "benchmarks/*", "runner/*", ".ci/*", ".github/**/*", "src/**/*"),
)
# How a name of each kind looks in a file.
LOOKS: dict[str, str] = {
    "model": r"(?<![\w.-])(?:openai/)?"
    r"(?:gpt-\d|claude-(?:opus|sonnet|haiku|fable)-\d|gemini-\d|qwen\d)(?:[\w.:-]*\w)?",
    "action": r"(?<=uses: )[\w./-]+@(?:[0-9a-f]{40} # v[\d.]+|v\d+)",
    "image": r"python:3\.[\d.]*\d(?:-[a-z]+)*(?:@sha256:[0-9a-f]{64})?",
    "api": r"20\d\d-\d\d-\d\d-preview",
    "python": r"(?<=Language :: Python :: )3\.\d+",
    "peer": r"omk \(oh-my-knowledge\) [\d.]+\d",
}
OURS = "runevals/runevals"


def named(text: str) -> Iterator[tuple[str, str]]:
    """The names of each kind in a file."""
    for kind, looks in LOOKS.items():
        for match in re.finditer(looks, text):
            if not match[0].startswith(OURS):
                yield kind, match[0]


def shipped() -> dict[str, str]:
    """Every file of the repository that may name something, except the facts."""
    paths = {path for pattern in SHIPPED for path in ROOT.glob(pattern) if path.is_file()}
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(paths)
        if path.suffix not in (".png", ".pyc") and path.name != "facts.json"
    }


def rows_of(kind: str, name: str) -> list[Fact]:
    """The rows that a name may stand for: a model may be of several providers."""
    return [row for row in facts().values() if row.kind == kind and name in (row.name, row.name.partition(":")[2])]


def in_use(files: dict[str, str]) -> tuple[set[Fact], dict[str, str]]:
    """The rows that these files and our defaults use, and the names without a row → their file."""
    rows, strays = set(used()), {}
    for file, text in files.items():
        for kind, name in named(text):
            found = rows_of(kind, name)
            if not found:
                strays[f"{kind} {name}"] = file
            rows.update(found[:1])
    return rows, strays


def ends(rows: Iterable[Fact], today: date) -> tuple[list[str], list[str]]:
    """Sentences on the rows that are past, and on those that end soon."""
    dated = sorted((row.ends_on, row.name, row) for row in rows if row.ends_on is not None)
    lines = [
        (row.ends_on, f"{row.kind} {row.name} ends on {row.ends_on}, see {row.source}") for _, _, row in dated
    ]
    past = [line for day, line in lines if day < today]
    soon = [line for day, line in lines if today <= day <= today + WARNING]
    return past, soon


def main(words: list[str]) -> int:
    """Prints what ends."""
    today = date.fromisoformat(words[0]) if words else datetime.now(UTC).date()
    past, soon = ends(in_use(shipped())[0], today)
    print("\n".join([*(f"past: {line}" for line in past), *(f"soon: {line}" for line in soon)]))
    return 1 if past else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
