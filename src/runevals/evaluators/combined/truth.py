"""AND and OR over members with three values: passed, failed and errored; skipped members are ignored."""

from __future__ import annotations

from collections.abc import Sequence

from runevals.evaluators.kinds import Part
from runevals.records import Outcome, Problem, Verdict


def settled(parts: Sequence[Part], by: Outcome, what: str) -> bool | Problem | Verdict:
    """Whether they passed: one with the outcome `by` decides, even with errors. A verdict if all were skipped."""
    outcomes = {part.outcome for part in parts} - {Outcome.SKIPPED}
    if by in outcomes:
        return by is Outcome.PASSED
    return error_of(parts) or (by is Outcome.FAILED if outcomes else Verdict.skipped(f"every {what} was skipped"))


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
