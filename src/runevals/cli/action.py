"""`runevals action`: the container's entry; inputs come as INPUT_* variables, outputs go to the runner's files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from runevals.cli import explained, finish
from runevals.cli.action_projects import run_projects
from runevals.cli.action_report import (
    JobResult,
    Runner,
    give_to_owner,
    keep_issue,
    mask_keys,
    output_files,
    output_folder,
    report,
    report_error,
)
from runevals.cli.action_targets import run_job_of_targets
from runevals.cli.comment import comment_on
from runevals.cli.plan import as_json, describe
from runevals.cli.preload import load_sdk_beside
from runevals.cli.progress import progress
from runevals.cli.terminal import warn, warn_runner
from runevals.github.accept_losses import ProposedLosses, proposed_losses, with_approved_losses
from runevals.github.collect_shards import collected
from runevals.github.file_commands import FileCommands
from runevals.github.job import action_input, change_event, job_here, on_github, results_of_job, with_own_identity
from runevals.github.job_attempts import attempted, measured_before
from runevals.github.job_tokens import without_tokens
from runevals.github.stored_baseline import stored_base
from runevals.github.stored_mark import stored_mark
from runevals.github.without_secrets import not_measured, without_keys_of_programs
from runevals.lib.terminal import notice, say
from runevals.programs import processes
from runevals.records.errors import PASSED, CannotWrite, ExternalError, InvalidSettings, RunevalsError
from runevals.reports.publish import publish
from runevals.run import pipeline
from runevals.run.baseline.protected_side import protected_side
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.load import plan_of, suites_of
from runevals.run.nothing_measured import ended_by
from runevals.run.preflight_container import require_reachable
from runevals.run.preflight_plugins import require_usable_plugins
from runevals.run.projects import removed
from runevals.run.request import RunRequest
from runevals.run.shards.merge import merged
from runevals.run.shards.split import durations_text, with_durations
from runevals.run.shards.verdict import not_merged
from runevals.run.tool_results import report_of_tool
from runevals.run.world.build_cache import require_cache
from runevals.settings.dotenv import environment as with_dotenv
from runevals.settings.file import SettingsFile
from runevals.settings.resolve import RawSettings, ignored_changes, resolve

if TYPE_CHECKING:
    from runevals.github.job import JobContext
    from runevals.records import Conclusion
    from runevals.run.project_folders import Project
    from runevals.settings.file import BaseSide
    from runevals.settings.resolve import RawSettings, Settings


# The settings that decide where a verdict is reported: enough of the base's if the change's are invalid.
_WHERE_TO_REPORT = frozenset({"comment", "comment_id", "baseline_artifact", "annotations", "redact"})


@click.command("action", hidden=True)
def command() -> None:
    """Run as a step of a GitHub workflow."""
    processes.hide()
    finish(execute(without_tokens(os.environ), Path.cwd()))


def execute(environment: Mapping[str, str], workspace: Path) -> int:
    """Runs the job of the event, from inputs to exit code; failures are reported to the runner too.

    Last, when nothing that a change has brought runs any more.
    """
    runner = Runner(environment, FileCommands(environment))
    try:
        return _execute(runner, workspace, processes.separate(workspace))
    except Exception as error:  # noqa: BLE001 - without a report an older verdict would remain
        code = explained(error)
        report_error(error, environment)
        runner.commands.add_outputs({"verdict": "unmeasured", "exit_code": str(code)})
        return code
    finally:
        processes.end_all()
        runner.commands.write()


def _execute(runner: Runner, workspace: Path, as_root: str | None) -> int:
    environment = runner.environment
    require_usable_plugins()
    inputs = {name[6:].lower(): value for name, value in environment.items() if name.startswith("INPUT_")}
    own = with_own_identity(with_dotenv(workspace, None, environment))
    raw = RawSettings(inputs=inputs, cwd=workspace, environment=own)
    job = job_here(environment, workspace, inputs)
    if job.task == "refused":
        raise InvalidSettings(job.why)
    settings, problem = _resolved(raw)
    mask_keys(environment, settings)
    several = bool(action_input("all_projects", inputs))
    one = settings.target
    if as_root and (several or settings.targets or (one is not None and one.traits.is_program)):
        notice(f"Warning: programs under test run as root, and can access everything that the job can: {as_root}")
    here = on_github(environment, settings.github, job, inputs.get("github_token", ""), settings.selection.shard)
    if job.task == "run" and action_input("mode", inputs) != "plan":
        raw = replace(raw, base_side=settings.base_side)
        if several:
            return run_projects(settings, raw, here, runner, problem, _prepared_project)
        if settings.targets and problem is None and action_input("mode", inputs) != "gate":
            return run_job_of_targets(settings, raw, here, runner)
        return _run(settings, raw, here, runner, problem)
    if problem is not None:
        raise problem
    if job.task == "comment":
        return comment_on(settings, here)
    return _plan(settings, raw, here, runner.commands)


def _resolved(raw: RawSettings) -> tuple[Settings, RunevalsError | None]:
    """The settings of the job; if they or the base's are invalid, what is left of them, and why.

    What is left are the base's, or the defaults: they decide where the problem is reported. Raises RunevalsError
    where the inputs themselves are wrong.
    """
    side: BaseSide | None = None
    try:
        side = protected_side(raw, change_event(raw))
        return resolve(replace(raw, base_side=side)), None
    except RunevalsError as error:
        left = None if side is None else side.file
        left = left or SettingsFile(exists=False, display_name="", base=raw.cwd)
        where = {name: value for name, value in left.values.items() if name in _WHERE_TO_REPORT}
        try:
            return resolve(raw, replace(left, values=where)), error
        except RunevalsError:
            raise error from None


def _plan(settings: Settings, raw: RawSettings, here: JobContext, commands: FileCommands) -> int:
    """Outputs the shards for the matrix of jobs that runs them, and what balances them; no model is called."""
    plan = plan_of(suites_of(settings), settings)
    cases_per_shard = int(str(action_input("cases_per_shard", raw.inputs)))
    shards = json.dumps(as_json(plan, settings, cases_per_shard)["shards"])
    base = stored_base(settings, raw, here, notice).baseline
    durations = "" if base is None else durations_text(plan, base.report)
    split = f"by the durations in {base.source}" if base is not None and durations else "by hash"
    say(f"{describe(plan, settings)}\nshards      {shards}, split {split}")
    commands.add_outputs({"shards": shards, "durations": durations})
    return PASSED


def _run(
    settings: Settings, raw: RawSettings, here: JobContext, runner: Runner, problem: RunevalsError | None
) -> int:
    """One run; all files and reports are written before the exit code is decided."""
    folder: Path | None = None
    try:
        folder = output_folder(settings)
    except InvalidSettings as error:
        problem = error
    result = _job_result(settings, raw, here, runner.environment, problem)
    conclusion = result.conclusion
    written = False
    try:
        if folder is not None:
            publish(conclusion, list(output_files(folder, here).values()))
            written = True
    except CannotWrite as error:
        if conclusion.verdict.exit_code == PASSED:
            raise
        warn_runner(str(error))  # a failing verdict stays one if its reports cannot be written
    finally:  # the verdict is reported even if a file cannot be written
        report(result, folder, settings, here, runner)
        keep_issue(conclusion, here, raw, runner)
    if result.attempt is not None:
        result.attempt.end(conclusion, written=written)
        give_to_owner(result.attempt.folder, settings.cwd)
    return conclusion.verdict.exit_code


def _job_result(
    settings: Settings,
    raw: RawSettings,
    here: JobContext,
    environment: Mapping[str, str],
    problem: RunevalsError | None,
    proposed: ProposedLosses | None = None,
) -> JobResult:
    """What the job finds, or what ends it: `problem`, or an error. `proposed` were read before, or are now."""
    try:
        if problem is not None:
            raise problem
        require_cache(settings)
        proposed = proposed or proposed_losses(settings, here, environment)
        result = _result(settings, raw, here, environment)
        return replace(result, conclusion=with_approved_losses(result.conclusion, settings, proposed))
    except Exception as error:  # noqa: BLE001 - an older verdict must not remain
        explained(error)
        return JobResult(ended_by(error, settings), ended=error)


def _prepared_project(
    project: Project, raw: RawSettings, here: JobContext, runner: Runner
) -> tuple[Settings, Callable[[], JobResult]]:
    """One of several projects, as `raw` in its folder: its settings, and what runs it.

    The event is read here: programs of another project could have changed it by then.
    """
    settings, problem = _resolved(raw)
    mask_keys(runner.environment, settings)
    if project.removed and problem is None:
        return settings, partial(JobResult, removed(project, settings))
    if settings.targets and problem is None:
        problem = InvalidSettings(
            f"{project.config} has several targets, which all_projects does not compare; run this project in a "
            "step of its own, with `config`"
        )
    raw = replace(raw, base_side=settings.base_side)
    proposed = proposed_losses(settings, here, runner.environment)
    return settings, partial(_job_result, settings, raw, here, runner.environment, problem, proposed)


def _result(settings: Settings, raw: RawSettings, here: JobContext, environment: Mapping[str, str]) -> JobResult:
    """The result of the job. Raises RunevalsError if it fails."""
    mode = action_input("mode", raw.inputs)
    keyless = None if here.job.has_secrets or mode == "gate" else not_measured(settings, raw)
    if keyless is not None:
        return JobResult(keyless)
    stored = StoredBase() if settings.selection.shard is not None else stored_base(settings, raw, here, notice)
    if mode == "merge":
        return JobResult(_merged(settings, raw, here, stored, environment), stored)
    if mode == "gate":
        return JobResult(_gated(settings, raw, here, stored, environment), stored)
    return _measured(settings, raw, here, stored, environment)


def _measured(
    settings: Settings, raw: RawSettings, here: JobContext, stored: StoredBase, environment: Mapping[str, str]
) -> JobResult:
    """The suites, run; with stored answers of an earlier attempt, if there are any."""
    require_reachable(settings)
    load_sdk_beside(settings)
    loaded = suites_of(settings)
    warn(loaded.problems)
    if durations := str(action_input("durations", raw.inputs)):
        settings = with_durations(settings, loaded.suites, durations)
    attempt = attempted([settings], here, raw.inputs, warn_runner) if action_input("resume", raw.inputs) else None
    with nullcontext() if attempt is None else attempt.journal(settings) as journal:
        before = None if settings.selection.shard is not None else measured_before(here, environment, warn_runner)
        request = replace(
            _request(settings, raw, here, stored),
            suites=loaded,
            journal=journal,
            earlier=before,
            finds_lines=here.job.has_secrets,  # not for a fork
        )
        run = partial(pipeline.run, request)
        return JobResult(
            run() if here.job.has_secrets else without_keys_of_programs(settings, run), stored, attempt
        )


def _request(settings: Settings, raw: RawSettings, here: JobContext, stored: StoredBase) -> RunRequest:
    return RunRequest(
        settings=settings,
        raw=raw,
        stored=stored,
        find_mark=partial(stored_mark, settings, here),
        weakenings=ignored_changes(raw),
        progress=progress,
    )


def _merged(
    settings: Settings, raw: RawSettings, here: JobContext, stored: StoredBase, environment: Mapping[str, str]
) -> Conclusion:
    """The shards as one run; not measured if results are missing, which the comment says too."""
    try:
        shards = merged(collected(settings, str(action_input("shards", raw.inputs))))
    except ExternalError as missing:
        return not_merged(settings, str(missing))
    earlier = measured_before(here, environment, warn_runner)
    return pipeline.merge(shards, replace(_request(settings, raw, here, stored), earlier=earlier))


def _gated(
    settings: Settings, raw: RawSettings, here: JobContext, stored: StoredBase, environment: Mapping[str, str]
) -> Conclusion:
    """The results that another tool wrote in a step before this one."""
    results = results_of_job(raw.inputs, settings.cwd)
    report = report_of_tool(results, settings)
    earlier = measured_before(here, environment, warn_runner)
    request = replace(_request(settings, raw, here, stored), earlier=earlier)
    return pipeline.gate(report, request, parameters_are_attempts=results.parameters_are_attempts)
