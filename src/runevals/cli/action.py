"""`runevals action`: the container's entry; inputs come as INPUT_* variables, outputs go to the runner's files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runevals.cli import explained, finish
from runevals.cli.action_projects import run_projects
from runevals.cli.action_report import (
    JobResult,
    Runner,
    give_to_owner,
    output_files,
    output_folder,
    report,
    report_error,
)
from runevals.cli.comment import comment_on
from runevals.cli.plan import as_json, describe
from runevals.cli.preload import load_sdk_beside
from runevals.cli.progress import progress
from runevals.cli.terminal import warn, warn_runner
from runevals.github.accept_losses import proposed_losses, with_approved_losses
from runevals.github.collect_shards import collected
from runevals.github.file_commands import FileCommands
from runevals.github.job import action_input, change_event, job_here, on_github, results_of_job
from runevals.github.job_attempts import attempted, measured_before
from runevals.github.job_tokens import without_tokens
from runevals.github.masking import mask_commands
from runevals.github.stored_baseline import stored_base
from runevals.github.stored_mark import stored_mark
from runevals.github.without_secrets import not_measured
from runevals.lib import programs
from runevals.lib.terminal import notice, say
from runevals.records.errors import (
    PASSED,
    CannotWrite,
    ExternalError,
    InvalidSettings,
    RunevalsError,
)
from runevals.reports.publish import publish
from runevals.run import pipeline
from runevals.run.baseline.protected_side import base_side
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.load import load_suites, plan_of
from runevals.run.nothing_measured import ended_by
from runevals.run.preflight_container import require_reachable
from runevals.run.preflight_plugins import require_usable_plugins
from runevals.run.projects import removed
from runevals.run.request import RunRequest
from runevals.run.shards.merge import merged
from runevals.run.shards.verdict import not_merged
from runevals.run.tool_results import report_of_tool
from runevals.run.world.build_cache import require_cache
from runevals.settings.dotenv import environment as with_dotenv
from runevals.settings.file import SettingsFile
from runevals.settings.resolve import RawSettings, ignored_changes, resolve

if TYPE_CHECKING:
    from runevals.github.job import JobContext
    from runevals.records import Conclusion
    from runevals.run.projects import Project
    from runevals.run.resume.unfinished import UnfinishedRun
    from runevals.settings.file import BaseSide
    from runevals.settings.resolve import RawSettings, Settings


# What says where a verdict is told: of the base's settings, all that is needed where the change's are wrong.
_TOLD_WHERE = frozenset({"comment", "comment_id", "baseline_artifact", "annotations", "redact"})


@click.command("action", hidden=True)
def command() -> None:
    """Run as a step of a GitHub workflow."""
    programs.hide()
    finish(execute(without_tokens(os.environ), Path.cwd()))


def execute(environment: Mapping[str, str], workspace: Path) -> int:
    """What the job's event asks for, from inputs to exit code; whatever ends it is told to the runner too.

    Last, when nothing that a change has brought runs any more.
    """
    runner = Runner(environment, FileCommands(environment))
    try:
        return _execute(runner, workspace, programs.separate(workspace))
    except Exception as error:  # noqa: BLE001 - a job that says nothing leaves an older verdict standing
        code = explained(error)
        report_error(error, environment)
        runner.commands.add_outputs({"verdict": "unmeasured", "exit_code": str(code)})
        return code
    finally:
        programs.end_all()
        runner.commands.write()


def _execute(runner: Runner, workspace: Path, as_root: str | None) -> int:
    environment = runner.environment
    require_usable_plugins()
    inputs = {name[6:].lower(): value for name, value in environment.items() if name.startswith("INPUT_")}
    told = RawSettings(inputs=inputs, cwd=workspace, environment=with_dotenv(workspace, None, environment))
    job = job_here(environment, workspace, inputs)
    if job.task == "refused":
        raise InvalidSettings(job.why)
    settings, problem = _settled(told)
    _mask(environment, settings)
    several = bool(action_input("all_projects", inputs))
    if as_root and (several or (settings.target is not None and settings.target.type in ("command", "python"))):
        notice(f"Warning: programs under test run as root, and reach all that the job does: {as_root}")
    here = on_github(environment, settings, job, inputs.get("github_token", ""))
    if job.task == "run" and action_input("mode", inputs) != "plan":
        told = replace(told, base_side=settings.base_side)
        if several:
            return run_projects(settings, told, here, runner, problem, _project_result)
        return _run(settings, told, here, runner, problem)
    if problem is not None:
        raise problem
    if job.task == "comment":
        return comment_on(settings, here)
    return _plan(settings, runner.commands, int(str(action_input("cases_per_shard", inputs))))


def _mask(environment: Mapping[str, str], settings: Settings) -> None:
    if environment.get("GITHUB_ACTIONS") == "true":  # elsewhere nobody would take these lines off the screen
        for line in mask_commands(environment, settings.key_names):
            click.echo(line)


def _settled(told: RawSettings) -> tuple[Settings, RunevalsError | None]:
    """The settings of the job; where they are wrong, or the base's cannot be had, what is left of them, and why.

    What is left are the base's, or the defaults: they say where the problem is to be told. Raises RunevalsError
    where the inputs themselves are wrong.
    """
    side: BaseSide | None = None
    try:
        side = base_side(told, change_event(told))
        return resolve(replace(told, base_side=side)), None
    except RunevalsError as error:
        left = None if side is None else side.file
        left = left or SettingsFile(exists=False, display_name="", base=told.cwd)
        where = {name: value for name, value in left.values.items() if name in _TOLD_WHERE}
        try:
            return resolve(told, replace(left, values=where)), error
        except RunevalsError:
            raise error from None


def _plan(settings: Settings, commands: FileCommands, cases_per_shard: int) -> int:
    """Says which shards there are, for the matrix of jobs that runs them; nothing is asked."""
    plan = plan_of(load_suites(settings), settings)
    shards = json.dumps(as_json(plan, settings, cases_per_shard)["shards"])
    say(f"{describe(plan, settings)}\nshards      {shards}")
    commands.add_outputs({"shards": shards})
    return PASSED


def _run(
    settings: Settings, told: RawSettings, here: JobContext, runner: Runner, problem: RunevalsError | None
) -> int:
    """One run; every file is written, and everything told, before the exit code is decided."""
    folder: Path | None = None
    try:
        folder = output_folder(settings)
    except InvalidSettings as error:
        problem = error
    found = _job_result(settings, told, here, runner.environment, problem)
    conclusion = found.conclusion
    written = False
    try:
        if folder is not None:
            publish(conclusion, list(output_files(folder, here).values()))
            written = True
    except CannotWrite as error:
        if conclusion.verdict.exit_code == PASSED:
            raise
        warn_runner(str(error))  # a failing verdict stays one if its reports cannot be written
    finally:  # a verdict that was paid for is told even where a file cannot be written
        report(found, folder, settings, here, runner)
    if found.attempt is not None:
        found.attempt.end(conclusion, written=written)
        give_to_owner(found.attempt.folder, settings.cwd)
    return conclusion.verdict.exit_code


def _job_result(
    settings: Settings,
    told: RawSettings,
    here: JobContext,
    environment: Mapping[str, str],
    problem: RunevalsError | None,
) -> JobResult:
    """What the job finds, or what ends it: `problem`, or an error."""
    try:
        if problem is not None:
            raise problem
        require_cache(settings)
        proposed = proposed_losses(settings, here, environment)
        found = _found(settings, told, here, environment)
        return replace(found, conclusion=with_approved_losses(found.conclusion, settings, proposed))
    except Exception as error:  # noqa: BLE001 - an older verdict must not be left standing
        explained(error)
        return JobResult(ended_by(error, settings), ended=error)


def _project_result(
    project: Project, told: RawSettings, here: JobContext, runner: Runner
) -> tuple[Settings, JobResult]:
    """One of several projects, as `told` in its folder."""
    settings, problem = _settled(told)
    _mask(runner.environment, settings)
    if project.removed and problem is None:
        return settings, JobResult(removed(project, settings))
    told = replace(told, base_side=settings.base_side)
    return settings, _job_result(settings, told, here, runner.environment, problem)


def _found(settings: Settings, told: RawSettings, here: JobContext, environment: Mapping[str, str]) -> JobResult:
    """Raises RunevalsError for what ends it."""
    mode = action_input("mode", told.inputs)
    keyless = None if here.job.has_secrets or mode == "gate" else not_measured(settings, told)
    if keyless is not None:
        return JobResult(keyless)
    stored = StoredBase() if settings.selection.shard is not None else stored_base(settings, told, here, notice)
    if mode == "merge":
        return JobResult(_merged(settings, told, here, stored, environment), stored)
    if mode == "gate":
        return JobResult(_gated(settings, told, here, stored, environment), stored)
    conclusion, attempt = _measured(settings, told, here, stored, environment)
    return JobResult(conclusion, stored, attempt)


def _measured(
    settings: Settings, told: RawSettings, here: JobContext, stored: StoredBase, environment: Mapping[str, str]
) -> tuple[Conclusion, UnfinishedRun | None]:
    """The suites run; with the answers that are kept for a job that is run again, if any are."""
    require_reachable(settings)
    load_sdk_beside(settings)
    loaded = load_suites(settings)
    warn(loaded.problems)
    attempt = attempted(settings, here, told.inputs, warn_runner) if action_input("resume", told.inputs) else None
    with nullcontext() if attempt is None else attempt.journal(settings) as journal:
        before = None if settings.selection.shard is not None else measured_before(here, environment, warn_runner)
        request = replace(_request(settings, told, here, stored), suites=loaded, journal=journal, earlier=before)
        return pipeline.run(request), attempt


def _request(settings: Settings, told: RawSettings, here: JobContext, stored: StoredBase) -> RunRequest:
    return RunRequest(
        settings=settings,
        raw=told,
        stored=stored,
        find_mark=partial(stored_mark, settings, here),
        weakenings=ignored_changes(told),
        progress=progress,
    )


def _merged(
    settings: Settings, told: RawSettings, here: JobContext, stored: StoredBase, environment: Mapping[str, str]
) -> Conclusion:
    """The shards as one run; not measured where some left nothing, which the comment says too."""
    try:
        shards = merged(collected(settings, str(action_input("shards", told.inputs))))
    except ExternalError as missing:
        return not_merged(settings, str(missing))
    earlier = measured_before(here, environment, warn_runner)
    return pipeline.merge(shards, replace(_request(settings, told, here, stored), earlier=earlier))


def _gated(
    settings: Settings, told: RawSettings, here: JobContext, stored: StoredBase, environment: Mapping[str, str]
) -> Conclusion:
    """The results that another tool wrote in a step before this one."""
    results = results_of_job(told.inputs, settings.cwd)
    report = report_of_tool(results, settings)
    earlier = measured_before(here, environment, warn_runner)
    request = replace(_request(settings, told, here, stored), earlier=earlier)
    return pipeline.gate(report, request, parameters_are_attempts=results.parameters_are_attempts)
