"""A step of the action with `all_projects`: each project is run as if alone, and one comment tells all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from runevals.cli.action_jobs import measured, resolved, results_of
from runevals.cli.action_report import Part, Results, Step, mask_keys
from runevals.cli.terminal import tell
from runevals.github.accept_losses import proposed_losses
from runevals.github.workflow import to_run
from runevals.lib.terminal import say
from runevals.records.errors import INTERRUPTED, InvalidSettings
from runevals.run.nothing_measured import nothing_measured
from runevals.run.project_folders import Project
from runevals.run.projects import projects_apart, removed, settings_of
from runevals.verdict.outcome import unmeasured

if TYPE_CHECKING:
    from runevals.records import Conclusion
    from runevals.settings.resolve import RawSettings

_OF_ONE = ("config", "suites", "shard", "baseline", "mode", "resume")  # inputs that name things of one project


def measured_projects(step: Step) -> Results:
    """All projects, one after the other, each prepared before a program of any of them runs."""
    prepared = {project: _prepared(project, step) for project in _projects(step.raw)}
    parts: list[Part] = []
    for project, _ in to_run((project, of_project.raw) for project, (of_project, _) in prepared.items()):
        own, run = prepared[project]
        say(f"\n== {project.name} ({project.config})")
        is_interrupted = any(part.conclusion.verdict.exit_code == INTERRUPTED for part in parts)
        left = unmeasured("the job was interrupted before", INTERRUPTED)
        [part] = (_without_run(nothing_measured(own.settings, left), own) if is_interrupted else run()).parts
        parts.append(replace(part, name=project.name))
    return Results(parts=parts, kind="project")


def _projects(raw: RawSettings) -> Sequence[Project]:
    """Raises InvalidSettings for inputs that only one project can have, and for projects that share a suite."""
    inputs = [name for name in _OF_ONE if raw.inputs.get(name, "").strip()]
    if inputs:
        raise InvalidSettings(
            f"{', '.join(inputs)}: not with all_projects, which runs each project with its own settings file; "
            "leave it out, or run the project in a job of its own"
        )
    return projects_apart(raw, raw.base_side)


def _prepared(project: Project, step: Step) -> tuple[Step, Callable[[], Results]]:
    """The step of one project, and what runs it.

    The event is read here: programs of another project could have changed it by then.
    """
    raw = settings_of(project, step.raw)
    settings, problem = resolved(raw)
    mask_keys(step.runner.environment, settings)
    here = replace(step.here, project=project.name)
    own = Step(settings, replace(raw, base_side=settings.base_side), here, step.runner)
    if project.removed and problem is None:
        return own, partial(_without_run, removed(project, settings), own)
    if settings.targets and problem is None:
        problem = InvalidSettings(
            f"{project.config} has several targets, which all_projects does not compare; run this project in a "
            "step of its own, with `config`"
        )
    proposed = proposed_losses(settings, here, step.runner.environment)
    return own, partial(results_of, own, problem, partial(measured, proposed=proposed))


def _without_run(conclusion: Conclusion, step: Step) -> Results:
    tell(conclusion)
    return Results(parts=[Part(settings=step.settings, here=step.here, conclusion=conclusion)])
