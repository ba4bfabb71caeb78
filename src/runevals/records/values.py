"""Values of many records: numbers as documents may have them, and a mapping without entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NoReturn

from msgspec import Meta

LARGEST = 1e100  # sums and squares of such are numbers too
MOST = 2**53  # the largest whole number that every reader of JSON has

Number = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Amount = Annotated[float, Meta(ge=0, le=LARGEST)]
Positive = Annotated[float, Meta(gt=0, le=LARGEST)]
Whole = Annotated[int, Meta(ge=-MOST, le=MOST)]
Count = Annotated[int, Meta(ge=0, le=MOST)]
Ordinal = Annotated[int, Meta(ge=1, le=MOST)]


class _Nothing(dict[str, Any]):
    __slots__ = ()

    def __setitem__(self, *_: object) -> NoReturn:
        raise TypeError("this mapping is shared and stays empty; make a copy of it")

    update = setdefault = __ior__ = __setitem__  # type: ignore[assignment]


NOTHING: Mapping[str, Any] = _Nothing()  # one for all records: most have no entries in most of their mappings
