"""Large values of records, and most attempts of a large run, stored on disk instead of in memory."""

from __future__ import annotations

import os
from functools import lru_cache, partial
from operator import is_
from typing import TYPE_CHECKING, Any, TypeVar

from runevals.records import PreparedJson, StoredValue, attach_json, offload

if TYPE_CHECKING:
    from runevals.records import AttemptReport

T = TypeVar("T")

IN_MEMORY = 4 * 1024**2  # characters: small runs never create a file
ATTEMPTS_IN_MEMORY = 10_000  # those of a larger run are stored whole
SMALL = 512  # not worth storing below this
RECENT = 4  # attempts: a report looks at one several times in turn


class Spool:
    """Stores the large values of records in a file instead of in memory. One thread may write, any may read."""

    def __init__(self, *, attempts: int = 0) -> None:
        """`attempts` is how many a run makes."""
        self._free = IN_MEMORY
        self._stores_attempts = attempts > ATTEMPTS_IN_MEMORY
        self._file = SpoolFile()
        self._recent = lru_cache(RECENT)(partial(_value, self._file))
        self._text = partial(_text, self._file)
        self._is_full = False

    def offload_record(self, record: T) -> T:
        """`record` with its large values in the file, if there were many before."""
        return offload(record, self._keep)

    def offload_attempt(self, attempt: AttemptReport) -> AttemptReport:
        """`attempt` with its turns in the file; if there are few, with only their large values there."""
        return offload(attempt, self._store if self._stores_attempts else self._large_values)

    def attach_json(self, record: PreparedJson, text: str) -> None:
        """Stores the JSON of a record; if the disk is full, it will be written again."""
        if not self._is_full:
            try:
                content = text.encode("utf-8", "surrogatepass")
                attach_json(record, OnDisk(self._text, self._file.append(content), len(content)))
            except (OSError, AttributeError):  # no room, or a system without `pwrite`
                self._is_full = True

    def _large_values(self, turns: Any) -> Any:
        offloaded = tuple(map(self.offload_record, turns))
        return turns if all(map(is_, offloaded, turns)) else offloaded

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
        return self._store(value)

    def _store(self, value: Any) -> Any:
        import pickle  # small runs never need it

        try:
            content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
            return OnDisk(self._recent, self._file.append(content), len(content))
        except (OSError, pickle.PicklingError, AttributeError, TypeError, RecursionError):
            return value  # disk full, not picklable, or nested too deep: it stays in memory


class SpoolFile:
    """An unnamed temporary file, created for the first content, which disappears with the process."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._end = 0

    def append(self, content: bytes) -> int:
        """Writes `content`, returns its offset. Raises OSError; AttributeError on a system without `pwrite`."""
        if self._number is None:
            from tempfile import TemporaryFile

            with TemporaryFile(buffering=0) as file:
                self._number = os.dup(file.fileno())
        if os.pwrite(self._number, content, self._end) < len(content):
            raise OSError("no room left")
        self._end += len(content)
        return self._end - len(content)

    def read(self, offset: int, length: int) -> bytes:
        """What was written there."""
        assert self._number is not None  # noqa: S101 - something was written
        return os.pread(self._number, length, offset)

    def __del__(self) -> None:
        if self._number is not None:
            os.close(self._number)


class OnDisk(StoredValue):
    """A value in the file, which `load` reads by its offset and length."""

    __slots__ = ("_length", "_load", "_offset")

    def __init__(self, load: Any, offset: int, length: int) -> None:
        self._load = load
        self._offset = offset
        self._length = length

    def read(self) -> Any:
        return self._load(self._offset, self._length)


def _value(file: SpoolFile, offset: int, length: int) -> Any:
    import pickle

    return pickle.loads(file.read(offset, length))  # noqa: S301 - of this process; no other can write it


def _text(file: SpoolFile, offset: int, length: int) -> str:
    return file.read(offset, length).decode("utf-8", "surrogatepass")
