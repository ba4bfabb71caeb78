"""`runevals action`: the container's entry; inputs come as INPUT_* variables, outputs go to the runner's files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runevals.cli import finish
from runevals.cli.comment import comment_on
from runevals.cli.merge import merged_conclusion
from runevals.cli.plan import as_json, describe
from runevals.cli.preload import load_sdk_beside
from runevals.cli.progress import progress
from runevals.cli.terminal import tell, warn, warn_runner
from runevals.github.annotations import annotation_commands
from runevals.github.collect_shards import collected
from runevals.github.failed_cases import marks
from runevals.github.file_commands import write_outputs, write_summary
from runevals.github.job import action_input, change_event, job_here, on_github
from runevals.github.job_attempts import attempted, measured_before
from runevals.github.masking import mask_commands
from runevals.github.post_comment import posting
from runevals.github.stored_baseline import stored_base
from runevals.github.without_secrets import skipped, withheld
from runevals.lib.storage.files import hand_over, is_plain, require_only, write_whole
from runevals.lib.terminal import shown
from runevals.lib.text.secrets import redactor
from runevals.records.errors import MEASURED_GREEN, CannotWrite, InvalidSettings, WorldRefused
from runevals.reports import REPORTERS, comment, summary
from runevals.reports.publish import publish
from runevals.run.baseline.protected_side import base_side
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.pipeline import Asked, judged
from runevals.run.preflight_plugins import require_usable_plugins
from runevals.run.shards.merge import merged
from runevals.run.shards.verdict import not_merged
from runevals.run.world.build_cache import require_cache
from runevals.settings.dotenv import environment as with_dotenv
from runevals.settings.resolve import Told, resolve
from runevals.suites.load import load_suites
from runevals.suites.plan import make_plan
from runevals.verdict.wording import new_and_failing

if TYPE_CHECKING:
    from runevals.github.job import OnGitHub
    from runevals.github.post_comment import Posting
    from runevals.records import Conclusion
    from runevals.run.resume.unfinished import UnfinishedRun
    from runevals.settings.resolve import Settings, Told


_NAMES = frozenset({comment.FILENAME, *(reporter.FILENAME for reporter in REPORTERS)})
_PATTERN = re.compile(r"[*?\[\]!~\\\x00-\x1f]|^#|^\s|\s$")  # what an upload would take for more than a name


@click.command("action", hidden=True)
def command() -> None:
    """Run as a step of a GitHub workflow."""
    finish(execute(os.environ, Path.cwd()))


def execute(environment: Mapping[str, str], workspace: Path) -> int:
    """What the job's event asks for, from inputs to exit code."""
    require_usable_plugins()
    inputs = {name[6:].lower(): value for name, value in environment.items() if name.startswith("INPUT_")}
    told = Told(inputs=inputs, cwd=workspace, environment=with_dotenv(workspace, None, environment))
    job = job_here(environment, workspace, inputs)
    if job.task == "refused":
        raise InvalidSettings(job.why)
    settings = resolve(replace(told, base_side=base_side(told, change_event(told))))
    if environment.get("GITHUB_ACTIONS") == "true":  # elsewhere nobody would take these lines off the screen
        for line in mask_commands(environment, settings.key_names):
            click.echo(line)
    if action_input("mode", inputs) == "plan":
        return _plan(settings, environment, int(str(action_input("cases_per_shard", inputs))))
    here = on_github(environment, settings, job, inputs.get("github_token", ""))
    return comment_on(settings, here) if job.task == "comment" else _run(settings, told, here, environment)


def _plan(settings: Settings, environment: Mapping[str, str], cases_per_shard: int) -> int:
    """Says which shards there are, for the matrix of jobs that runs them; nothing is asked."""
    plan = make_plan(load_suites(settings).suites, settings)
    shards = json.dumps(as_json(plan, settings, cases_per_shard)["shards"])
    click.echo(shown(f"{describe(plan, settings)}\nshards      {shards}"))
    if path := environment.get("GITHUB_OUTPUT"):
        write_outputs(Path(path), {"shards": shards})
    return MEASURED_GREEN


def _run(settings: Settings, told: Told, here: OnGitHub, environment: Mapping[str, str]) -> int:
    """One run; every file is written, and everything told, before the exit code is decided."""
    folder = _folder(settings)
    require_cache(settings)
    attempt: UnfinishedRun | None = None
    names = () if here.job.has_secrets else withheld(settings)
    stored = StoredBase() if names or settings.shard is not None else stored_base(settings, here, _say)
    if names:
        conclusion = skipped(settings, names)
    elif action_input("mode", told.inputs) == "merge":
        conclusion = _merged(settings, told, stored)
    else:
        conclusion, attempt = _measured(settings, told, here, stored, environment)
    paths = {reporter.NAME: folder / reporter.FILENAME for reporter in REPORTERS}
    written = False
    try:
        publish(conclusion, list(paths.values()))
        written = True
    except CannotWrite as error:
        if conclusion.verdict.exit_code == MEASURED_GREEN:
            raise
        warn_runner(str(error))  # a red stays one whatever becomes of its reports
    finally:  # a verdict that was paid for is told even where a file cannot be written
        head = here.job.head or environment.get("GITHUB_SHA")
        when = settings.comment if settings.shard is None else "never"  # the merge of all shards comments
        posted = posting(conclusion, here, when, here.job.pull_request, head)
        body = _keep(posted, folder)
        _hand_over(folder, settings.cwd)
        if settings.cache is not None:
            _hand_over(settings.cache, settings.cwd)
        tell(conclusion)
        _mark(conclusion, settings, environment)
        files = {**paths, "comment_body": body}
        _tell_the_runner(environment, conclusion, _outputs(conclusion, files, settings, here, posted, stored))
    if attempt is not None:
        attempt.end(conclusion, written=written)
        _hand_over(attempt.folder, settings.cwd)
    return conclusion.verdict.exit_code


def _measured(
    settings: Settings, told: Told, here: OnGitHub, stored: StoredBase, environment: Mapping[str, str]
) -> tuple[Conclusion, UnfinishedRun | None]:
    """The suites run; with the answers that are kept for a job that is run again, if any are."""
    load_sdk_beside(settings)
    loaded = load_suites(settings)
    warn(loaded.problems)
    attempt = attempted(settings, here, told.inputs, warn_runner) if action_input("resume", told.inputs) else None
    with nullcontext() if attempt is None else attempt.journal(settings) as journal:
        before = None if settings.shard is not None else measured_before(here, environment, warn_runner)
        asked = Asked(ref=None, told=told, progress=progress, stored=stored, journal=journal, earlier=before)
        return judged(settings, loaded, asked), attempt


def _merged(settings: Settings, told: Told, stored: StoredBase) -> Conclusion:
    """The shards as one run; not measured where some left nothing, which the comment says too."""
    try:
        report = merged(collected(settings, str(action_input("shards", told.inputs))))
    except WorldRefused as missing:
        return not_merged(settings, str(missing))
    return merged_conclusion(report, settings, told, stored)


def _folder(settings: Settings) -> Path:
    """Where our files go. Raises InvalidSettings for a folder that is not ours alone.

    What lies in it may be uploaded, where the files that links lead to are taken for what they are.
    """
    workspace = settings.cwd.resolve()
    folder = Path(os.path.abspath(workspace / settings.output_dir))  # noqa: PTH100 - no link is followed
    inside = folder.relative_to(workspace).parts if folder.is_relative_to(workspace) else ()
    if not inside or ".git" in inside or _PATTERN.search(settings.output_dir):
        raise InvalidSettings(f"output_dir: {settings.output_dir} is no folder inside the workspace")
    require_only(folder, _NAMES)
    return folder


def _keep(posted: Posting, folder: Path) -> Path:
    """Writes the comment's text beside the results, for a later step that may post it."""
    path = folder / comment.FILENAME
    try:
        write_whole(path, posted.body)
    except CannotWrite as error:
        warn_runner(str(error))
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
    here: OnGitHub,
    posted: Posting,
    stored: StoredBase,
) -> dict[str, str]:
    totals, comparison = conclusion.report.totals, conclusion.comparison
    regressions = 0 if comparison is None else len(comparison.of_kind("regressed"))
    workspace, folder = settings.cwd.resolve(), files["results"].parent
    return {
        "verdict": conclusion.verdict.outcome,
        "exit_code": str(conclusion.verdict.exit_code),
        "pass_rate": "" if totals.pass_rate is None else f"{totals.pass_rate:.4f}",
        "regressions": str(regressions),
        "new_failures": "0" if comparison is None else str(len(new_and_failing(comparison))),
        "cost_usd": "" if totals.cost_usd is None else f"{totals.cost_usd:.6f}",
        "output_dir": folder.relative_to(workspace).as_posix(),
        # A later step may upload what these name, and would take what a link leads to.
        **{
            f"{name}_path": path.relative_to(workspace).as_posix() if is_plain(path) else ""
            for name, path in files.items()
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


def _say(text: str) -> None:
    click.echo(shown(text), err=True)


def _tell_the_runner(environment: Mapping[str, str], conclusion: Conclusion, outputs: Mapping[str, str]) -> None:
    if path := environment.get("GITHUB_OUTPUT"):
        write_outputs(Path(path), outputs)
    path = environment.get("GITHUB_STEP_SUMMARY")
    if path and not write_summary(Path(path), summary.render(conclusion)):
        warn_runner(f"The summary is too large for the job page; it is in {outputs['summary_path']}")


def _hand_over(folder: Path, workspace: Path) -> None:
    """Gives what a root container wrote to the workspace's owner, so that later steps can change and delete it."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and folder.is_relative_to(workspace.resolve()):
        hand_over(folder, workspace.resolve())
