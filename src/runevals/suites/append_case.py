"""A case more in an eval document on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runevals.lib.parsing.source import read_json, read_source
from runevals.lib.storage.files import behind_links, write_whole
from runevals.records import Location, SuiteProblem
from runevals.records.errors import InvalidSuite
from runevals.suites.dialects import LoadOptions, eval_document
from runevals.suites.upgrade import upgrade_file

Json = dict[str, Any]


def stored(path: Path, shown: str) -> Json | None:
    """The eval document at `path`, None if nothing is there. Raises InvalidSuite for anything else."""
    if not path.exists():
        return None
    value = read_source(path, shown).value
    if not eval_document.recognises(value):
        message = "is no eval document, and no case can be added to it"
        raise InvalidSuite([SuiteProblem(location=Location(file=shown), pointer="", message=message)])
    return eval_document.upgraded(value)


def save(path: Path, shown: str, item: Json, defaults: Mapping[str, Any] | None, options: LoadOptions) -> str:
    """Adds `item` as the last case, or begins the file with it → what was done.

    A file of an older shape is upgraded, backup first. `defaults` are the evaluators of a new file.
    Raises InvalidSuite, with the file as it was, if it would have errors with the case.
    """
    told = "" if not path.exists() else upgrade_file(path, shown)
    document = stored(path, shown) or _begun(defaults)
    document["items"] = [*document["items"], item]
    text = eval_document.as_text(document)
    suite = eval_document.load(read_json(text, shown), options)
    if suite.errors:
        raise InvalidSuite(suite.errors)
    write_whole(behind_links(path), text)
    upgraded = f" ({told})" if "upgraded" in told else ""
    return f"Saved as case {len(document['items'])} of {shown}{upgraded}"


def _begun(defaults: Mapping[str, Any] | None) -> Json:
    chosen = {} if defaults is None else {"default_evaluators": dict(defaults)}
    return {"schemaVersion": eval_document.CURRENT_VERSION, **chosen, "items": []}
