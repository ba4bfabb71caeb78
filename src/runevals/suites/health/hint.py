"""A hint for the author of a suite."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from runevals.lib.text.escape import one_line
from runevals.records import Case, Location
from runevals.records.suite import called

Kind = Literal[
    "no checks",
    "cannot fail",
    "weak check",
    "not noticed",
    "too strict",
    "unclear rubric",
    "near-duplicate",
    "unexpected tool",
    "alike tools",
    "thin",
    "tells nothing apart",
    "slow",
    "costly",
]


class Hint(Struct, frozen=True, kw_only=True):
    """`message` says what to improve and how."""

    kind: Kind
    location: Location
    message: str

    def __str__(self) -> str:
        return f"{self.location}: {self.kind}: {self.message}"


def case_label(case: Case) -> str:
    """A case as messages call it."""
    return one_line(called(case.key, case.name), 60)
