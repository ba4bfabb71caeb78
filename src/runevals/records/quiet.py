"""Records with fields that their repr hides, or that do not count when two of them are compared."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct


class Quiet(Struct, frozen=True, eq=False):
    """The base of such records."""

    hidden: ClassVar[frozenset[str]] = frozenset()  # from repr: secrets
    ignored: ClassVar[frozenset[str]] = frozenset()  # by equality: where something was read

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._without(self.ignored) == other._without(self.ignored)

    def __hash__(self) -> int:
        return hash(tuple(self._without(self.ignored).values()))

    def __repr__(self) -> str:
        fields = self._without(self.hidden).items()
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in fields)})"

    def _without(self, names: frozenset[str]) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__struct_fields__ if name not in names}
