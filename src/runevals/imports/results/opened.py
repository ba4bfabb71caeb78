"""A file of results, opened: what it is, by its content and not by its name."""

from __future__ import annotations

import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from functools import partial
from pathlib import Path

from msgspec import Struct

from runevals.imports.results.archive import Archive, is_archive
from runevals.imports.results.fields import Json
from runevals.lib.parsing.shapes import object_in
from runevals.lib.parsing.source import decoded, unique_keys, where_no_json, why_no_json
from runevals.lib.parsing.strict_json import nested_deeper, require_few_values
from runevals.lib.parsing.xml import ENDS_EARLY, MOST_DEEP, XmlElement, read_xml
from runevals.records.errors import InvalidDocument
from runevals.suites.dialects.rows import read_csv

MAX_BYTES = 256 * 1024 * 1024
MOST_BLANK = 4096  # bytes before what tells the format
MOST_ROWS = 200_000  # of JSON Lines
TABLES = (".csv", ".tsv")
_JSON_STARTS = '{["-0123456789tfnNI'


class OpenedResults(Struct, frozen=True, kw_only=True):
    """One file; exactly one of document, rows, xml and archive is there."""

    path: Path
    display_path: str
    document: Json | None = None
    rows: tuple[Json, ...] | None = None  # of JSON Lines
    xml: XmlElement | None = None
    archive: Archive | None = None
    is_cut: bool = False  # it may end within its last row, which nothing else would tell

    def has(self, *names: str) -> bool:
        """Whether it is a JSON object with all of these keys."""
        return self.document is not None and object_in(self.document.value).keys() >= set(names)


def read_opened(path: Path, display_path: str) -> OpenedResults:
    """A file, opened. Raises InvalidDocument for what is not JSON, JSON Lines, XML or a zip archive."""
    try:
        if not path.is_file():
            raise InvalidDocument(f"{display_path}: there is no such file; did its tool run?")
        if path.stat().st_size > MAX_BYTES:
            raise InvalidDocument(f"{display_path} is larger than {MAX_BYTES // 1024**2} MiB, the most we read")
        return opened(path.read_bytes(), path, display_path)
    except OSError as error:
        raise InvalidDocument(f"{display_path} cannot be read: {error.strerror}") from None


def _without_blanks(row: Json) -> object:
    """The cells of a row by their columns; spreadsheets leave blanks around names. Raises InvalidDocument."""
    cells = {name.strip(): cell for name, cell in row.fields.items()}
    if len(cells) < len(row.fields):
        raise InvalidDocument(f"{row.file}: two columns differ only by blanks; rename one")
    return cells


def opened(content: bytes, path: Path, display_path: str) -> OpenedResults:
    """A file's content, opened. Raises InvalidDocument, or InvalidSuite for what is not UTF-8 text."""
    file = partial(OpenedResults, path=path, display_path=display_path)
    if is_archive(content):
        return file(archive=Archive(content, display_path))
    is_utf_16 = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))  # as PowerShell writes what it redirects
    start = content[:MOST_BLANK].decode("utf-16" if is_utf_16 else "utf-8-sig", errors="replace")
    if start.lstrip().startswith("<"):
        return file(xml=read_xml(content, display_path))
    text = content.decode("utf-16", errors="replace") if is_utf_16 else decoded(content, display_path)
    if not text.strip():
        raise InvalidDocument(f"{display_path} is empty{ENDS_EARLY}")
    if path.suffix.lower() in TABLES:
        table = Json(read_csv(text, display_path).value, display_path).entries
        rows = [Json(_without_blanks(row), f"{display_path}: row {at}") for at, row in enumerate(table, start=1)]
        return file(rows=tuple(rows), is_cut=not text.endswith("\n"))
    try:
        return file(document=Json(loaded(text), display_path))
    except json.JSONDecodeError as error:
        if text.lstrip()[0] not in _JSON_STARTS:
            raise InvalidDocument(
                f"{display_path} is not JSON, JSON Lines or XML: let its tool write one of these"
            ) from None
        lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
        if len(lines) < 2 or not error.msg.startswith("Extra data"):
            place = ":".join(map(str, (display_path, *where_no_json(error))))
            raise InvalidDocument(f"{place}: is not JSON: {why_no_json(error)}{_truncated(text, error)}") from None
        if len(lines) > MOST_ROWS:
            raise InvalidDocument(f"{display_path} has more than {MOST_ROWS:,} lines, the most we read") from None
    except (ValueError, RecursionError) as error:
        raise InvalidDocument(f"{display_path} is not JSON that we read: {error}") from None
    return file(rows=tuple(_row(line, f"{display_path}:{at}") for at, line in lines))


def loaded(text: str) -> object:
    """JSON; NaN and Infinity, which Python's tools write, are null. Raises ValueError or RecursionError."""
    require_few_values(text)
    value: object = json.loads(text, object_pairs_hook=unique_keys, parse_constant=lambda _: None)
    if nested_deeper(value, MOST_DEEP):  # what walks over it could not end
        raise ValueError(f"it is nested deeper than {MOST_DEEP}")
    return value


def _row(line: str, place: str) -> Json:
    try:
        return Json(loaded(line), place)
    except json.JSONDecodeError as error:
        raise InvalidDocument(
            f"{place}:{where_no_json(error)[1]}: is not JSON: {why_no_json(error)}{_truncated(line, error)}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise InvalidDocument(f"{place}: is not JSON that we read: {error}") from None


def _truncated(text: str, error: json.JSONDecodeError) -> str:
    ends = error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated string")
    return ENDS_EARLY if ends else ""
