"""The target of a run if the settings name none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runevals.records import Suite
from runevals.settings.resolve import Settings
from runevals.settings.target import model_target, skill_target
from runevals.suites.dialects import skill_cases
from runevals.suites.load import without_model


def with_target(settings: Settings, suites: Sequence[Suite]) -> Settings:
    """Adds the target that the suites imply if none is set: skills, or the models that they name."""
    if settings.target is not None or settings.targets or not suites:
        return settings
    if all(suite.dialect == skill_cases.NAME for suite in suites):
        return replace(settings, target=skill_target(settings.cwd))
    if not without_model(suites):
        return replace(settings, target=model_target(settings.cwd, settings.environment))
    return settings
