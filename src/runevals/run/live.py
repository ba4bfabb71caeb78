"""What a run asks: its target, unless the answers were recorded, and its judges."""

from __future__ import annotations

from runevals.settings.judge import JudgeSettings
from runevals.settings.resolve import Settings
from runevals.targets.kind import TargetSettings


def live_target(settings: Settings) -> TargetSettings | None:
    """The target that is called; None if there is none, or its answers were recorded."""
    target = settings.target
    return None if target is None or settings.evaluate_only or target.is_recorded else target


def runs_code(settings: Settings) -> bool:
    """Whether its target runs code, here or behind an address; so does one that nobody names."""
    return settings.target is None or settings.target.reads_other_files


def judges_of(settings: Settings) -> tuple[JudgeSettings, ...]:
    """The judges, none with `--no-judge`."""
    return () if settings.no_judge else settings.judges


def live_judges(settings: Settings) -> list[JudgeSettings]:
    """The judges that are called."""
    return [judge for judge in judges_of(settings) if not judge.is_recorded]
