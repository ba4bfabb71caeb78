"""`runevals run`: all of it, locally or in CI."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runevals.cli import finish
from runevals.cli.browser import open_in_browser, open_option, page_of
from runevals.cli.doctor.checks import exit_code, prepared
from runevals.cli.doctor.finding import tell_finding
from runevals.cli.help import GroupedCommand
from runevals.cli.init.scaffold import suite_wanted
from runevals.cli.interactive import interact
from runevals.cli.options import environment_option, settings_options, told_by
from runevals.cli.output import format_option, free_names, kept_results, reported, require_kept_results
from runevals.cli.plan import describe
from runevals.cli.preload import load_sdk_beside
from runevals.cli.progress import progress
from runevals.cli.run_projects import run_projects
from runevals.cli.terminal import warn
from runevals.cli.watch import watch
from runevals.github.job import change_event, require_own_code
from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import at_terminal, say
from runevals.records.errors import InvalidSettings, InvalidSuite, NoSuiteFound
from runevals.reports.publish import check_outputs, publish
from runevals.run import pipeline
from runevals.run.acceptance import with_waiting
from runevals.run.baseline.protected_side import base_side
from runevals.run.cluster.setup import on_cluster
from runevals.run.export_suite import exportable, exported, separated
from runevals.run.load import load_suites, plan_of
from runevals.run.preflight import require_present
from runevals.run.preflight_plugins import require_usable_plugins
from runevals.run.request import RunRequest
from runevals.run.resume.unfinished import begun, require_same, unfinished, worth_a_journal
from runevals.run.world.build_cache import require_cache
from runevals.settings.resolve import Settings, ignored_changes, resolve
from runevals.suites import load as loading
from runevals.suites.dialects import LoadOptions, eval_document, load_inline
from runevals.suites.plan import part_of
from runevals.suites.upgrade import upgrade_file

if TYPE_CHECKING:
    from runevals.cli.progress import Detail
    from runevals.run.resume.unfinished import ResumableRun, UnfinishedRun
    from runevals.suites.load import LoadedSuites


@click.command("run", cls=GroupedCommand)
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATH]...")
@click.option(
    "--prompts-file",
    multiple=True,
    type=click.Path(),
    metavar="PATH",
    help="A suite file, folder or glob; repeatable.",
)
@click.option("--prompts", multiple=True, metavar="TEXT...", help="Prompts to try instead of a suite.")
@click.option("--expected", multiple=True, metavar="TEXT...", help="Their expected responses, as many.")
@click.option("-i", "--interactive", is_flag=True, help="Ask for prompts one at a time, and offer to save them.")
@click.option(
    "--evaluate-only",
    type=click.Path(),
    metavar="FILE",
    help="Score the responses that stand in FILE, call no target.",
)
@click.option(
    "-o",
    "--output",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Write a report: .json, .html, .xml, .csv, .md; repeatable.",
)
@format_option
@open_option
@settings_options()
@environment_option
@click.option(
    "--base",
    metavar="REF",
    help="Run the commit that HEAD shares with REF first, with its own suites and settings, and compare with it.",
)
@click.option(
    "--all-projects",
    is_flag=True,
    help="Run every folder that has a runevals.yaml, as if in it; the worst exit code is that of the run.",
)
@click.option(
    "--resume",
    metavar="[RUN]",
    is_flag=False,
    flag_value="",
    help="Go on with a run that was ended early, the newest if none is named; what it was told holds again.",
)
@click.option("--dry-run", is_flag=True, help="Show what would run, call nothing.")
@click.option("--init-only", is_flag=True, help="Check that the sandbox and the folders are ready, run nothing.")
@click.option("--watch", "watched", is_flag=True, help="Then run again what a saved file changes, until Ctrl-C.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, only the verdict.")
@click.option("-v", "--verbose", is_flag=True, help="Also a line for every trial as it is done.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    is_flag=False,
    flag_value="info",
    help="How much to log to stderr.",
)
def command(**told: Any) -> None:
    """Run suites against the target and judge the result.

    Without PATH, the suites of runevals.yaml run, or the first of prompts.json, evals.json and tests.json here
    or in ./evals/.

    \b
    Examples:
      runevals
      runevals evals/ --target openai:gpt-5-mini --baseline base.json
      runevals --prompts "What is Teams?" --expected "A collaboration platform"
    """
    _set_logging(told.pop("log_level"))
    paths = (*told.pop("paths"), *told.pop("prompts_file"))
    finish(run_projects(told, paths, execute) if told.pop("all_projects") else execute(told, paths))


def execute(told: dict[str, Any], paths: tuple[str, ...]) -> int:
    """One run from flags to exit code."""
    require_usable_plugins()
    before = None if told["resume"] is None else unfinished(told["resume"], Path.cwd())
    if before is not None:
        given = {name: value for name, value in told.items() if value not in (None, (), False)}
        told, paths = {**told, **before.options, **given}, paths or before.paths
    evaluate_only: str | None = told.get("evaluate_only")
    words = told_by(
        told,
        paths=paths if evaluate_only is None else (evaluate_only,),
        evaluate_only=evaluate_only is not None,
    )
    _told_once(paths, told)
    of_change = replace(words, base_side=base_side(words, change_event(words), told["base"]))
    settings, shown = resolve(of_change), partial(progress, detail=_detail(told))
    require_own_code(words)
    if told["init_only"]:
        return _prepared(settings)
    if told["interactive"]:
        interact(RunRequest(settings=settings, raw=words, progress=shown))
        return 0
    if told["watched"]:
        watch(words, shown)
    if not told["dry_run"]:
        load_sdk_beside(settings)
    loaded = _suites(settings, told)
    if told["dry_run"]:
        warn(loaded.problems)
        plan = part_of(plan_of(loaded, settings), settings.selection.shard)
        say(describe(plan, settings))
        return 0
    if not on_cluster(settings):
        require_present(settings)
    request = RunRequest(
        settings=settings,
        suites=loaded,
        raw=words,
        base=told["base"],
        weakenings=ignored_changes(of_change),
        progress=shown,
    )
    return _run(request, told, _journalled(settings, told, paths, before))


def _detail(told: Mapping[str, Any]) -> Detail:
    return "none" if told["quiet"] else "trials" if told["verbose"] else "counts"


def _run(request: RunRequest, told: Mapping[str, Any], run: UnfinishedRun | None) -> int:
    settings, loaded = request.settings, request.suites
    outputs, reports, documents = _outputs(told)
    require_cache(settings)
    kept = kept_results(datetime.now().astimezone())
    if told["opened"]:
        page_of(outputs or kept)
    if documents:
        exportable(loaded.suites)  # before anything is spent
    for suite in loaded.suites:
        if (settings.repository / suite.path).resolve() in {output.resolve() for output in outputs}:
            raise InvalidSettings(f"--output {suite.path} is the suite itself; it would be overwritten")
    warn(loaded.problems)
    with nullcontext() if run is None else run.journal(settings) as journal:
        conclusion = with_waiting(pipeline.run(replace(request, journal=journal)), settings)

    def write() -> list[Path]:
        if not outputs:
            with free_names(kept) as free:
                publish(conclusion, free)
                return free
        publish(conclusion, reports, form=told["form"])
        for path in documents:
            write_whole(path, exported(conclusion.report, exportable(loaded.suites), settings))
        return outputs

    done = reported(conclusion, write)
    if run is not None and (way := run.end(conclusion, written=done.failure is None)):
        say(f"       {way}")
    if told["opened"] and done.files:
        open_in_browser(page_of(done.files))
    return done.exit_code


def _outputs(told: Mapping[str, Any]) -> tuple[list[Path], list[Path], list[Path]]:
    """(all files asked for, those of reporters, those that are eval documents). Raises InvalidSettings."""
    asked_for = [Path(name) for name in told["output"]]
    check_outputs(asked_for)
    if not asked_for:
        require_kept_results()
    reports, documents = separated(asked_for, told["form"])
    return asked_for, reports, documents


def _journalled(
    settings: Settings, told: Mapping[str, Any], paths: tuple[str, ...], before: ResumableRun | None
) -> UnfinishedRun | None:
    """The run that goes on, or a new one; None where nothing is asked that is worth keeping."""
    if before is not None:
        require_same(before, settings)
        return before.run
    return begun(told, paths, settings) if worth_a_journal(settings) else None


def _prepared(settings: Settings) -> int:
    findings = list(prepared(settings))
    for found in findings:
        tell_finding(found)
    return exit_code(findings)


def _told_once(paths: tuple[str, ...], told: dict[str, Any]) -> None:
    """Raises InvalidSettings where things are asked for of which one would be ignored."""
    ways = {"PATH": paths, "--prompts": told["prompts"], "--evaluate-only": told["evaluate_only"]}
    reports = {"--output": told["output"], "--base": told["base"], "--expected": told["expected"]}
    if told["interactive"]:
        ways |= {"--interactive": True, "--watch": told["watched"], **reports}
    elif told["watched"]:  # it may watch any file that is named
        ways = {"--watch": True, "--prompts": told["prompts"], "--dry-run": told["dry_run"], **reports}
    given = [name for name, value in ways.items() if value]
    if len(given) > 1:
        raise InvalidSettings(f"{' and '.join(given)} do not go together; run them one after the other")
    opposites = (("quiet", "verbose"), ("no_judge", "judge"), ("no_judge", "judge_model"))
    for one, other in opposites:
        if told.get(one) and told.get(other):
            flags = " and ".join(f"--{name.replace('_', '-')}" for name in (one, other))
            raise InvalidSettings(f"{flags} say opposite things; leave one out")


def _suites(settings: Settings, told: dict[str, Any]) -> LoadedSuites:
    prompts, expected = list(told["prompts"]), list(told["expected"])
    if not prompts and not expected:
        if told["dry_run"]:
            return load_suites(settings)
        loaded = _found_or_created(settings)
        _upgrade_at_terminal(loaded, settings)
        return loaded
    if expected and len(expected) != len(prompts):
        raise InvalidSettings(
            f"--expected has {len(expected)} texts for {len(prompts)} of --prompts; they must be equally many"
        )
    unjudged = bool(expected) and (settings.no_judge or not settings.judges)
    defaults = eval_document.WITHOUT_A_JUDGE if unjudged else eval_document.SYSTEM_DEFAULTS
    if unjudged:
        say(f"No judge: the answers are scored by {', '.join(defaults)}.", err=True)
    suite = load_inline(prompts, expected, LoadOptions(), defaults=defaults)
    if suite.errors:
        raise InvalidSuite(suite.errors)
    return loading.LoadedSuites(suites=(suite,))


def _found_or_created(settings: Settings) -> LoadedSuites:
    """The suites; where there are none anywhere, at a terminal, a starter suite if it is wanted."""
    try:
        return load_suites(settings)
    except NoSuiteFound:
        if settings.suites or not suite_wanted(settings):
            raise
        return load_suites(settings)


def _upgrade_at_terminal(loaded: LoadedSuites, settings: Settings) -> None:
    """Writes suites of an older shape in the current one, backup first; only with somebody there to see it."""
    if not at_terminal():
        return

    for suite in loaded.suites:
        if suite.legacy:
            with suppress(InvalidSuite):  # what cannot be upgraded runs as it is
                say(upgrade_file(settings.repository / suite.path, suite.path), err=True)


def _set_logging(level: str | None) -> None:
    if level is not None:
        import logging  # only when asked for

        logging.basicConfig(stream=sys.stderr, level=level.upper(), format="%(levelname)s %(name)s: %(message)s")
