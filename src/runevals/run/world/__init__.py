"""What a run may touch, as one record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from datetime import UTC, datetime

from runevals.judge.model import Judge
from runevals.lib.http.throttle import Throttles
from runevals.records.quick_dataclass import dataclass
from runevals.records.script import ScriptRunner
from runevals.run.workspaces.folders import Workspaces
from runevals.run.world.budget import Stop
from runevals.targets import Target


def utc_now() -> datetime:
    """The present moment, aware."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Target, judge (None: judge checks are skipped), sandbox and clock; `stop` ends the run early,
    `throttles` are those of its hosts."""

    target: Target
    judge: Judge | None
    sandbox: ScriptRunner
    stop: Stop = field(default_factory=Stop)
    throttles: Throttles = field(default_factory=Throttles)
    now: Callable[[], datetime] = utc_now
    workspaces: Workspaces | None = None  # of a target that works in folders
