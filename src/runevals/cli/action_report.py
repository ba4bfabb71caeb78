"""The reports of a job on GitHub: files, comment, annotations, outputs and summary."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from runevals.cli.terminal import warn_runner
from runevals.github.annotations import annotation_commands, marks, problem_mark, warning_command
from runevals.github.api import GitHubRefused
from runevals.github.comments import slug
from runevals.github.job import project_file
from runevals.github.post_comment import posting
from runevals.github.schedule_issue import put_issue
from runevals.github.this_job import action_input, mask_commands
from runevals.lib.storage.files import hand_over, is_plain, require_only, write_whole
from runevals.lib.terminal import notice, say
from runevals.lib.text.secrets import redacted, redactor
from runevals.records import Outcome, Scope
from runevals.records.errors import PASSED, CannotWrite, InvalidSettings, InvalidSuite, as_run_error
from runevals.reports import HTML, REPORTERS, SUMMARY, comment
from runevals.reports import projects as texts
from runevals.reports.publish import publish
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.projects import in_words, worst
from runevals.verdict.gate_metrics import regressions
from runevals.verdict.totals import totals

if TYPE_CHECKING:
    from runevals.github.annotations import Mark
    from runevals.github.file_commands import FileCommands
    from runevals.github.job import JobContext
    from runevals.github.post_comment import CommentDelivery
    from runevals.records import Conclusion
    from runevals.run.resume.unfinished import UnfinishedRun
    from runevals.settings.resolve import RawSettings, Settings

_NAMES = frozenset({comment.FILENAME, *(reporter.FILENAME for reporter in REPORTERS if reporter is not HTML)})
_OURS = re.compile(  # pages of steps, files of projects, and what a run keeps here
    rf"(?a)report-[\w.-]+\.html|[\w.-]+\.(?:{'|'.join(reporter.FILENAME for reporter in REPORTERS)})"
    r"|\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d[\w.-]*\.(?:json|html)"
)
_OUTCOMES = ("failed", "unmeasured", "passed", "skipped")
_PATTERN = re.compile(r"[*?\[\]!~\\\x00-\x1f]|^#|^\s|\s$")  # what an upload would read as a pattern


class Runner(Struct, frozen=True):
    """The runner's environment and files."""

    environment: Mapping[str, str]
    commands: FileCommands


class Step(Struct, frozen=True):
    """The step of the job: its settings, and where it runs."""

    settings: Settings
    raw: RawSettings
    here: JobContext
    runner: Runner


class Part(Struct, frozen=True, kw_only=True):
    """The whole of a job, or one of its projects or targets, and its result."""

    name: str = ""
    settings: Settings
    here: JobContext
    conclusion: Conclusion
    stored: StoredBase = StoredBase()


class Results(Struct, frozen=True, kw_only=True):
    """All parts of a job, and what is said of them together."""

    parts: Sequence[Part]
    kind: str = ""  # "project" or "target"; empty: there is but the whole
    table: str = ""  # in Markdown
    page: str = ""  # one for all
    attempt: UnfinishedRun | None = None  # whose answers a later attempt can reuse


def finished(results: Results, step: Step, folder: Path | None) -> int:
    """Writes and reports all of them → the worst exit code.

    Raises CannotWrite if a file of a passing job is missing: a failing verdict stays one without its files.
    """
    unwritten = None if folder is None else _publish(results, step, folder)
    _report(results, step, folder)
    for part in results.parts:
        keep_issue(part.conclusion, part.here, step.raw, step.runner)
    code = worst(part.conclusion.verdict.exit_code for part in results.parts)
    if results.attempt is not None:
        results.attempt.end(*(part.conclusion for part in results.parts), written=unwritten is None)
        give_to_owner(results.attempt.folder, step.settings.cwd)
    if unwritten is not None and code == PASSED:
        raise unwritten
    return code


def _publish(results: Results, step: Step, folder: Path) -> CannotWrite | None:
    """Writes the files of each, and the page of all; why one could not be written."""
    writes = [
        partial(publish, part.conclusion, list(output_files(folder, part.here).values())) for part in results.parts
    ]
    if results.page:
        writes.insert(0, partial(write_whole, output_files(folder, step.here)[HTML.NAME], results.page))
    return next(filter(None, reversed([_failure_of(write) for write in writes])), None)


def _failure_of(write: Callable[[], None]) -> CannotWrite | None:
    """Why a file could not be written, which a warning says."""
    try:
        write()
    except CannotWrite as error:
        warn_runner(str(error))
        return error
    return None


def _report(results: Results, step: Step, folder: Path | None) -> None:
    """One comment and one summary, annotations, outputs."""
    parts, settings, runner = results.parts, step.settings, step.runner
    posted, whole = _posted(results, step)
    files: dict[str, list[Path]] = {}
    if folder is not None:
        files = _files(results, step, folder)
        if results.kind:
            _failure_of(partial(write_whole, folder / SUMMARY.FILENAME, whole))
        files["comment_body"] = [keep_comment(posted, folder)]
        give_to_owner(folder, settings.cwd)
    for cache in filter(None, {part.settings.measure.cache for part in parts}):
        give_to_owner(cache, settings.cwd)
    mark_cases([mark for part in parts for mark in marks(part.conclusion)], settings, runner.environment)
    outputs = {
        **_numbers(parts),
        **paths(files, settings),
        "output_dir": "" if folder is None else folder.relative_to(settings.cwd.resolve()).as_posix(),
        "comment_url": posted.url,
        "artifact_name": step.here.artifact,
    }
    runner.commands.add_outputs(outputs)
    if not runner.commands.add_summary(whole):
        warn_runner(f"The summary is too large for the job page; it is in {outputs['summary_path']}")


def _posted(results: Results, step: Step) -> tuple[CommentDelivery, str]:
    """The comment, posted on the pull request if the settings allow it, and the text of the summary."""
    here, settings = step.here, step.settings
    head = here.job.head or step.runner.environment.get("GITHUB_SHA")
    when = "never" if settings.selection.shard else settings.github.comment  # the merge of all shards comments
    if not results.kind:
        [part] = results.parts
        body = comment.render(part.conclusion, here.links(head), here.marker)
        posted = posting(body, [part.conclusion], here, when, here.job.pull_request, head)
        return posted, SUMMARY.render(part.conclusion)
    conclusions = {part.name: part.conclusion for part in results.parts}
    if results.table:  # has what is shown of each against another
        conclusions = {name: replace(conclusion, against=None) for name, conclusion in conclusions.items()}
    line = in_words({name: conclusion.verdict.exit_code for name, conclusion in conclusions.items()}, results.kind)
    say(f"\n{line}")
    text = texts.SeveralConclusions(line=line, table=results.table, conclusions=conclusions)
    body = texts.render_comment(text, here.links(head), here.marker)
    posted = posting(body, conclusions.values(), here, when, here.job.pull_request, head)
    return posted, texts.render_summary(text)


def _files(results: Results, step: Step, folder: Path) -> dict[str, list[Path]]:
    """The files by the reporter that they are of; the pages of several are not the page of all."""
    files: dict[str, list[Path]] = {}
    for part in results.parts:
        for name, path in output_files(folder, part.here).items():
            files.setdefault("pages" if name == HTML.NAME and results.kind else name, []).append(path)
    if results.kind:
        files[SUMMARY.NAME] = [folder / SUMMARY.FILENAME]
    if results.page:
        files[HTML.NAME] = [output_files(folder, step.here)[HTML.NAME]]
    return files


def _numbers(parts: Sequence[Part]) -> Mapping[str, str]:
    """What the outputs say of all of them together."""
    conclusions = [part.conclusion for part in parts]
    outcomes = {conclusion.verdict.outcome for conclusion in conclusions}
    of_all = totals([case for conclusion in conclusions for case in conclusion.report.cases])
    comparisons = [*filter(None, (conclusion.comparison for conclusion in conclusions))]
    added = filter(None, (change.head for each in comparisons for change in each.of_kind("added")))
    run_ids = dict.fromkeys(run_id(part.conclusion, part.stored) for part in parts)
    return {
        "verdict": next(outcome for outcome in _OUTCOMES if outcome in outcomes),
        "exit_code": str(worst(conclusion.verdict.exit_code for conclusion in conclusions)),
        "pass_rate": "" if of_all.pass_rate is None else f"{of_all.pass_rate:.4f}",
        "regressions": f"{sum(regressions(each, Scope()).observed for each in comparisons):.0f}",
        "new_failures": str([case.status for case in added].count(Outcome.FAILED)),
        "cost_usd": "" if of_all.cost_usd is None else f"{of_all.cost_usd:.6f}",
        "baseline_run_id": ",".join(filter(None, run_ids)),
    }


def report_error(error: Exception, environment: Mapping[str, str], key_names: Collection[str] = ()) -> None:
    """Annotates the error that ended the run: at each place in a file, else on the job's page."""
    redact = redactor(environment, key_names)
    if isinstance(error, InvalidSuite):
        lines = annotation_commands([problem_mark(problem) for problem in redacted(error.problems, redact)])
    else:
        lines = [warning_command(redact(str(as_run_error(error))) or type(error).__name__, "error")]
    _tell_runner(lines, environment)


def _tell_runner(lines: Iterable[str], environment: Mapping[str, str]) -> None:
    """Commands for the runner; elsewhere they would stay on the screen."""
    if environment.get("GITHUB_ACTIONS") == "true":
        click.echo("".join(f"{line}\n" for line in lines), nl=False)


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
    require_only(folder, _NAMES.union(filter(_OURS.fullmatch, there)))
    return folder


def output_files(folder: Path, here: JobContext) -> dict[str, Path]:
    """The file of each reporter. The page is stored separately, under a file name unique to the job."""
    names = {reporter.NAME: reporter.FILENAME for reporter in REPORTERS}
    if here.project:
        del names[SUMMARY.NAME]  # one for all
        return {reporter: folder / project_file(here.project, name) for reporter, name in names.items()}
    names[HTML.NAME] = f"report-{slug(here.comment_id)}.html"
    return {reporter: folder / name for reporter, name in names.items()}


def keep_comment(posted: CommentDelivery, folder: Path) -> Path:
    """Writes the comment's text beside the results, for a later step that may post it."""
    path = folder / comment.FILENAME
    _failure_of(partial(write_whole, path, posted.body))
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
    _tell_runner(mask_commands(environment, settings.key_names), environment)


def mark_cases(marks: Sequence[Mark], settings: Settings, environment: Mapping[str, str]) -> None:
    """Marks cases in the files of the change."""
    if settings.github.annotations:
        _tell_runner(map(redactor(environment, settings.key_names), annotation_commands(marks)), environment)


def paths(files: Mapping[str, Sequence[Path]], settings: Settings) -> dict[str, str]:
    """The outputs that name files, one path a line. A later step may upload what a link leads to."""
    workspace = settings.cwd.resolve()
    return {
        f"{name}_path": "\n".join(
            path.relative_to(workspace).as_posix() for path in files.get(name, ()) if is_plain(path)
        )
        for name in (*(reporter.NAME for reporter in REPORTERS), "pages", "comment_body")
    }


def run_id(conclusion: Conclusion, stored: StoredBase) -> str:
    """The run whose stored result was compared with, or reused for this run; empty if the base was run instead."""
    if conclusion.comparison is not None:
        source = conclusion.comparison.source
    elif stored.baseline is not None and conclusion.report.cases:
        source = stored.baseline.source
    else:
        return ""
    return next((str(run) for known, run in stored.run_ids.items() if source.startswith(known)), "")


def give_to_owner(folder: Path, workspace: Path) -> None:
    """Changes the owner of files that a root container wrote, so that later steps can change and delete them."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and folder.is_relative_to(workspace.resolve()):
        hand_over(folder, workspace.resolve())
