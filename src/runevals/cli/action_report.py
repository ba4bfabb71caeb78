"""The reports of a job on GitHub: files, comment, annotations, outputs and summary."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from runevals.cli.terminal import tell, warn_runner
from runevals.github.annotations import annotation_commands, problem_mark, warning_command
from runevals.github.api import GitHubRefused
from runevals.github.comments import slug
from runevals.github.failed_cases import marks
from runevals.github.job import action_input, project_file
from runevals.github.masking import mask_commands
from runevals.github.post_comment import posting
from runevals.github.schedule_issue import put_issue
from runevals.lib.storage.files import hand_over, is_plain, require_only, write_whole
from runevals.lib.terminal import notice
from runevals.lib.text.secrets import redacted, redactor
from runevals.records.errors import CannotWrite, InvalidSettings, InvalidSuite, as_run_error
from runevals.reports import REPORTERS, comment, html, summary
from runevals.run.baseline.stored_base import StoredBase
from runevals.verdict.wording import new_and_failing

if TYPE_CHECKING:
    from runevals.github.annotations import Mark
    from runevals.github.file_commands import FileCommands
    from runevals.github.job import JobContext
    from runevals.github.post_comment import CommentDelivery
    from runevals.records import Conclusion
    from runevals.run.resume.unfinished import UnfinishedRun
    from runevals.settings.resolve import RawSettings, Settings

_NAMES = frozenset({comment.FILENAME, *(reporter.FILENAME for reporter in REPORTERS if reporter is not html)})
_PAGE = re.compile(r"report-[\w.-]+\.html", re.ASCII)  # of this step, or of one before it
_OF_PROJECT = re.compile(rf"[\w.-]+\.(?:{'|'.join(reporter.FILENAME for reporter in REPORTERS)})", re.ASCII)
_PATTERN = re.compile(
    r"[*?\[\]!~\\\x00-\x1f]|^#|^\s|\s$"
)  # characters that an upload would interpret as a pattern


class Runner(Struct, frozen=True):
    """The runner's environment and files."""

    environment: Mapping[str, str]
    commands: FileCommands


class JobResult(Struct, frozen=True):
    """The result of a job: with a stored base, with cached answers, or with the error that ended it."""

    conclusion: Conclusion
    stored: StoredBase = StoredBase()
    attempt: UnfinishedRun | None = None
    ended: Exception | None = None


def report(result: JobResult, folder: Path | None, settings: Settings, here: JobContext, runner: Runner) -> None:
    """The comment, the screen, annotations, outputs and summary."""
    conclusion, environment = result.conclusion, runner.environment
    head = here.job.head or environment.get("GITHUB_SHA")
    when = "never" if settings.selection.shard else settings.github.comment  # the merge of all shards comments
    posted = posting(conclusion, here, when, here.job.pull_request, head)
    files = {} if folder is None else output_files(folder, here)
    if folder is not None:
        files["comment_body"] = keep_comment(posted, folder)
        give_to_owner(folder, settings.cwd)
    if settings.measure.cache is not None:
        give_to_owner(settings.measure.cache, settings.cwd)
    if result.ended is None:
        tell(conclusion)
        mark_cases(marks(conclusion), settings, environment)
    else:
        report_error(result.ended, environment, settings.key_names)
    outputs = _outputs(conclusion, files, settings, here, posted, result.stored)
    tell_runner(runner.commands, summary.render(conclusion), outputs)


def report_error(error: Exception, environment: Mapping[str, str], key_names: Collection[str] = ()) -> None:
    """Annotates the error that ended the run: at each place in a file, else on the job's page."""
    if environment.get("GITHUB_ACTIONS") != "true":
        return
    redact = redactor(environment, key_names)
    if isinstance(error, InvalidSuite):
        lines = annotation_commands([problem_mark(problem) for problem in redacted(error.problems, redact)])
    else:
        lines = [warning_command(redact(str(as_run_error(error))) or type(error).__name__, "error")]
    for line in lines:
        click.echo(line)


def output_folder(settings: Settings) -> Path:
    """The output folder. Raises InvalidSettings for a folder that others use too.

    What lies in it may be uploaded, where the files that links lead to are taken for what they are.
    """
    workspace = settings.cwd.resolve()
    folder = Path(os.path.abspath(workspace / settings.github.output_dir))  # noqa: PTH100 - no link is followed
    inside = folder.relative_to(workspace).parts if folder.is_relative_to(workspace) else ()
    if not inside or ".git" in inside or _PATTERN.search(settings.github.output_dir):
        raise InvalidSettings(f"output_dir: {settings.github.output_dir} is no folder inside the workspace")
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    ours = (name for name in there if _PAGE.fullmatch(name) or _OF_PROJECT.fullmatch(name))
    require_only(folder, _NAMES.union(ours))
    return folder


def output_files(folder: Path, here: JobContext) -> dict[str, Path]:
    """The file of each reporter. The page is stored separately, under a file name unique to the job."""
    names = {reporter.NAME: reporter.FILENAME for reporter in REPORTERS}
    if here.project:
        del names[summary.NAME]  # one for all
        return {reporter: folder / project_file(here.project, name) for reporter, name in names.items()}
    names[html.NAME] = f"report-{slug(here.comment_id)}.html"
    return {reporter: folder / name for reporter, name in names.items()}


def keep_comment(posted: CommentDelivery, folder: Path) -> Path:
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


def keep_issue(conclusion: Conclusion, here: JobContext, raw: RawSettings, runner: Runner) -> None:
    """The issue of a scheduled run, if the workflow asks for one; a warning if it cannot be written."""
    if runner.environment.get("GITHUB_EVENT_NAME") != "schedule" or not action_input("issue", raw.inputs):
        return
    try:
        url = put_issue(conclusion, here)
    except GitHubRefused as refused:
        warn_runner(f"The issue could not be written. {refused}")
    else:
        if url:
            notice(f"Issue: {url}")


def mask_keys(environment: Mapping[str, str], settings: Settings) -> None:
    """Has the runner mask the values of secrets and of the keys that these settings name."""
    if environment.get("GITHUB_ACTIONS") == "true":  # elsewhere these lines would stay on the screen
        for line in mask_commands(environment, settings.key_names):
            click.echo(line)


def mark_cases(marks: Sequence[Mark], settings: Settings, environment: Mapping[str, str]) -> None:
    """Marks cases in the files of the change."""
    if settings.github.annotations and environment.get("GITHUB_ACTIONS") == "true":
        redact = redactor(environment, settings.key_names)
        for line in annotation_commands(marks):
            click.echo(redact(line))


def _outputs(
    conclusion: Conclusion,
    files: Mapping[str, Path],
    settings: Settings,
    here: JobContext,
    posted: CommentDelivery,
    stored: StoredBase,
) -> dict[str, str]:
    totals = conclusion.report.totals
    return {
        "verdict": conclusion.verdict.outcome,
        "exit_code": str(conclusion.verdict.exit_code),
        "pass_rate": "" if totals.pass_rate is None else f"{totals.pass_rate:.4f}",
        "regressions": str(regressions(conclusion)),
        "new_failures": str(new_failures(conclusion)),
        "cost_usd": "" if totals.cost_usd is None else f"{totals.cost_usd:.6f}",
        "output_dir": files["results"].parent.relative_to(settings.cwd.resolve()).as_posix() if files else "",
        **paths({name: [path] for name, path in files.items()}, settings),
        "comment_url": posted.url,
        "artifact_name": here.artifact,
        "baseline_run_id": run_id(conclusion, stored),
    }


def paths(files: Mapping[str, Sequence[Path]], settings: Settings) -> dict[str, str]:
    """The outputs that name files, one path a line. A later step may upload what a link leads to."""
    workspace = settings.cwd.resolve()
    names = (*(reporter.NAME for reporter in REPORTERS), "pages", "comment_body")
    return {
        f"{name}_path": "\n".join(
            path.relative_to(workspace).as_posix() for path in files.get(name, ()) if is_plain(path)
        )
        for name in names
    }


def regressions(conclusion: Conclusion) -> int:
    """How many cases passed on the base and fail now."""
    return 0 if conclusion.comparison is None else len(conclusion.comparison.of_kind("regressed"))


def new_failures(conclusion: Conclusion) -> int:
    """How many cases fail that the base does not have."""
    return 0 if conclusion.comparison is None else len(new_and_failing(conclusion.comparison))


def run_id(conclusion: Conclusion, stored: StoredBase) -> str:
    """The run whose stored result was compared with, or reused for this run; empty if the base was run instead."""
    comparison = conclusion.comparison
    if comparison is not None:
        source = comparison.source
    else:
        reused = stored.baseline is not None and bool(conclusion.report.cases)
        source = stored.baseline.source if stored.baseline is not None and reused else ""
    return next((str(run) for known, run in stored.run_ids.items() if source.startswith(known)), "")


def tell_runner(commands: FileCommands, text: str, outputs: Mapping[str, str]) -> None:
    """The outputs, and the summary's text."""
    commands.add_outputs(outputs)
    if not commands.add_summary(text):
        warn_runner(f"The summary is too large for the job page; it is in {outputs['summary_path']}")


def give_to_owner(folder: Path, workspace: Path) -> None:
    """Changes the owner of files that a root container wrote, so that later steps can change and delete them."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and folder.is_relative_to(workspace.resolve()):
        hand_over(folder, workspace.resolve())
