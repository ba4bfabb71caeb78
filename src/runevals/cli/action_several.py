"""A step of the action with several results, of projects or of targets: files of each, and one comment on all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from runevals.cli.action_report import (
    JobResult,
    give_to_owner,
    keep_comment,
    keep_issue,
    mark_cases,
    new_failures,
    output_files,
    paths,
    regressions,
    run_id,
    tell_runner,
)
from runevals.cli.terminal import warn_runner
from runevals.github.failed_cases import marks
from runevals.github.post_comment import posting_several
from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import say
from runevals.records.errors import PASSED, CannotWrite
from runevals.reports import html, summary
from runevals.reports import projects as texts
from runevals.reports.publish import publish
from runevals.run.projects import in_words, worst
from runevals.verdict.totals import totals

if TYPE_CHECKING:
    from runevals.cli.action_report import Runner
    from runevals.github.job import JobContext
    from runevals.records import Conclusion
    from runevals.run.resume.unfinished import UnfinishedRun
    from runevals.settings.resolve import RawSettings, Settings

_OUTCOMES = ("failed", "unmeasured", "passed", "skipped")


class Part(Struct, frozen=True, kw_only=True):
    """One of several projects or targets, and its result."""

    name: str
    settings: Settings
    here: JobContext
    result: JobResult

    @property
    def conclusion(self) -> Conclusion:
        return self.result.conclusion


class Results(Struct, frozen=True, kw_only=True):
    """All of them, and what is said of them together."""

    parts: Sequence[Part]
    kind: str  # "project" or "target"
    table: str = ""  # in Markdown
    page: str = ""  # one for all
    attempt: UnfinishedRun | None = None  # whose answers a later attempt can reuse


class Step(Struct, frozen=True, kw_only=True):
    """The step of the job: its own settings, and where its files go."""

    settings: Settings
    raw: RawSettings
    here: JobContext
    runner: Runner
    folder: Path


def finished(results: Results, step: Step) -> int:
    """Writes and reports all of them → the worst exit code.

    Raises CannotWrite if a file of a passing job is missing.
    """
    unwritten = _publish(results, step)
    _report(results, step)
    for part in results.parts:
        keep_issue(part.conclusion, part.here, step.raw, step.runner)
    code = worst(part.conclusion.verdict.exit_code for part in results.parts)
    if results.attempt is not None:
        conclusions = [part.conclusion for part in results.parts]
        results.attempt.end(*conclusions, written=unwritten is None)
        give_to_owner(results.attempt.folder, step.settings.cwd)
    if unwritten is not None and code == PASSED:
        raise unwritten
    return code


def _publish(results: Results, step: Step) -> CannotWrite | None:
    """Writes the files of each, and the page of all; why one could not be written."""
    failure: CannotWrite | None = None
    try:
        if results.page:
            write_whole(output_files(step.folder, step.here)[html.NAME], results.page)
    except CannotWrite as error:
        warn_runner(str(error))
        failure = error
    for part in results.parts:
        try:
            publish(part.conclusion, list(output_files(step.folder, part.here).values()))
        except CannotWrite as error:
            warn_runner(str(error))
            failure = error
    return failure


def _report(results: Results, step: Step) -> None:
    """One comment and one summary, annotations, outputs."""
    parts, settings, here, folder, runner = results.parts, step.settings, step.here, step.folder, step.runner
    conclusions = {part.name: part.conclusion for part in parts}
    if results.table:  # has what is shown of each against another
        conclusions = {name: replace(conclusion, against=None) for name, conclusion in conclusions.items()}
    codes = {name: conclusion.verdict.exit_code for name, conclusion in conclusions.items()}
    line = in_words(codes, results.kind)
    text = texts.SeveralConclusions(line=line, table=results.table, conclusions=conclusions)
    say(f"\n{text.line}")
    head = here.job.head or runner.environment.get("GITHUB_SHA")
    posted = posting_several(text, here, settings.github.comment, here.job.pull_request, head)
    whole = texts.render_summary(text)
    try:
        write_whole(folder / summary.FILENAME, whole)
    except CannotWrite as error:
        warn_runner(str(error))
    files = {"comment_body": [keep_comment(posted, folder)], summary.NAME: [folder / summary.FILENAME]}
    if results.page:
        files[html.NAME] = [output_files(folder, here)[html.NAME]]
    for part in parts:
        for name, path in output_files(folder, part.here).items():
            files.setdefault("pages" if name == html.NAME else name, []).append(path)
        if part.settings.measure.cache is not None:
            give_to_owner(part.settings.measure.cache, settings.cwd)
    give_to_owner(folder, settings.cwd)
    mark_cases([mark for part in parts for mark in marks(part.conclusion)], settings, runner.environment)
    outputs = {
        **_numbers(parts),
        **paths(files, settings),
        "output_dir": folder.relative_to(settings.cwd.resolve()).as_posix(),
        "comment_url": posted.url,
        "artifact_name": here.artifact,
    }
    tell_runner(runner.commands, whole, outputs)


def _numbers(parts: Sequence[Part]) -> Mapping[str, str]:
    """What the outputs say of all of them together."""
    conclusions = [part.conclusion for part in parts]
    outcomes = {conclusion.verdict.outcome for conclusion in conclusions}
    of_all = totals([case for conclusion in conclusions for case in conclusion.report.cases])
    run_ids = dict.fromkeys(run_id(part.conclusion, part.result.stored) for part in parts)
    return {
        "verdict": next(outcome for outcome in _OUTCOMES if outcome in outcomes),
        "exit_code": str(worst(conclusion.verdict.exit_code for conclusion in conclusions)),
        "pass_rate": "" if of_all.pass_rate is None else f"{of_all.pass_rate:.4f}",
        "regressions": str(sum(map(regressions, conclusions))),
        "new_failures": str(sum(map(new_failures, conclusions))),
        "cost_usd": "" if of_all.cost_usd is None else f"{of_all.cost_usd:.6f}",
        "baseline_run_id": ",".join(filter(None, run_ids)),
    }
