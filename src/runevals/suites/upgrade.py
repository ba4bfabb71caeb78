"""Suites of an older shape → the current one, backup first."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from runevals.lib.parsing.source import read_source
from runevals.lib.storage.files import behind_links, write_whole
from runevals.records.errors import InvalidSuite
from runevals.suites.dialects import LoadOptions, eval_document, load


def upgrade_file(path: Path, display_path: str) -> str:
    """Upgrades one file → what was done, in words. Raises InvalidSuite if it has errors."""
    suite = load(path, display_path, LoadOptions())
    if suite.errors:
        raise InvalidSuite(suite.errors)
    if not suite.legacy:
        return f"{display_path}: is current, unchanged"
    path = behind_links(path)
    source = read_source(path, display_path)
    backup = path.with_name(f"{path.name}.bak.{datetime.now().astimezone():%Y%m%d%H%M%S}")
    write_whole(backup, source.text)
    write_whole(path, eval_document.as_text(eval_document.with_known_keys(eval_document.upgraded(source.value))))
    return (
        f"{display_path}: upgraded to schemaVersion {eval_document.CURRENT_VERSION}; the old file is {backup.name}"
    )
