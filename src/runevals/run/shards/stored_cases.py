"""The cases of the shards of a large run, in a file instead of in memory."""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from runevals.lib.storage.spool import SpoolFile
from runevals.records import CaseReport


class StoredCases(Sequence[CaseReport]):
    """Cases that are read from the file each time. Raises OSError if there is no room for one."""

    def __init__(self) -> None:
        self._file = SpoolFile()
        self._places = array("Q")  # offset and length of each
        self._order: Sequence[int] = ()  # the number in the file of each

    def extend(self, cases: Iterable[CaseReport]) -> None:
        """Adds these, or none of them."""
        for case in cases:
            content = pickle.dumps(case, pickle.HIGHEST_PROTOCOL)
            self._places.extend((self._file.append(content), len(content)))
        self._order = range(len(self._places) // 2)

    def put_in_order(self, order: Iterable[int]) -> None:
        """Arranges them: the numbers that they were added with, from 0, each once."""
        self._order = array("Q", order)

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> CaseReport: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[CaseReport, ...]: ...

    def __getitem__(self, index: int | slice) -> CaseReport | tuple[CaseReport, ...]:
        if isinstance(index, slice):
            return tuple(map(self._read, self._order[index]))
        return self._read(self._order[index])

    def __iter__(self) -> Iterator[CaseReport]:
        return map(self._read, self._order)

    def __reduce__(self) -> tuple[object, ...]:
        return tuple, (list(self),)

    def _read(self, number: int) -> CaseReport:
        offset, length = self._places[2 * number : 2 * number + 2]
        case: CaseReport = pickle.loads(self._file.read(offset, length))  # noqa: S301 - written by this process
        return case
