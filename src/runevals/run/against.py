"""The same cases measured otherwise in the rounds of the head: without the skill, or with a placebo of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from runevals.lib.storage.files import write_whole
from runevals.records import AgainstComparison, RunReport
from runevals.records.errors import InvalidSettings
from runevals.run.live import live_target
from runevals.run.measurement import OtherSide
from runevals.run.request import RunRequest
from runevals.run.sides import open_side
from runevals.run.world.build import no_target
from runevals.settings.target_names import PLACEBO_SKILL
from runevals.suites.load import LoadedSuites
from runevals.suites.selection import is_selected
from runevals.targets.agents.settings import AgentTargetSettings
from runevals.targets.agents.skills import SKILL_FILE
from runevals.targets.kind import TargetSettings
from runevals.verdict.against import against_other

_FRONT = re.compile(r"\A\s*---[ \t\r]*\n.*?^---[ \t\r]*\n", re.MULTILINE | re.DOTALL)
NEUTRAL = """The plover is a bird of open country. It is found on shores, on moors and on wet meadows in most
parts of the world. It runs a short way, stops, looks and runs again. It eats worms, insects and small shellfish.
The nest is a hollow in the ground, and both parents sit on the eggs for about four weeks. The young leave the nest
on the first day. In autumn many plovers fly south, some of them for several thousand kilometres.
"""
LEAVE_OUT = "leave out --against, or write --against none"


@contextmanager
def other_side(request: RunRequest) -> Iterator[OtherSide]:
    """What `--against` names, opened to be measured. Raises InvalidSettings if it cannot be."""
    name = str(request.settings.compare.against)
    with (
        TemporaryDirectory(prefix="runevals-placebo-") as folder,
        open_side(_without_skill(request, Path(folder)), name) as side,
    ):
        yield OtherSide(name, side)


def compared_with(other: OtherSide, report: RunReport) -> tuple[RunReport, AgainstComparison | None]:
    """What the report shows against the other side; the report says it if there is nothing to compare."""
    comparison = against_other(report, other.side.report(), other.name)
    why = other.problem or ("" if comparison is not None else "no case was measured on both sides")
    if not why:
        return report, comparison
    notices = (*report.run.notices, f"{other.name} was not measured in full: {why}")
    return replace(report, run=replace(report.run, notices=notices)), comparison


def _without_skill(request: RunRequest, folder: Path) -> RunRequest:
    """The request of the same cases without the skill, but for those that ask whether it is loaded.

    A placebo is made in `folder`.
    """
    settings = request.settings
    option = f"--against {settings.compare.against}"
    if settings.target is None and not settings.evaluate_only:
        raise no_target(settings)
    if (live := live_target(settings)) is None:
        raise InvalidSettings(f"{option}: recorded answers cannot be asked for again without it; {LEAVE_OUT}")
    is_placebo = settings.compare.against == PLACEBO_SKILL
    target = _target_without_skill(live, request.suites, folder if is_placebo else None)
    if target is None:
        raise InvalidSettings(
            f"{option}: the target names no skill that could be left out. Name its folder in `target.skills` of a "
            f"coding agent, or its {SKILL_FILE} as `target.system_prompt_file`; or {LEAVE_OUT}"
        )
    suites = request.suites.only(
        lambda case: "skill_triggered" not in {one.name for turn in case.turns for one in turn.checks}
    )
    if not any(is_selected(case, settings.selection) for case in suites.cases):
        raise InvalidSettings(f"{option}: every case asks whether the skill is loaded; {LEAVE_OUT}")
    settings = replace(settings, target=target, compare=replace(settings.compare, against=None))
    return replace(request, settings=settings, suites=suites, notices=())


def _target_without_skill(
    target: TargetSettings, suites: LoadedSuites, placebos: Path | None = None
) -> TargetSettings | None:
    """The target without the skills that its suites are for, or without any if they are for none of its skills.

    With a folder for them, placebos are in their place.
    """
    if isinstance(target, AgentTargetSettings) and target.agent.skills:
        under_test = {suite.skill.resolve() for suite in suites.suites if suite.skill is not None}
        under_test = under_test & {*target.agent.skills} or {*target.agent.skills}
        skills = [skill for skill in target.agent.skills if skill not in under_test]
        if placebos is not None:
            skills += [placebo_of(skill, placebos) for skill in target.agent.skills if skill in under_test]
        return target.with_skills(tuple(skills))
    if target.system_prompt is not None and any(path.name == SKILL_FILE for path in target.files):
        return replace(target, system_prompt=None if placebos is None else placebo(target.system_prompt))
    return None


def placebo(text: str) -> str:
    """The text of a SKILL.md with another body of the same length."""
    front = _FRONT.match(text)
    head = "" if front is None else front[0]
    length = len(text) - len(head)
    return head + (NEUTRAL * (length // len(NEUTRAL) + 1))[:length]


def placebo_of(skill: Path, folder: Path) -> Path:
    """A folder of the skill's name with its placebo alone: no script, no other file."""
    text = (skill / SKILL_FILE).read_text(encoding="utf-8", errors="replace")
    write_whole(folder / skill.name / SKILL_FILE, placebo(text))
    return folder / skill.name
