"""A mapping without entries, to which none can be added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn


class _Nothing(dict[str, Any]):
    __slots__ = ()

    def __setitem__(self, *_: object) -> NoReturn:
        raise TypeError("this mapping is shared and stays empty; make a copy of it")

    update = setdefault = __ior__ = __setitem__  # type: ignore[assignment]


NOTHING: Mapping[str, Any] = _Nothing()  # one for all records: most have no entries in most of their mappings
