"""Which files this process has open."""

from __future__ import annotations

from pathlib import Path


def open_below(folder: Path) -> list[int]:
    """The numbers of the open files below `folder`, those without a name too."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            where = entry.readlink()
        except FileNotFoundError:  # the listing's own
            continue
        if where.is_relative_to(folder):
            found.append(int(entry.name))
    return found
