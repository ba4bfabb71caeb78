"""Keeping the job's secrets out of its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_SECRET_NAMES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
_SHORTEST = 8  # masking shorter values would eat ordinary words


def mask_commands(environment: Mapping[str, str]) -> Iterator[str]:
    """One `::add-mask::` line for each value of a variable that is named like a secret."""
    for name, value in sorted(environment.items()):
        if name.upper().endswith(_SECRET_NAMES) and len(value) >= _SHORTEST:
            for line in value.splitlines():
                if len(line) >= _SHORTEST:
                    yield f"::add-mask::{line.replace('%', '%25')}"
