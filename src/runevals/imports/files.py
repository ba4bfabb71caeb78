"""The files that a configuration names: read where they lie in the repository, never run."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

from msgspec import Struct

from runevals.lib.parsing.source import MAX_BYTES, lies_inside, parse_source, path_inside, read_line, read_text
from runevals.records.errors import UsageError
from runevals.repository.trees import CannotFollow, FolderTree, matching
from runevals.suites.dialects.rows import MANY_CELLS, MOST_COLUMNS

PREFIX = "file://"
PROGRAM = re.compile(r"\.(?:py|[cm]?js|ts)(?::\w+)?$")  # maybe with the name of a function
DATA = (".json", ".yaml", ".yml", ".jsonl", ".csv")


class Files(Struct, frozen=True, kw_only=True):
    """`folder` is the configuration's own, `root` what no path may lead out of."""

    folder: Path
    root: Path

    def referenced(self, reference: str) -> list[Path]:
        """The files behind `file://PATH`, which may be a pattern. Raises UsageError if there is none."""
        name = reference.removeprefix(PREFIX).removeprefix("./")
        if "*" not in name:
            return [path_inside(self.root, name, base=self.folder, what=reference)]
        cut = name.rfind("/", 0, re.search(r"[*?[]", name).start()) + 1  # type: ignore[union-attr] # it has a *
        start, pattern = name[:cut], name[cut:]
        if not lies_inside(self.root, self.folder / start):
            raise UsageError(f"{reference} is outside the repository ({self.root})")
        try:
            paths = sorted(path for path, _ in matching(FolderTree(self.folder / start), pattern))
        except CannotFollow as why:
            raise UsageError(f"{reference}: {why}") from None
        files = [start + path for path in paths if (self.folder / start / path).is_file()]
        if not files:
            raise UsageError(f"{reference}: no file matches")
        return [path_inside(self.root, name, base=self.folder, what=reference) for name in files]

    def data(self, reference: str, what: str) -> list[Path]:
        """The files behind a reference that is no program. Raises UsageError."""
        if PROGRAM.search(reference):
            raise UsageError(f"{reference} computes its {what}; write out the {what} that it makes")
        return self.referenced(reference)

    def text(self, path: Path) -> str:
        """A file's text. Raises UsageError."""
        return read_text(path, path.name)

    def plain_text(self, path: Path) -> str:
        """A file's text without blanks around it, as promptfoo reads those of variables and of expected texts."""
        return self.text(path).strip()

    def value(self, path: Path) -> Any:
        """What a JSON, YAML, JSON Lines or CSV file holds. Raises UsageError."""
        if path.suffix == ".csv":
            return _rows(self.text(path), path.name)
        if path.suffix == ".jsonl":
            try:
                return [read_line(line) for line in self.text(path).splitlines() if line.strip()]
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{path.name} is not JSON Lines: {error}") from None
        if path.suffix not in DATA:
            raise UsageError(f"{path.name} is not a data file ({', '.join(DATA)})")
        return parse_source(self.text(path).encode(), path.suffix, path.name).value


def _rows(text: str, name: str) -> list[dict[str, str]]:
    csv.field_size_limit(MAX_BYTES)
    # Not strict, a quote that is not closed would take rows with it.
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if len(reader.fieldnames or ()) > MOST_COLUMNS:
            raise UsageError(f"{name} has more than {MOST_COLUMNS} columns")
        rows = list(reader)
    except csv.Error as error:
        raise UsageError(f"{name} is not CSV: {error}") from None
    if any(None in row for row in rows):
        raise UsageError(f"{name} has a row with {MANY_CELLS.format(',')}")
    return rows
