"""The losses that a change accepts: `runevals.accepted.yaml`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from runevals.lib.parsing.source import Source, parse_source, unreadable
from runevals.records.errors import InvalidSuite

if TYPE_CHECKING:
    from runevals.records import AcceptedLoss

FILENAME = "runevals.accepted.yaml"
MAX_BYTES = 1024 * 1024
MAX_REASON = 200  # characters
_HEADER = """\
# Losses that this change accepts, written by `runevals accept`. An entry counts only while its fingerprints hold,
# and if a reviewer approves the pull request at this commit.
"""


def content_of(path: Path) -> bytes:
    """What the file holds, as far as it is to be read."""
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def read_entries(content: bytes, display_path: str) -> tuple[AcceptedLoss, ...]:
    """The entries of such a file. Raises InvalidSuite with every problem of the file."""
    from runevals.records import AcceptedLoss  # `validate` mostly has no such file

    if len(content) > MAX_BYTES:
        raise unreadable(display_path, f"is larger than {MAX_BYTES // 1024} KiB, the most we read", rule="meaning")
    _, entries = entries_in(content, ".yaml", display_path, "accepted-1")
    return tuple(AcceptedLoss(case=item.pop("key"), **item) for item in entries)


def entries_in(content: bytes, suffix: str, display_path: str, schema: str) -> tuple[Source, list[dict[str, Any]]]:
    """A list, which has no entries if only its comments are left. Raises InvalidSuite with every problem."""
    source = parse_source(content if re.sub(rb"#.*", b"", content).strip() else b"[]", suffix, display_path)
    if problems := source.schema_problems("runevals.suites", schema):
        raise InvalidSuite(problems)
    return source, cast("list[dict[str, Any]]", source.value)


def written(entries: Sequence[AcceptedLoss]) -> str:
    """The file's text. Each value is written as JSON, which is YAML too."""
    names = {"key": "case", "suite": "suite", "base": "base", "head": "head", "reason": "reason"}
    lines = [
        f"{'-' if key == 'key' else ' '} {key}: {json.dumps(value, ensure_ascii=not value.isprintable())}\n"
        for entry in entries
        for key, name in names.items()
        for value in [str(getattr(entry, name))]
    ]
    return _HEADER + ("".join(lines) or "[]\n")
