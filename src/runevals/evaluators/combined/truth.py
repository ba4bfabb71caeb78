"""AND and OR over members with three values: passed, failed and errored; skipped members are ignored."""

from __future__ import annotations

from collections.abc import Sequence

from runevals.evaluators.kinds import Part
from runevals.records import Outcome, Problem


def all_of(parts: Sequence[Part]) -> bool | Problem | None:
    """True if all passed; one failed member decides, even with errors. None if all were skipped."""
    relevant = [part for part in parts if part.outcome is not Outcome.SKIPPED]
    if any(part.outcome is Outcome.FAILED for part in relevant):
        return False
    return error_of(relevant) or (True if relevant else None)


def any_of(parts: Sequence[Part]) -> bool | Problem | None:
    """True if one passed; otherwise, an error leaves it undecided. None if all were skipped."""
    relevant = [part for part in parts if part.outcome is not Outcome.SKIPPED]
    if any(part.outcome is Outcome.PASSED for part in relevant):
        return True
    return error_of(relevant) or (False if relevant else None)


def error_of(parts: Sequence[Part]) -> Problem | None:
    """The first problem of a part, or None."""
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
    reasons = "; ".join(f"{part.id} {part.outcome.value}: {part.reason}".rstrip(": ") for part in rest[:5])
    return f"{len(parts) - len(rest)} of {len(parts)} parts passed; {reasons}"
