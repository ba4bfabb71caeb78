"""The files that a configuration names: read where they lie in the repository, never run."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from runevals.lib.parsing.source import parse_source, path_inside, read_line
from runevals.records.errors import UsageError
from runevals.records.quick_dataclass import dataclass

PREFIX = "file://"
DATA = (".json", ".yaml", ".yml", ".jsonl", ".csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """`folder` is the configuration's own, `root` what no path may lead out of."""

    folder: Path
    root: Path

    def referenced(self, reference: str) -> list[Path]:
        """The files behind `file://PATH`, which may be a pattern. Raises UsageError if there is none."""
        name = reference.removeprefix(PREFIX).removeprefix("./")
        if "*" not in name:
            return [path_inside(self.root, name, base=self.folder, what=reference)]
        paths = sorted(path for path in self.folder.glob(name) if path.is_file())
        if not paths:
            raise UsageError(f"{reference}: no file matches")
        return [path_inside(self.root, str(path), base=self.folder, what=reference) for path in paths]

    def text(self, path: Path) -> str:
        """A file's text. Raises UsageError."""
        try:
            return path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise UsageError(f"{path.name} is not UTF-8 text") from None

    def value(self, path: Path) -> Any:
        """What a JSON, YAML, JSON Lines or CSV file holds. Raises UsageError."""
        if path.suffix == ".csv":
            return list(csv.DictReader(io.StringIO(self.text(path), newline="")))
        if path.suffix == ".jsonl":
            try:
                return [read_line(line) for line in self.text(path).splitlines() if line.strip()]
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{path.name} is not JSON Lines: {error}") from None
        if path.suffix not in DATA:
            raise UsageError(f"{path.name} is not a data file ({', '.join(DATA)})")
        return parse_source(path.read_bytes(), path.suffix, path.name).value
