"""Parquet files, as data sets are published, as JSON Lines."""

from __future__ import annotations

import json
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from runevals.lib.parsing.source import MAX_BYTES, read_text, unreadable

SUFFIX = ".parquet"
_MAGIC = b"PAR1"
_ROWS = 64  # decoded at a time: a row may hold far more than its share of the file


def text_of(path: Path, display_path: str) -> str:
    """The text of a suite file; that of a Parquet file has a line of JSON for each row. Raises InvalidSuite."""
    if path.suffix != SUFFIX or not path.is_file():
        return read_text(path, display_path)
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:  # a pointer of Git LFS, such as
            return read_text(path, display_path)
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise unreadable(display_path, "is Parquet, which needs: pip install 'runevals[parquet]'") from None
    lines: list[str] = []
    size = 0
    try:
        with ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=_ROWS):
                lines += (json.dumps(row, default=for_json) for row in batch.to_pylist())
                size += sum(map(len, lines[-batch.num_rows :]))
                if size > MAX_BYTES:
                    message = f"has more than {MAX_BYTES // 1024**2} MiB of text, the most we read"
                    raise unreadable(display_path, message)
    except (ArrowException, OSError, TypeError, ValueError) as error:
        raise unreadable(display_path, f"cannot be read as Parquet: {error}") from None
    return "\n".join(lines)


def for_json(value: Any) -> object:
    """What JSON has of a value of a table: numbers of arrays, and dates and the like as text. Raises TypeError."""
    if type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return None
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, date | time | timedelta | Decimal | UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no type of JSON")
