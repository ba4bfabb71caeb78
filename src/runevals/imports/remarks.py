"""What a conversion could not keep, or keeps with another meaning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

Level = Literal["lost", "differs"]
MOST_ALIKE = 3  # remarks that are listed one by one


class Remark(Struct, frozen=True, kw_only=True):
    """One thing that its reader must know: if it stood, and what became of it."""

    level: Level
    location: str
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.location}: {self.message}"


def remark_lines(remarks: Collection[Remark]) -> Iterator[str]:
    """A line for each remark; more than MOST_ALIKE of the same kind are one, at the first place."""
    kinds = Counter(map(_kind, remarks))
    summed_up = set[Remark]()
    for remark in remarks:
        kind = _kind(remark)
        if kinds[kind] <= MOST_ALIKE:
            yield str(remark)
        elif kind not in summed_up:
            summed_up.add(kind)
            yield f"{remark} ({kinds[kind]:,} places; this is the first)"


def _kind(remark: Remark) -> Remark:
    """The remark without the numbers of tests and assertions; one that only differs without its place."""
    return replace(remark, location=(re.sub(r"\d+", "…", remark.location) if remark.level == "lost" else ""))


class Remarks(Struct, frozen=True):
    """Collects remarks, each once, with the number of checks that are lost by it."""

    entries: dict[Remark, int] = field(default_factory=dict)

    def not_converted(self, location: str, message: str, *, checks: int = 0) -> None:
        """Something has no equivalent in runevals, and is not in what was written."""
        remark = Remark(level="lost", location=location, message=message)
        self.entries[remark] = self.entries.get(remark, 0) + checks

    def differs(self, location: str, message: str) -> None:
        """Something was converted, and does not mean quite the same."""
        self.entries[Remark(level="differs", location=location, message=message)] = 0
