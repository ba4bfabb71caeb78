"""A step of the action with `all_projects`: each project is run as if alone, and one comment tells all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from runevals.cli import explained
from runevals.cli.action_report import (
    JobResult,
    give_to_owner,
    keep_comment,
    keep_issue,
    mark_cases,
    new_failures,
    output_files,
    output_folder,
    paths,
    regressions,
    report,
    report_error,
    run_id,
    tell_runner,
)
from runevals.cli.terminal import tell, warn_runner
from runevals.github.failed_cases import marks
from runevals.github.post_comment import posting_projects
from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import say
from runevals.records.errors import PASSED, CannotWrite, InvalidSettings, RunevalsError
from runevals.reports import html, summary
from runevals.reports import projects as texts
from runevals.reports.publish import publish
from runevals.run.nothing_measured import ended_by
from runevals.run.projects import Project, in_words, projects_in, require_apart, settings_of, worst
from runevals.verdict.totals import totals

if TYPE_CHECKING:
    from runevals.cli.action_report import Runner
    from runevals.github.job import JobContext
    from runevals.records import Conclusion
    from runevals.settings.resolve import RawSettings, Settings

_OF_ONE = ("config", "suites", "shard", "baseline", "mode", "resume")  # inputs that name things of one project
_OUTCOMES = ("failed", "unmeasured", "passed", "skipped")
# Reads all that a project's run needs of the event and the commit → its settings, and what runs it.
Prepare = Callable[[Project, "RawSettings", "JobContext", "Runner"], "tuple[Settings, Callable[[], JobResult]]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """One project and what came of it."""

    name: str
    settings: Settings
    here: JobContext
    result: JobResult

    @property
    def conclusion(self) -> Conclusion:
        return self.result.conclusion


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
    done = [
        _done(project, of_project, place, runner, run)
        for project, place, (of_project, run) in zip(projects, places, prepared, strict=True)
    ]
    unwritten = _publish(done, folder)
    _report(done, folder, settings, here, runner)
    for one in done:
        keep_issue(one.conclusion, one.here, raw, runner)
    code = worst(one.conclusion.verdict.exit_code for one in done)
    if unwritten is not None and code == PASSED:
        raise unwritten
    return code


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
) -> _Done:
    say(f"\n== {project.name} ({project.config})")
    result = run()
    if result.ended is None:
        tell(result.conclusion)
    else:
        report_error(result.ended, runner.environment, settings.key_names)
    return _Done(name=project.name, settings=settings, here=here, result=result)


def _publish(done: Sequence[_Done], folder: Path) -> CannotWrite | None:
    """Writes the files of every project; why one could not be written."""
    failure: CannotWrite | None = None
    for one in done:
        try:
            publish(one.conclusion, list(output_files(folder, one.here).values()))
        except CannotWrite as error:
            warn_runner(str(error))
            failure = error
    return failure


def _report(done: Sequence[_Done], folder: Path, settings: Settings, here: JobContext, runner: Runner) -> None:
    """One comment and one summary, annotations, outputs."""
    conclusions = {one.name: one.conclusion for one in done}
    line = in_words({name: conclusion.verdict.exit_code for name, conclusion in conclusions.items()})
    say(f"\n{line}")
    head = here.job.head or runner.environment.get("GITHUB_SHA")
    posted = posting_projects(line, conclusions, here, settings.github.comment, here.job.pull_request, head)
    text = texts.render_summary(line, conclusions)
    files = {"comment_body": [keep_comment(posted, folder)], summary.NAME: [folder / summary.FILENAME]}
    try:
        write_whole(folder / summary.FILENAME, text)
    except CannotWrite as error:
        warn_runner(str(error))
    for one in done:
        for name, path in output_files(folder, one.here).items():
            files.setdefault("pages" if name == html.NAME else name, []).append(path)
        if one.settings.measure.cache is not None:
            give_to_owner(one.settings.measure.cache, settings.cwd)
    give_to_owner(folder, settings.cwd)
    mark_cases([mark for one in done for mark in marks(one.conclusion)], settings, runner.environment)
    outputs = {
        **_numbers(done),
        **paths(files, settings),
        "output_dir": folder.relative_to(settings.cwd.resolve()).as_posix(),
        "comment_url": posted.url,
        "artifact_name": here.artifact,
    }
    tell_runner(runner.commands, text, outputs)


def _numbers(done: Sequence[_Done]) -> dict[str, str]:
    """What the outputs say of all projects together."""
    conclusions = [one.conclusion for one in done]
    outcomes = {conclusion.verdict.outcome for conclusion in conclusions}
    of_all = totals([case for conclusion in conclusions for case in conclusion.report.cases])
    run_ids = dict.fromkeys(run_id(one.conclusion, one.result.stored) for one in done)
    return {
        "verdict": next(outcome for outcome in _OUTCOMES if outcome in outcomes),
        "exit_code": str(worst(conclusion.verdict.exit_code for conclusion in conclusions)),
        "pass_rate": "" if of_all.pass_rate is None else f"{of_all.pass_rate:.4f}",
        "regressions": str(sum(map(regressions, conclusions))),
        "new_failures": str(sum(map(new_failures, conclusions))),
        "cost_usd": "" if of_all.cost_usd is None else f"{of_all.cost_usd:.6f}",
        "baseline_run_id": ",".join(filter(None, run_ids)),
    }
