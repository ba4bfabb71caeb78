"""What a conversion could not keep, or keeps with another meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Literal

from msgspec import Struct

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
    """A line for each remark; more than MOST_ALIKE that differ in the same way are one, at the first place."""
    alike = Counter(remark.message for remark in remarks if remark.level == "differs")
    summed_up = set[str]()
    for remark in remarks:
        if remark.level != "differs" or alike[remark.message] <= MOST_ALIKE:
            yield str(remark)
        elif remark.message not in summed_up:
            summed_up.add(remark.message)
            yield f"{remark} ({alike[remark.message]:,} places; this is the first)"


class Remarks(Struct, frozen=True):
    """Collects remarks, each once."""

    entries: dict[Remark, None] = {}

    def not_converted(self, location: str, message: str) -> None:
        """Something has no equivalent in runevals, and is not in what was written."""
        self.entries[Remark(level="lost", location=location, message=message)] = None

    def differs(self, location: str, message: str) -> None:
        """Something was converted, and does not mean quite the same."""
        self.entries[Remark(level="differs", location=location, message=message)] = None
