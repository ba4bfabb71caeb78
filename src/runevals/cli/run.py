"""`runevals run`: a complete run, locally or in CI."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from runevals.cli import finish, run_targets
from runevals.cli.answers import show_answers
from runevals.cli.browser import open_in_browser, open_option, page_of
from runevals.cli.help import GroupedCommand
from runevals.cli.options import environment_option, kept_folder, output_option, raw_settings, settings_options
from runevals.cli.output import (
    OutputResult,
    RunFiles,
    document_of,
    keep,
    keep_beside,
    kept_results,
    outputs_of,
    reported,
    require_kept_results,
    require_one_verdict,
    run_format_option,
)
from runevals.cli.plan import describe
from runevals.cli.preload import load_sdk_beside
from runevals.cli.progress import progress
from runevals.cli.run_projects import run_projects
from runevals.cli.terminal import warn
from runevals.cli.watch import watch
from runevals.github.this_job import change_event, require_own_code
from runevals.github.workflow import not_gated
from runevals.lib.storage.bucket import copy_to_bucket, is_in_bucket, require_bucket
from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import at_terminal, notice, say
from runevals.lib.text.numbers import plural, short_list
from runevals.records.errors import InvalidSettings, InvalidSuite, NoSuiteFound
from runevals.reports.next_steps import Where
from runevals.reports.publish import publish
from runevals.run import pipeline
from runevals.run.acceptance import with_waiting
from runevals.run.baseline.protected_side import protected_side
from runevals.run.export_suite import exportable, exported, separated
from runevals.run.live import judges_of
from runevals.run.load import plan_of, require_usable_plugins, suites_of
from runevals.run.preflight import require_present
from runevals.run.request import RunRequest
from runevals.run.resume.unfinished import journalled, unfinished
from runevals.run.shards.split import plan_of_shard
from runevals.run.targets import requests_of_each
from runevals.run.world.build_cache import require_cache
from runevals.settings.resolve import Settings, resolve
from runevals.suites import load as loading
from runevals.suites.dialects import LoadOptions, eval_document, eval_samples, load_inline
from runevals.suites.plan import judged_checks
from runevals.suites.upgrade import upgrade_file

if TYPE_CHECKING:
    from runevals.cli.progress import Detail
    from runevals.records import Conclusion
    from runevals.run.resume.unfinished import UnfinishedRun
    from runevals.settings.resolve import RawSettings
    from runevals.suites.load import LoadedSuites

_NO_VERDICT = ("dry_run", "init_only", "interactive", "watched")  # options with which there is none
NO_JUDGE = (
    "! No judge is configured: rubrics and judged assertions are left out, and only the other checks count. "
    "--judge-model MODEL asks one"
)


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
    help="Score the responses in FILE without calling the target.",
)
@output_option
@run_format_option
@open_option
@settings_options()
@environment_option
@click.option(
    "--base",
    metavar="REF",
    help="Run the merge base of HEAD and REF first, with its own suites and settings, and compare with it.",
)
@click.option(
    "--all-projects",
    is_flag=True,
    help="Run every folder that has a runevals.yaml on its own and exit with the worst exit code.",
)
@click.option(
    "--resume",
    metavar="[RUN]",
    is_flag=False,
    flag_value="",
    help="Resume an unfinished run (by default the newest) with the options it was started with.",
)
@click.option("--dry-run", is_flag=True, help="Show what would run without calling anything.")
@click.option(
    "--init-only", is_flag=True, help="Check that the sandbox and the folders are ready without running anything."
)
@click.option(
    "--watch", "watched", is_flag=True, help="Keep running: run affected cases again whenever a file changes."
)
@click.option("-q", "--quiet", is_flag=True, help="Print no progress.")
@click.option("-v", "--verbose", is_flag=True, help="Print a line for every finished trial.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    is_flag=False,
    flag_value="info",
    help="How much to log to stderr.",
)
def command(**options: Any) -> None:
    """Run suites against the target and judge the result.

    Without PATH, the suites of runevals.yaml run, or the first of prompts.json, evals.json and tests.json here
    or in ./evals/.

    \b
    Examples:
      runevals
      runevals evals/ --target openai:{openai} --baseline base.json
      runevals --prompts "What is Teams?" --expected "A collaboration platform"
    """
    if (level := options.pop("log_level")) is not None:
        import logging  # only when asked for

        logging.basicConfig(stream=sys.stderr, level=level.upper(), format="%(levelname)s %(name)s: %(message)s")
    paths = (*options.pop("paths"), *options.pop("prompts_file"))
    finish(run_projects(options, paths, execute) if options.pop("all_projects") else execute(options, paths))


def execute(options: dict[str, Any], paths: tuple[str, ...], project: RawSettings | None = None) -> int:
    """One run from flags to exit code. `project`: one of several, whose base is read already."""
    before = None if options["resume"] is None else unfinished(options["resume"], Path.cwd())
    if before is not None:
        set_options = {name: value for name, value in options.items() if value not in (None, (), False)}
        options, paths = {**options, **before.options, **set_options, "project": ""}, paths or before.paths
    evaluate_only: str | None = options.get("evaluate_only")
    words = raw_settings(
        options,
        paths=paths if evaluate_only is None else (evaluate_only,),
        evaluate_only=evaluate_only is not None,
    )
    _reject_conflicting_options(paths, options)
    require_one_verdict(options["form"], {f"--{name.replace('_', '-')}": options[name] for name in _NO_VERDICT})
    if options["prompts"] and words.flags.get("baseline") is None and options["base"] is None:
        words = replace(words, flags={**words.flags, "baseline": "none"})  # a stored base has other cases
    if project is None:
        require_own_code(words)
        words = replace(words, base_side=protected_side(words, change_event(words), options["base"]))
    else:
        words = replace(words, base_side=project.base_side)
    detail: Detail = "none" if options["quiet"] else "trials" if options["verbose"] else "counts"
    settings, display = resolve(words), partial(progress, detail=detail)
    require_usable_plugins()
    if options["init_only"]:
        return _prepared(settings)
    for sentence in (*not_gated(settings.cwd), *_replaced(settings)):  # at the repository's root
        notice(sentence)
    if options["interactive"]:
        from runevals.cli.interactive import interact

        interact(RunRequest(settings=settings, raw=words, progress=display))
        return 0
    if options["watched"]:
        watch(words, display)
    if not options["dry_run"]:
        load_sdk_beside(settings)
    loaded = _suites(settings, options)
    if options["dry_run"]:
        warn(loaded.problems)
        say(describe(plan_of_shard(loaded, settings), settings, words))
        return 0
    if _drops_judge(loaded, settings):
        say(NO_JUDGE, err=True)
        words = replace(words, flags={**words.flags, "no_judge": True})
        settings = replace(settings, no_judge=True)
    require_present(settings)
    request = RunRequest(settings=settings, suites=loaded, raw=words, base=options["base"], progress=display)
    return _run(request, options, partial(journalled, options, paths, before))


def _replaced(settings: Settings) -> Iterator[str]:
    """That `--target` takes the place of a target of the settings file, with its prompt and address."""
    own = settings.file_values.get("target", {})
    prompts = [name for name in ("prompt_file", "system_prompt", "system_prompt_file", "base_url") if name in own]
    if settings.origins["target"] == "--target" and prompts:
        yield f"--target replaces the target of the settings, and its {short_list(prompts)}; --model keeps them"


def _drops_judge(loaded: LoadedSuites, settings: Settings) -> bool:
    """Whether, at a terminal, samples are run without their judged checks because no judge is configured."""
    if not at_terminal() or settings.judges or settings.no_judge:
        return False
    samples = all(suite.dialect == eval_samples.NAME for suite in loaded.suites)
    return samples and judged_checks(plan_of(loaded, settings)) > 0


def _run(request: RunRequest, options: Mapping[str, Any], journal_for: Callable[..., UnfinishedRun | None]) -> int:
    """Runs each target that the settings name → the worst exit code. `journal_for` gets the settings of each."""
    settings, loaded = request.settings, request.suites
    requests, files = requests_of_each(request), _files(options)
    paths = files.outputs or files.default
    if several := len(requests) > 1:
        run_targets.require_possible(files, options)
    require_cache(settings)
    if options["opened"]:
        page_of(paths)
    if files.documents:
        exportable(loaded.suites)  # before any cost
    for suite in loaded.suites:
        if (settings.repository / suite.path).resolve() in {output.resolve() for output in files.outputs}:
            raise InvalidSettings(f"--output {suite.path} is the suite itself; it would be overwritten")
    of_each = [one.settings for one in requests]
    run = journal_for(*of_each)
    warn(loaded.problems)
    with nullcontext() if run is None else run.journal(*of_each) as journal:
        has_page = any(path.suffix == ".html" for path in paths)
        requests = [replace(one, journal=journal, has_page=has_page) for one in requests]
        measured = pipeline.run_each(requests, settings)
    conclusions = [with_waiting(conclusion, settings) for conclusion in measured]
    if several:
        where = _where(settings, options, paths)
        of_targets = dict(zip(settings.targets, conclusions, strict=True))
        done = run_targets.reported(of_targets, files, options, where, [] if settings.in_ci else files.default[:1])
    else:
        done = _reported(conclusions[0], files, options, request)
    if run is not None and (way := run.end(*conclusions, written=done.failure is None)):
        project = options.get("project", "")
        say(f"       Continue this run, if no file changes: {Where(enter=project).command(way)}")
    if options["opened"] and done.files:
        open_in_browser(page_of(done.files))
    return done.exit_code


def _reported(
    conclusion: Conclusion, files: RunFiles, options: Mapping[str, Any], request: RunRequest
) -> OutputResult:
    settings, outputs, form = request.settings, files.outputs, options["form"]
    answers_only = bool(options["prompts"]) and show_answers(conclusion)

    def write() -> Sequence[Path]:
        if not outputs:
            return [] if answers_only else keep(conclusion, files.default)
        if not settings.in_ci:
            keep_beside(conclusion, files.default[:1], outputs)
        publish(conclusion, files.reports, form=form)
        for path in files.documents:
            write_whole(path, exported(conclusion.report, exportable(request.suites.suites), settings))
        for address, path in files.copies.items():
            copy_to_bucket(path, address)
        return outputs

    done = reported(conclusion, write, _where(settings, options, outputs), screen=not answers_only, form=form)
    if files.copies and done.failure is None:
        say(f"       Copied to: {', '.join(files.copies)}")
    return done


def _where(settings: Settings, options: Mapping[str, Any], outputs: Sequence[Path]) -> Where | None:
    """Where a reader types: here; one of a log in CI elsewhere, with the job's document if it has one."""
    document = document_of(outputs, options["form"]) if settings.in_ci else ""
    if document is None:
        return None
    folder = os.path.relpath(settings.cwd.resolve(), settings.repository.resolve())
    return Where(folder=folder, enter=options.get("project", ""), document=document)


def _copies(names: Sequence[str]) -> dict[str, Path]:
    """Each output that is the address of a file in a bucket → its file here. Raises InvalidSettings."""
    copies: dict[str, Path] = {}
    for address in filter(is_in_bucket, names):
        file = kept_folder() / PurePosixPath(address).name
        if file in copies.values():
            raise InvalidSettings(f"--output: two files in buckets have the name {file.name}; rename one")
        require_bucket(address)
        copies[address] = file
    return copies


def _files(options: Mapping[str, Any]) -> RunFiles:
    """The files of the command line. Raises InvalidSettings."""
    copies = _copies(options["output"])
    outputs = outputs_of((copies.get(name, name) for name in options["output"]), options["form"])
    if not outputs:
        require_kept_results()
    reports, documents = separated(outputs, options["form"])
    return RunFiles(outputs=outputs, reports=reports, documents=documents, copies=copies, default=kept_results())


def _prepared(settings: Settings) -> int:
    from runevals.cli.doctor.checks import exit_code, prepared
    from runevals.cli.doctor.finding import print_finding

    findings = list(prepared(settings))
    for finding in findings:
        print_finding(finding)
    return exit_code(findings)


def _reject_conflicting_options(paths: tuple[str, ...], options: dict[str, Any]) -> None:
    """Raises InvalidSettings if one option would silently override another."""
    ways = {"PATH": paths, "--prompts": options["prompts"], "--evaluate-only": options["evaluate_only"]}
    reports = {"--output": options["output"], "--base": options["base"], "--expected": options["expected"]}
    if options["interactive"]:
        ways |= {"--interactive": True, "--watch": options["watched"], **reports}
    elif options["watched"]:  # it may watch any file
        ways = {"--watch": True, "--prompts": options["prompts"], "--dry-run": options["dry_run"], **reports}
    used = list(filter(ways.get, ways))
    if len(used) > 1:
        raise InvalidSettings(f"{' and '.join(used)} do not go together; run them one after the other")
    for one, other in (("quiet", "verbose"), ("no_judge", "judge"), ("no_judge", "judge_model")):
        if options.get(one) and options.get(other):
            flags = " and ".join(f"--{name.replace('_', '-')}" for name in (one, other))
            raise InvalidSettings(f"{flags} say opposite things; leave one out")


def _suites(settings: Settings, options: dict[str, Any]) -> LoadedSuites:
    prompts, expected = list(options["prompts"]), list(options["expected"])
    if not prompts and not expected:
        if options["dry_run"]:
            return suites_of(settings)
        loaded = _found_or_created(settings)
        return suites_of(settings) if _upgraded_at_terminal(loaded, settings) else loaded
    if expected and len(expected) != len(prompts):
        raise InvalidSettings(
            f"{plural(len(expected), 'text')} of --expected for {plural(len(prompts), 'text')} of --prompts; "
            "give one for each prompt"
        )
    if judges_of(settings):
        defaults = eval_document.SYSTEM_DEFAULTS
    elif expected:
        defaults = eval_document.WITHOUT_A_JUDGE
        say(f"No judge: the answers are scored by {', '.join(defaults)}.", err=True)
    else:
        defaults = {}
    suite = load_inline(prompts, expected, LoadOptions(), defaults=defaults)
    if suite.errors:
        raise InvalidSuite(suite.errors)
    return loading.LoadedSuites(suites=(suite,))


def _found_or_created(settings: Settings) -> LoadedSuites:
    """The suites; if there are none, offers a starter suite at a terminal."""
    try:
        return suites_of(settings)
    except NoSuiteFound:
        from runevals.cli.init.scaffold import suite_wanted

        if settings.load.suites or not suite_wanted(settings):
            raise
        return suites_of(settings)


def _upgraded_at_terminal(loaded: LoadedSuites, settings: Settings) -> bool:
    """Converts suites of an older format, with a backup; only at a terminal. Returns whether there are any."""
    legacy = [suite for suite in loaded.suites if suite.legacy and at_terminal()]
    for suite in legacy:
        with suppress(InvalidSuite):  # what cannot be upgraded runs as it is
            say(upgrade_file(settings.repository / suite.path, suite.path), err=True)
    return bool(legacy)
