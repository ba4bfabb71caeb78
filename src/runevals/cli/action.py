"""`runevals action`: the container's entry; inputs come as INPUT_* variables, outputs go to the runner's files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from runevals.cli import explained, finish
from runevals.cli.action_jobs import measured, resolved, results_of
from runevals.cli.action_projects import measured_projects
from runevals.cli.action_report import Results, Runner, Step, finished, mask_keys, output_folder, report_error
from runevals.cli.comment import comment_on
from runevals.cli.plan import as_json, describe
from runevals.github.file_commands import FileCommands
from runevals.github.job import on_github
from runevals.github.stored_baseline import stored_base
from runevals.github.this_job import action_input, job_here, with_own_identity, without_tokens
from runevals.github.workflow import not_gated
from runevals.lib.terminal import notice, say
from runevals.programs import processes
from runevals.records.errors import PASSED, InvalidSettings, RunevalsError
from runevals.run.load import plan_of, require_usable_plugins, suites_of
from runevals.run.shards.split import durations_text
from runevals.settings.dotenv import environment as with_dotenv
from runevals.settings.resolve import RawSettings

if TYPE_CHECKING:
    from runevals.github.job import JobContext
    from runevals.settings.resolve import RawSettings, Settings


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
    inputs = {name[6:].lower(): value for name, value in environment.items() if name.startswith("INPUT_")}
    own = with_own_identity(with_dotenv(workspace, None, environment))
    raw = RawSettings(inputs=inputs, cwd=workspace, environment=own)
    job = job_here(environment, workspace, inputs)
    if job.task == "refused":
        raise InvalidSettings(job.why)
    settings, problem = resolved(raw)
    require_usable_plugins()
    mask_keys(environment, settings)
    several = bool(action_input("all_projects", inputs))
    for sentence in not_gated(workspace):
        notice(sentence)
    one = settings.target
    if as_root and (several or settings.targets or (one is not None and one.traits.is_program)):
        notice(f"Warning: programs under test run as root, and can access everything that the job can: {as_root}")
    here = on_github(environment, settings.github, job, inputs.get("github_token", ""), settings.selection.shard)
    if job.task == "run" and action_input("mode", inputs) != "plan":
        step = Step(settings, replace(raw, base_side=settings.base_side), here, runner)
        return _run(step, problem, measured_projects if several else measured)
    if problem is not None:
        raise problem
    return comment_on(settings, here) if job.task == "comment" else _plan(settings, raw, here, runner.commands)


def _plan(settings: Settings, raw: RawSettings, here: JobContext, commands: FileCommands) -> int:
    """Outputs the shards for the matrix of jobs that runs them, and what balances them; no model is called."""
    plan = plan_of(suites_of(settings), settings)
    shards = json.dumps(as_json(plan, settings, int(str(action_input("cases_per_shard", raw.inputs))))["shards"])
    base = stored_base(settings, raw, here, notice).baseline
    durations = "" if base is None else durations_text(plan, base.report)
    split = f"by the durations in {base.source}" if base is not None and durations else "by hash"
    say(f"{describe(plan, settings, raw)}\nshards      {shards}, split {split}")
    commands.add_outputs({"shards": shards, "durations": durations})
    return PASSED


def _run(step: Step, problem: RunevalsError | None, measure: Callable[[Step], Results]) -> int:
    """All that the job measures; all files and reports are written before the exit code is decided."""
    folder: Path | None = None
    try:
        folder = output_folder(step.settings)
    except InvalidSettings as error:
        problem = error
    return finished(results_of(step, problem, measure), step, folder)
