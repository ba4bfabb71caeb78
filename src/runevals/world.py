"""What a run may touch, as one record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from runevals.evaluators.kinds import Runs
from runevals.judge import Judge
from runevals.targets import Target


def utc_now() -> datetime:
    """The present moment, aware."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Target, judge (None: judge checks are skipped), sandbox and clock."""

    target: Target
    judge: Judge | None
    sandbox: Runs
    now: Callable[[], datetime] = utc_now
