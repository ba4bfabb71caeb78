"""And and or over members that may have errored: three values, and skipped ones count as absent."""

from __future__ import annotations

from collections.abc import Sequence

from runevals.evaluators.kinds import Part
from runevals.records import Outcome, Problem


def all_of(parts: Sequence[Part]) -> bool | Problem | None:
    """True if all passed; a failed one settles it, before any error does. None where all were skipped."""
    counted = [part for part in parts if part.outcome is not Outcome.SKIPPED]
    if any(part.outcome is Outcome.FAILED for part in counted):
        return False
    return error_of(counted) or (True if counted else None)


def any_of(parts: Sequence[Part]) -> bool | Problem | None:
    """True if one passed, whatever the others; then an error leaves it open. None where all were skipped."""
    counted = [part for part in parts if part.outcome is not Outcome.SKIPPED]
    if any(part.outcome is Outcome.PASSED for part in counted):
        return True
    return error_of(counted) or (False if counted else None)


def error_of(parts: Sequence[Part]) -> Problem | None:
    """The first part's problem, None where none errored."""
    errored = next((part for part in parts if part.outcome is Outcome.ERRORED), None)
    if errored is None:
        return None
    code, _, message = errored.reason.partition(": ")
    return Problem(code=code, message=f"{errored.id}: {message}")


def details(parts: Sequence[Part], not_run: Sequence[str] = ()) -> dict[str, object]:
    """One line a member, and those that were not run."""
    lines = [
        {"id": part.id, "outcome": part.outcome.value, "score": part.score, "reason": part.reason}
        for part in parts
    ]
    return {"parts": lines, **({"not_run": list(not_run)} if not_run else {})}


def in_words(parts: Sequence[Part]) -> str:
    """Which members did not pass."""
    rest = [part for part in parts if part.outcome is not Outcome.PASSED]
    if not rest:
        return f"all {len(parts)} parts passed"
    shown = "; ".join(f"{part.id} {part.outcome.value}: {part.reason}".rstrip(": ") for part in rest[:5])
    return f"{len(parts) - len(rest)} of {len(parts)} parts passed; {shown}"
