"""What a run may touch, as one record."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from msgspec import Struct, field

from runevals.judge.model import Judge
from runevals.models.http.throttle import Throttles
from runevals.records import ModelIdentity
from runevals.records.script import ScriptRunner
from runevals.run.workspaces.folders import Workspaces
from runevals.run.world.budget import Stop
from runevals.targets import Target


class World(Struct, frozen=True, kw_only=True):
    """Target, judge (None: judge checks are skipped), sandbox and clock; `stop` ends the run early,
    `throttles` are those of its hosts."""

    target: Target
    judge: Judge | None
    sandbox: ScriptRunner
    stop: Stop = field(default_factory=Stop)
    throttles: Throttles = field(default_factory=Throttles)
    now: Callable[[], datetime] = partial(datetime.now, UTC)
    workspaces: Workspaces | None = None  # of a target that works in folders

    @property
    def judge_identity(self) -> ModelIdentity | None:
        """What is known of the judge so far."""
        return None if self.judge is None else self.judge.identity()
