"""The protocol of progress displays, which the caller of a run supplies."""

from __future__ import annotations

from typing import Protocol

from runevals.run.measurement import Measurement, Watch


def silent(*_sides: Measurement, **_more: object) -> Watch:
    """Shows nothing."""
    return iter


class Progress(Protocol):
    """Shows the progress of the sides that are being measured."""

    def __call__(self, *sides: Measurement, phase: str = "", total: int | None = None) -> Watch:
        """What to wrap the evaluations of `sides` in.

        `phase` says which part of a longer run this is, `total` how many trials there are where not all are made.
        """
