"""What the suites say of the target: which it is if the settings name none, and the skills of an agent."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from runevals.records import Suite
from runevals.records.errors import InvalidSettings
from runevals.settings.resolve import Settings
from runevals.suites.dialects import skill_cases
from runevals.suites.load import without_model
from runevals.targets.agents.settings import AgentTargetSettings
from runevals.targets.openai import model_target
from runevals.targets.skill import SKILLS, SkillSettings


def with_target(settings: Settings, suites: Sequence[Suite]) -> Settings:
    """Adds the target that the suites imply if none is set: skills, or the models that they name.

    An agent gets the skills that the suites are for. Raises InvalidSettings if one is not found, or two have
    one name.
    """
    target = settings.target
    if isinstance(target, AgentTargetSettings) and target.skills_of_suites:
        return replace(settings, target=_with_skills(target, suites))
    if target is not None or settings.targets or not suites:
        return settings
    if all(suite.dialect == skill_cases.NAME for suite in suites):
        base = settings.cwd
        skills = SkillSettings(type="skill", base=base, skills_dir=base / SKILLS, deterministic=True)
        return replace(settings, target=skills)
    if not without_model(suites):
        return replace(settings, target=model_target(settings.cwd, settings.environment))
    return settings


def _with_skills(target: AgentTargetSettings, suites: Sequence[Suite]) -> AgentTargetSettings:
    """The target with the skills that its suites are for."""
    for suite in suites:
        if suite.skill is None and suite.skill_name is not None:
            raise InvalidSettings(
                f"{suite.path} is for the skill {suite.skill_name}, and no SKILL.md of it was found, so "
                f"{target.type} would not have it; name its folder in `target.skills`, or write `skills: []` for "
                "an agent without it"
            )
    folders = tuple(dict.fromkeys(filter(None, (suite.skill for suite in suites))))
    skills = tuple(dict.fromkeys(folder.resolve() for folder in folders))  # `files` has links, too: they may turn
    return replace(target.with_skills(skills), files=(*target.files, *folders, *skills), skills_of_suites=False)
