"""A step of the action with `all_projects`: each project is run as if alone, and one comment tells all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from runevals.cli import explained
from runevals.cli.action_report import JobResult, output_folder, report, report_error
from runevals.cli.action_several import Part, Results, Step, finished
from runevals.cli.terminal import tell
from runevals.lib.terminal import say
from runevals.records.errors import INTERRUPTED, InvalidSettings, RunevalsError
from runevals.run.nothing_measured import ended_by, nothing_measured
from runevals.run.project_folders import Project, projects_in
from runevals.run.projects import require_apart, settings_of
from runevals.verdict.outcome import unmeasured

if TYPE_CHECKING:
    from runevals.cli.action_report import Runner
    from runevals.github.job import JobContext
    from runevals.settings.resolve import RawSettings, Settings

_OF_ONE = ("config", "suites", "shard", "baseline", "mode", "resume")  # inputs that name things of one project
# Reads all that a project's run needs of the event and the commit → its settings, and what runs it.
Prepare = Callable[[Project, "RawSettings", "JobContext", "Runner"], "tuple[Settings, Callable[[], JobResult]]"]


def run_projects(
    settings: Settings,
    raw: RawSettings,
    here: JobContext,
    runner: Runner,
    problem: RunevalsError | None,
    prepare: Prepare,
) -> int:
    """All projects, one after the other, each prepared before a program of any of them runs.

    `settings` are the job's own: where the comment and the files go.
    """
    folder: Path | None = None
    try:
        folder = output_folder(settings)
        if problem is not None:
            raise problem
        projects = _projects(raw)
    except RunevalsError as error:
        explained(error)
        report(JobResult(ended_by(error, settings), ended=error), folder, settings, here, runner)
        return error.exit_code
    places = [replace(here, project=project.name) for project in projects]
    prepared = [
        prepare(project, settings_of(project, raw), place, runner)
        for project, place in zip(projects, places, strict=True)
    ]
    done: list[Part] = []
    for project, place, (of_project, run) in zip(projects, places, prepared, strict=True):
        is_interrupted = any(part.conclusion.verdict.exit_code == INTERRUPTED for part in done)
        make = partial(_not_begun, of_project) if is_interrupted else run
        done.append(_done(project, of_project, place, runner, make))
    step = Step(settings=settings, raw=raw, here=here, runner=runner, folder=folder)
    return finished(Results(parts=done, kind="project"), step)


def _not_begun(settings: Settings) -> JobResult:
    """The result of a project after the interruption of another."""
    return JobResult(nothing_measured(settings, unmeasured("the job was interrupted before", INTERRUPTED)))


def _projects(raw: RawSettings) -> Sequence[Project]:
    """Raises InvalidSettings for inputs that only one project can have, and for projects that share a suite."""
    inputs = [name for name in _OF_ONE if raw.inputs.get(name, "").strip()]
    if inputs:
        raise InvalidSettings(
            f"{', '.join(inputs)}: not with all_projects, which runs each project with its own settings file; "
            "leave it out, or run the project in a job of its own"
        )
    projects = projects_in(raw.cwd, None if raw.base_side is None else raw.base_side.commit)
    require_apart(projects, raw)
    return projects


def _done(
    project: Project, settings: Settings, here: JobContext, runner: Runner, run: Callable[[], JobResult]
) -> Part:
    say(f"\n== {project.name} ({project.config})")
    result = run()
    if result.ended is None:
        tell(result.conclusion)
    else:
        report_error(result.ended, runner.environment, settings.key_names)
    return Part(name=project.name, settings=settings, here=here, result=result)
