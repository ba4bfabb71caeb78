"""`runevals action`: the container's entry; inputs come as INPUT_* variables, outputs go to the runner's files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runevals.cli import explained, finish
from runevals.cli.comment import comment_on
from runevals.cli.plan import as_json, describe
from runevals.cli.preload import load_sdk_beside
from runevals.cli.progress import progress
from runevals.cli.terminal import tell, warn, warn_runner
from runevals.github.accept_losses import proposed_losses, with_approved_losses
from runevals.github.annotations import annotation_commands, problem_mark, warning_command
from runevals.github.collect_shards import collected
from runevals.github.comments import slug
from runevals.github.failed_cases import marks
from runevals.github.file_commands import FileCommands
from runevals.github.job import action_input, change_event, job_here, on_github
from runevals.github.job_attempts import attempted, measured_before
from runevals.github.job_tokens import without_tokens
from runevals.github.masking import mask_commands
from runevals.github.post_comment import posting
from runevals.github.stored_baseline import stored_base
from runevals.github.stored_mark import stored_mark
from runevals.github.without_secrets import not_measured
from runevals.lib import programs
from runevals.lib.storage.files import hand_over, is_plain, require_only, write_whole
from runevals.lib.terminal import notice, say
from runevals.lib.text.secrets import redactor
from runevals.records.errors import (
    PASSED,
    CannotWrite,
    ExternalError,
    InvalidSettings,
    InvalidSuite,
    RunevalsError,
)
from runevals.reports import REPORTERS, comment, html, summary
from runevals.reports.publish import publish
from runevals.run import pipeline
from runevals.run.baseline.protected_side import base_side
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.load import load_suites, plan_of
from runevals.run.nothing_measured import ended_by
from runevals.run.preflight_container import require_reachable
from runevals.run.preflight_plugins import require_usable_plugins
from runevals.run.request import RunRequest
from runevals.run.shards.merge import merged
from runevals.run.shards.verdict import not_merged
from runevals.run.world.build_cache import require_cache
from runevals.settings.dotenv import environment as with_dotenv
from runevals.settings.file import SettingsFile
from runevals.settings.resolve import RawSettings, ignored_changes, resolve
from runevals.verdict.wording import new_and_failing

if TYPE_CHECKING:
    from runevals.github.job import JobContext
    from runevals.github.post_comment import CommentDelivery
    from runevals.records import Conclusion
    from runevals.run.resume.unfinished import UnfinishedRun
    from runevals.settings.file import BaseSide
    from runevals.settings.resolve import RawSettings, Settings


# What says where a verdict is told: of the base's settings, all that is needed where the change's are wrong.
_TOLD_WHERE = frozenset({"comment", "comment_id", "baseline_artifact", "annotations", "redact"})
_NAMES = frozenset({comment.FILENAME, *(reporter.FILENAME for reporter in REPORTERS if reporter is not html)})
_PAGE = re.compile(r"report-[\w.-]+\.html", re.ASCII)  # of this step, or of one before it
_PATTERN = re.compile(r"[*?\[\]!~\\\x00-\x1f]|^#|^\s|\s$")  # what an upload would take for more than a name


@click.command("action", hidden=True)
def command() -> None:
    """Run as a step of a GitHub workflow."""
    programs.hide()
    finish(execute(without_tokens(os.environ), Path.cwd()))


def execute(environment: Mapping[str, str], workspace: Path) -> int:
    """What the job's event asks for, from inputs to exit code; whatever ends it is told to the runner too.

    Last, when nothing that a change has brought runs any more.
    """
    runner = _Runner(environment, FileCommands(environment))
    try:
        return _execute(runner, workspace, programs.separate(workspace))
    except Exception as error:  # noqa: BLE001 - a job that says nothing leaves an older verdict standing
        code = explained(error)
        _tell_of(error, environment)
        runner.commands.add_outputs({"verdict": "unmeasured", "exit_code": str(code)})
        return code
    finally:
        programs.end_all()
        runner.commands.write()


@dataclass(frozen=True, slots=True)
class _Runner:
    """What the runner has given us, and what it is told."""

    environment: Mapping[str, str]
    commands: FileCommands


def _execute(runner: _Runner, workspace: Path, as_root: str | None) -> int:
    environment = runner.environment
    require_usable_plugins()
    inputs = {name[6:].lower(): value for name, value in environment.items() if name.startswith("INPUT_")}
    told = RawSettings(inputs=inputs, cwd=workspace, environment=with_dotenv(workspace, None, environment))
    job = job_here(environment, workspace, inputs)
    if job.task == "refused":
        raise InvalidSettings(job.why)
    settings, problem = _settled(told)
    if environment.get("GITHUB_ACTIONS") == "true":  # elsewhere nobody would take these lines off the screen
        for line in mask_commands(environment, settings.key_names):
            click.echo(line)
    if as_root and settings.target is not None and settings.target.type in ("command", "python"):
        notice(f"Warning: programs under test run as root, and reach all that the job does: {as_root}")
    here = on_github(environment, settings, job, inputs.get("github_token", ""))
    if job.task == "run" and action_input("mode", inputs) != "plan":
        told = replace(told, base_side=settings.base_side)
        return _run(settings, told, here, runner, problem)
    if problem is not None:
        raise problem
    if job.task == "comment":
        return comment_on(settings, here)
    return _plan(settings, runner.commands, int(str(action_input("cases_per_shard", inputs))))


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
        left = left or SettingsFile(found=False, shown="", base=told.cwd)
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
    settings: Settings, told: RawSettings, here: JobContext, runner: _Runner, problem: RunevalsError | None
) -> int:
    """One run; every file is written, and everything told, before the exit code is decided."""
    folder: Path | None = None
    try:
        folder = _folder(settings)
        if problem is not None:
            raise problem
        require_cache(settings)
        proposed = proposed_losses(settings, here, runner.environment)
        found = _found(settings, told, here, runner.environment)
        found = replace(found, conclusion=with_approved_losses(found.conclusion, settings, proposed))
    except Exception as error:  # noqa: BLE001 - an older verdict must not be left standing
        explained(error)
        found = _Found(ended_by(error, settings), ended=error)
    conclusion = found.conclusion
    written = False
    try:
        if folder is not None:
            publish(conclusion, list(_files(folder, here).values()))
            written = True
    except CannotWrite as error:
        if conclusion.verdict.exit_code == PASSED:
            raise
        warn_runner(str(error))  # a red stays one whatever becomes of its reports
    finally:  # a verdict that was paid for is told even where a file cannot be written
        _tell_all(found, folder, settings, here, runner)
    if found.attempt is not None:
        found.attempt.end(conclusion, written=written)
        _hand_over(found.attempt.folder, settings.cwd)
    return conclusion.verdict.exit_code


@dataclass(frozen=True, slots=True)
class _Found:
    """What a job found: with a stored base, with kept answers, or with the error that ended it."""

    conclusion: Conclusion
    stored: StoredBase = StoredBase()  # noqa: RUF009 - a frozen record
    attempt: UnfinishedRun | None = None
    ended: Exception | None = None


def _found(settings: Settings, told: RawSettings, here: JobContext, environment: Mapping[str, str]) -> _Found:
    """Raises RunevalsError for what ends it."""
    keyless = None if here.job.has_secrets else not_measured(settings, told)
    if keyless is not None:
        return _Found(keyless)
    stored = StoredBase() if settings.selection.shard is not None else stored_base(settings, told, here, notice)
    if action_input("mode", told.inputs) == "merge":
        return _Found(_merged(settings, told, here, stored, environment), stored)
    conclusion, attempt = _measured(settings, told, here, stored, environment)
    return _Found(conclusion, stored, attempt)


def _tell_all(found: _Found, folder: Path | None, settings: Settings, here: JobContext, runner: _Runner) -> None:
    """The comment, the screen, annotations, outputs and summary."""
    conclusion, environment = found.conclusion, runner.environment
    head = here.job.head or environment.get("GITHUB_SHA")
    when = settings.comment if settings.selection.shard is None else "never"  # the merge of all shards comments
    posted = posting(conclusion, here, when, here.job.pull_request, head)
    files = {} if folder is None else _files(folder, here)
    if folder is not None:
        files["comment_body"] = _keep(posted, folder)
        _hand_over(folder, settings.cwd)
    if settings.cache is not None:
        _hand_over(settings.cache, settings.cwd)
    if found.ended is None:
        tell(conclusion)
        _mark(conclusion, settings, environment)
    else:
        _tell_of(found.ended, environment, settings.key_names)
    _tell_the_runner(
        runner.commands, conclusion, _outputs(conclusion, files, settings, here, posted, found.stored)
    )


def _tell_of(error: Exception, environment: Mapping[str, str], key_names: Collection[str] = ()) -> None:
    """Marks what ended the run: at each place of a file that is wrong, else on the job's page."""
    if environment.get("GITHUB_ACTIONS") != "true":
        return
    redact = redactor(environment, key_names)
    if isinstance(error, InvalidSuite):
        lines = annotation_commands([problem_mark(problem) for problem in error.problems])
    else:
        lines = [warning_command(str(error) or type(error).__name__, "error")]
    for line in lines:
        click.echo(redact(line))


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
        report = merged(collected(settings, str(action_input("shards", told.inputs))))
    except ExternalError as missing:
        return not_merged(settings, str(missing))
    earlier = measured_before(here, environment, warn_runner)
    return pipeline.merge(report, replace(_request(settings, told, here, stored), earlier=earlier))


def _folder(settings: Settings) -> Path:
    """Where our files go. Raises InvalidSettings for a folder that is not ours alone.

    What lies in it may be uploaded, where the files that links lead to are taken for what they are.
    """
    workspace = settings.cwd.resolve()
    folder = Path(os.path.abspath(workspace / settings.output_dir))  # noqa: PTH100 - no link is followed
    inside = folder.relative_to(workspace).parts if folder.is_relative_to(workspace) else ()
    if not inside or ".git" in inside or _PATTERN.search(settings.output_dir):
        raise InvalidSettings(f"output_dir: {settings.output_dir} is no folder inside the workspace")
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    require_only(folder, _NAMES.union(filter(_PAGE.fullmatch, there)))
    return folder


def _files(folder: Path, here: JobContext) -> dict[str, Path]:
    """What each reporter writes. The page is stored by itself, under its file's name, which is the job's own."""
    names = {reporter.NAME: reporter.FILENAME for reporter in REPORTERS}
    names[html.NAME] = f"report-{slug(here.comment_id)}.html"
    return {reporter: folder / name for reporter, name in names.items()}


def _keep(posted: CommentDelivery, folder: Path) -> Path:
    """Writes the comment's text beside the results, for a later step that may post it."""
    path = folder / comment.FILENAME
    try:
        write_whole(path, posted.body)
    except CannotWrite as error:
        warn_runner(str(error))
    if posted.notice:
        notice(posted.notice)
    if posted.problem:
        warn_runner(f"The comment could not be posted; its text is in {path.name}. {posted.problem}")
    return path


def _mark(conclusion: Conclusion, settings: Settings, environment: Mapping[str, str]) -> None:
    if settings.annotations and environment.get("GITHUB_ACTIONS") == "true":
        redact = redactor(environment, settings.key_names)
        for line in annotation_commands(marks(conclusion)):
            click.echo(redact(line))


def _outputs(
    conclusion: Conclusion,
    files: Mapping[str, Path],
    settings: Settings,
    here: JobContext,
    posted: CommentDelivery,
    stored: StoredBase,
) -> dict[str, str]:
    totals, comparison = conclusion.report.totals, conclusion.comparison
    regressions = 0 if comparison is None else len(comparison.of_kind("regressed"))
    workspace = settings.cwd.resolve()
    folder = files["results"].parent.relative_to(workspace).as_posix() if files else ""
    named = {name: files.get(name) for name in (*(reporter.NAME for reporter in REPORTERS), "comment_body")}
    return {
        "verdict": conclusion.verdict.outcome,
        "exit_code": str(conclusion.verdict.exit_code),
        "pass_rate": "" if totals.pass_rate is None else f"{totals.pass_rate:.4f}",
        "regressions": str(regressions),
        "new_failures": "0" if comparison is None else str(len(new_and_failing(comparison))),
        "cost_usd": "" if totals.cost_usd is None else f"{totals.cost_usd:.6f}",
        "output_dir": folder,
        # A later step may upload what these name, and would take what a link leads to.
        **{
            f"{name}_path": path.relative_to(workspace).as_posix() if path is not None and is_plain(path) else ""
            for name, path in named.items()
        },
        "comment_url": posted.url,
        "artifact_name": here.artifact,
        "baseline_run_id": _run_id(conclusion, stored),
    }


def _run_id(conclusion: Conclusion, stored: StoredBase) -> str:
    """The run whose stored result was compared with, or stands for this run; empty if the base was run instead."""
    comparison = conclusion.comparison
    if comparison is not None:
        source = comparison.source
    else:
        reused = stored.baseline is not None and bool(conclusion.report.cases)
        source = stored.baseline.source if stored.baseline is not None and reused else ""
    return next((str(run) for known, run in stored.run_ids.items() if source.startswith(known)), "")


def _tell_the_runner(commands: FileCommands, conclusion: Conclusion, outputs: Mapping[str, str]) -> None:
    commands.add_outputs(outputs)
    if not commands.add_summary(summary.render(conclusion)):
        warn_runner(f"The summary is too large for the job page; it is in {outputs['summary_path']}")


def _hand_over(folder: Path, workspace: Path) -> None:
    """Gives what a root container wrote to the workspace's owner, so that later steps can change and delete it."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and folder.is_relative_to(workspace.resolve()):
        hand_over(folder, workspace.resolve())
