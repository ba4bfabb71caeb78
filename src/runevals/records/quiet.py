"""Records with fields that their repr hides, or that do not count when two of them are compared."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct


class Quiet(Struct, frozen=True, eq=False):
    """The base of such records."""

    hidden: ClassVar[frozenset[str]] = frozenset()  # from repr: secrets
    ignored: ClassVar[frozenset[str]] = frozenset()  # by equality: where something was read

    def __eq__(self, other: object) -> bool:
        return other.__class__ is self.__class__ and all(
            getattr(self, name) == getattr(other, name)
            for name in self.__struct_fields__
            if name not in self.ignored
        )

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.__struct_fields__ if name not in self.ignored))

    def __repr__(self) -> str:
        names = (name for name in self.__struct_fields__ if name not in self.hidden)
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"
