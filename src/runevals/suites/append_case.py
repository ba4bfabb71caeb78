"""A case more in an eval document on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runevals.lib.nullable import without_none
from runevals.lib.parsing.source import read_json, read_source, unreadable
from runevals.lib.storage.files import behind_links, write_whole
from runevals.records.errors import InvalidSuite
from runevals.suites.dialects import LoadOptions, eval_document
from runevals.suites.upgrade import upgrade_file

Json = dict[str, Any]


def read_document(path: Path, display_path: str) -> Json | None:
    """The eval document at `path`, None if it is absent. Raises InvalidSuite for another file."""
    if not path.exists():
        return None
    value = read_source(path, display_path).value
    if not eval_document.recognises(value):
        raise unreadable(display_path, "is not an eval document, so no case can be added to it", rule="meaning")
    return eval_document.upgraded(value)


def save(
    path: Path, display_path: str, item: Json, defaults: Mapping[str, Any] | None, options: LoadOptions
) -> str:
    """Appends `item` as the last case, or creates the file with it → what was done.

    A file of an older shape is upgraded, backup first. `defaults` are the evaluators of a new file.
    Raises InvalidSuite, and leaves the file unchanged, if it would have errors with the case, or has the case.
    """
    upgrade = "" if not path.exists() else upgrade_file(path, display_path)
    document = read_document(path, display_path) or {
        "schemaVersion": eval_document.CURRENT_VERSION,
        **without_none(default_evaluators=defaults),
        "items": [],
    }
    text = _with_last(document["items"], item, path, display_path)
    document["items"] = [*document["items"], item]
    text = text or eval_document.as_text(document)
    suite = eval_document.load(read_json(text, display_path), options)
    own = f"/items/{len(document['items']) - 1}"
    twice = [one for one in suite.problems if one.rule == "duplicate-case" and one.pointer == own]
    if problems := [*suite.errors, *twice]:
        raise InvalidSuite(problems)
    write_whole(behind_links(path), text)
    upgraded = f" ({upgrade})" if "upgraded" in upgrade else ""
    return f"Saved as case {len(document['items'])} of {display_path}{upgraded}"


def _with_last(items: Sequence[Json], item: Json, path: Path, display_path: str) -> str:
    """The text of the file with one item more, written as the last one is; empty for a file without items."""
    if not items:
        return ""
    source = read_source(path, display_path)
    begin = source.offset(("items", len(items) - 1))
    _, end = json.JSONDecoder().raw_decode(source.text, begin)
    space = source.text[len(source.text[:begin].rstrip()) : begin]
    lines = json.dumps(item, ensure_ascii=False, indent=2 if "\n" in source.text[begin:end] else None)
    return f"{source.text[:end]},{space}{lines.replace(chr(10), space)}{source.text[end:]}"
