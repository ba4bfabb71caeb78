"""Records of a large run in a temporary file instead of in memory, behind sequences that decode them when read."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Generic, TypeVar, overload

import msgspec

from runevals.lib.parsing.record_json import json_of

T = TypeVar("T")

IN_MEMORY = 4 * 1024**2  # bytes of JSON: small runs never create a file
RECENT = 4  # values: a report looks at one several times in turn


class StoreFile:
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


class StoredSequence(Sequence[T]):
    """A sequence in a file, which `load` reads by its offset and length."""

    __slots__ = ("_count", "_load", "_read", "_where")

    def __init__(
        self,
        load: Callable[[int, int], tuple[T, ...]],
        read: Callable[[int, int], bytes],
        where: tuple[int, int],
        count: int,
    ) -> None:
        self._load, self._read, self._where, self._count = load, read, where, count

    @property
    def json(self) -> bytes:
        """As it is in the file."""
        return self._read(*self._where)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._load(*self._where)[index]

    def __iter__(self) -> Iterator[T]:
        return iter(self._load(*self._where))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | StoredSequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[object, ...]:
        return tuple, (list(self),)  # who gets a copy has it in memory


class Store(Generic[T]):
    """Keeps tuples of one type of record: the first few in memory. One thread may write, any may read."""

    def __init__(self, kind: type[T], in_memory: int = IN_MEMORY) -> None:
        self._file = StoreFile()
        self._free = in_memory
        decode = msgspec.json.Decoder(tuple[kind, ...]).decode  # type: ignore[valid-type]
        read = self._file.read
        self._load = lru_cache(RECENT)(lambda offset, length: decode(read(offset, length)))

    def offload(self, values: tuple[T, ...]) -> Sequence[T]:
        """`values`, or the same on disk if there were many before; what cannot be stored stays in memory."""
        try:
            content = json_of(values)
            if self._free > 0:
                self._free -= len(content)
                return values
            offset = self._file.append(content)
        except (OSError, AttributeError, TypeError, ValueError, RecursionError):  # no room, no JSON, no `pwrite`
            return values
        return StoredSequence(self._load, self._file.read, (offset, len(content)), len(values))


class StoredRecords(Sequence[T]):
    """Records that are read from a file each time. Raises OSError if there is no room for one."""

    def __init__(self, kind: type[T]) -> None:
        self._file = StoreFile()
        self._decode = msgspec.json.Decoder(kind).decode
        self._places = array("Q")  # offset and length of each
        self._order: Sequence[int] = ()  # the number in the file of each

    def extend(self, records: Iterable[T]) -> None:
        """Adds these, or none of them."""
        for record in records:
            content = json_of(record)
            self._places.extend((self._file.append(content), len(content)))
        self._order = range(len(self._places) // 2)

    def put_in_order(self, order: Iterable[int]) -> None:
        """Arranges them: the numbers that they were added with, from 0, each once."""
        self._order = array("Q", order)

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(map(self._record, self._order[index]))
        return self._record(self._order[index])

    def __iter__(self) -> Iterator[T]:
        return map(self._record, self._order)

    def __reduce__(self) -> tuple[object, ...]:
        return tuple, (list(self),)

    def _record(self, number: int) -> T:
        offset, length = self._places[2 * number : 2 * number + 2]
        return self._decode(self._file.read(offset, length))
