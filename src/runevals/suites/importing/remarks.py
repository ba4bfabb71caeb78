"""What a conversion could not keep, or keeps with another meaning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Level = Literal["lost", "differs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing that its reader must know: if it stood, and what became of it."""

    level: Level
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.where}: {self.message}"


@dataclass(frozen=True, slots=True)
class Remarks:
    """Collects remarks, each once."""

    found: dict[Remark, None] = field(default_factory=dict)

    def lost(self, where: str, message: str) -> None:
        """Something has no equal here, and is not in what was written."""
        self.found[Remark(level="lost", where=where, message=message)] = None

    def differs(self, where: str, message: str) -> None:
        """Something was converted, and does not mean quite the same."""
        self.found[Remark(level="differs", where=where, message=message)] = None
