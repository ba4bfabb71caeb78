"""Large values of records, stored on disk instead of in memory."""

from __future__ import annotations

import os
from typing import Any, TypeVar

from runevals.records import PreparedJson, StoredValue, attach_json, offload

T = TypeVar("T")

IN_MEMORY = 4 * 1024**2  # characters: small runs never create a file
SMALL = 512  # not worth storing below this


class Spool:
    """Stores the large values of records in an unnamed temporary file, which disappears with the process.

    One thread may write, any may read.
    """

    def __init__(self) -> None:
        self._free = IN_MEMORY
        self._file: _File | None = None
        self._end = 0
        self._is_full = False

    def offload_record(self, record: T) -> T:
        """`record` with its large values in the file, if there were many before."""
        return offload(record, self._keep)

    def attach_json(self, record: PreparedJson, text: str) -> None:
        """Stores the JSON of a record; if the disk is full, it will be written again."""
        if not self._is_full:
            try:
                attach_json(record, self._write(text.encode("utf-8", "surrogatepass"), _WrittenText))
            except (OSError, AttributeError):  # no room, or a system without `pwrite`
                self._is_full = True

    def _keep(self, value: Any) -> Any:
        if not value:
            return value
        try:
            size = len(value if isinstance(value, str) else repr(value))
        except RecursionError:
            return value
        if size < SMALL:
            return value
        if self._free > 0:
            self._free -= size
            return value
        import pickle  # small runs never need it

        try:
            return self._write(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), _OnDisk)
        except (OSError, pickle.PicklingError, AttributeError, TypeError, RecursionError):
            return value  # disk full, not picklable, or nested too deep: it stays in memory

    def _write(self, content: bytes, kind: type[_OnDisk]) -> StoredValue:
        if self._file is None:
            self._file = _File()
        if os.pwrite(self._file.number, content, self._end) < len(content):
            raise OSError("no room left")
        value = kind(self._file, self._end, len(content))
        self._end += len(content)
        return value


class _File:
    """An unnamed file, open while a value in it is referenced."""

    def __init__(self) -> None:
        from tempfile import TemporaryFile

        with TemporaryFile(buffering=0) as file:
            self.number = os.dup(file.fileno())

    def __del__(self) -> None:
        if hasattr(self, "number"):
            os.close(self.number)


class _OnDisk(StoredValue):
    """A value in the file."""

    __slots__ = ("_file", "_length", "_offset")

    def __init__(self, file: _File, offset: int, length: int) -> None:
        self._file = file
        self._offset = offset
        self._length = length

    def read(self) -> Any:
        import pickle

        return pickle.loads(self.content())  # noqa: S301 - written by this process; no other process can write it

    def content(self) -> bytes:
        return os.pread(self._file.number, self._length, self._offset)


class _WrittenText(_OnDisk):
    """A text in the file."""

    __slots__ = ()

    def read(self) -> str:
        return self.content().decode("utf-8", "surrogatepass")
