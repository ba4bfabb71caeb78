"""`runevals validate`: every problem of every suite, without calling anything."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runevals.cli import finish
from runevals.cli.options import or_kept, resolved_settings, results_option, settings_options
from runevals.lib.text.numbers import plural
from runevals.run.load import accepted_file, load_request, plan_of, require_usable_plugins
from runevals.suites import accepted

if TYPE_CHECKING:
    from runevals.records import FileProblem, Suite
    from runevals.settings.resolve import Settings
    from runevals.suites.health import Hint
    from runevals.suites.health.server_tools import ServerTools
    from runevals.suites.load import LoadedSuites
    from runevals.suites.problem_formats import ValidationResult

_LOST = {"lost-check": ("check", "lost"), "unknown-key": ("key", "not read")}  # by rules of warnings
MOST_RESULTS = 20  # of a folder, the newest


@click.command("validate")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@settings_options("config", "all", "evaluators")
@click.option("--evaluate-only", is_flag=True, help="Also require a response on every item and turn.")
@click.option("--health", is_flag=True, help="Also suggest improvements; the exit code does not change.")
@results_option("For --health: a past results document, or a folder of them")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "github", "json", "sarif"]),
    help="The format of problems: text, annotations of a pull request, JSON or SARIF 2.1.0. "
    "[default: github in a GitHub workflow, else text]",
)
def command(
    paths: tuple[str, ...],
    *,
    evaluate_only: bool,
    health: bool,
    results: tuple[Path, ...],
    form: str | None,
    **options: Any,
) -> None:
    """Check suites: every problem with its line, and the nearest known word.

    \b
    Examples:
      runevals validate evals/
      runevals validate --health --results main.json
      runevals validate --format sarif > runevals.sarif
    """
    from runevals.lib.terminal import say
    from runevals.records.errors import USAGE_ERROR, InvalidSettings, InvalidSuite
    from runevals.suites.load import LoadedSuites
    from runevals.suites.problem_formats import ValidationResult, as_problem

    if results and not health:
        raise InvalidSettings("--results is for --health; give both")
    findings: list[Hint] = []
    loaded: LoadedSuites | None = None
    problems: Sequence[FileProblem]
    try:
        settings = resolved_settings(options, paths=paths, evaluate_only=evaluate_only)
        require_usable_plugins()
        loaded, findings = _looked(settings, results if health else None)
        problems = loaded.problems
    except InvalidSuite as error:
        problems = error.problems
    form = form or ("github" if os.environ.get("GITHUB_ACTIONS") else "text")
    if form == "text":
        _tell(problems, loaded, _finding_lines(findings) if health else [])
    else:
        hints = map(as_problem, findings)
        whole = loaded or LoadedSuites(suites=())
        click.echo(_written(ValidationResult(problems=(*problems, *hints), suites=whole.suites), form))
        for notice in whole.notices if form == "github" else ():
            say(notice)
    if loaded is None:
        finish(USAGE_ERROR)


def _looked(settings: Settings, past: Sequence[Path] | None) -> tuple[LoadedSuites, list[Hint]]:
    """The suites, and with `past` suggested improvements. Raises InvalidSuite."""
    from runevals.sandbox import Sandbox
    from runevals.suites.load import read_suites, require_evaluators, require_suites, unusable_evaluators

    request = load_request(settings)
    require_evaluators(request)
    read, problems = read_suites(request)
    problems += _problems_of_lists(settings, read)
    with Sandbox(workers=1) as sandbox:
        loaded = require_suites(read, [*problems, *unusable_evaluators(read.cases, sandbox)])
        if settings.rules.gates:
            from runevals.run.preflight import require_gates

            require_gates(settings, loaded.suites)
        plan = plan_of(loaded, settings)
        if past is None:
            return loaded, []
        from runevals.reports.past_results import reports_in
        from runevals.run.strength.suite import measured
        from runevals.suites.health import findings

        reports = reports_in(or_kept(past), MOST_RESULTS)
        strength = measured(plan, settings, sandbox, reports, programs=False)
        return loaded, [*strength.weak, *findings(plan, reports, _server_tools(settings))]


def _problems_of_lists(settings: Settings, read: LoadedSuites) -> Iterator[FileProblem]:
    """Why the lists of quarantined cases and of accepted losses cannot be used."""
    from runevals.records.errors import InvalidSuite

    try:
        if settings.load.quarantine.is_file():
            from runevals.run.quarantine import quarantine_of

            yield from quarantine_of(settings, read.cases).problems
    except InvalidSuite as error:
        yield from error.problems
    path = accepted_file(settings)
    try:
        if path.is_file():
            accepted.read_entries(accepted.content_of(path), path.name)
    except InvalidSuite as error:
        yield from error.problems


def _server_tools(settings: Settings) -> ServerTools | None:
    """The tools of the MCP servers under test, which are started for this. Raises what they raise."""
    from runevals.programs.processes import in_use
    from runevals.records import Location
    from runevals.suites.health.server_tools import ServerTools
    from runevals.targets.openai import ModelTargetSettings

    target = settings.target
    tools = target.server_tools(settings.environment) if isinstance(target, ModelTargetSettings) else None
    if tools is None:
        return None
    file = getattr(settings.file, "display_name", "runevals.yaml")
    try:
        with in_use():
            descriptions = {name: tool.description for name, tool in tools.tools.items()}
            return ServerTools(descriptions=descriptions, location=Location(file=file))
    finally:
        tools.close()


def _written(result: ValidationResult, form: str) -> str:
    """The result in a format for programs, without secrets."""
    from runevals.github.annotations import as_annotations
    from runevals.lib.text.escape import log_json
    from runevals.lib.text.secrets import redacted, redactor
    from runevals.suites.problem_formats import as_json, as_sarif

    plain = redacted(result, redactor(os.environ))
    match form:
        case "github":
            return "\n".join([*as_annotations(plain), *map(_suite_line, plain.suites)])
        case "json":
            return log_json(as_json(plain))
        case _:
            return log_json(as_sarif(plain))


def _tell(problems: Sequence[FileProblem], loaded: LoadedSuites | None, hints: Sequence[str]) -> None:
    """The result as text: problems to stderr, the rest to stdout."""
    from runevals.lib.terminal import say
    from runevals.records.problem import problem_lines

    for line in problem_lines(problems):
        say(line, err=True)
    if loaded is None:
        say(f"✗ {plural(sum(one.level == 'error' for one in problems), 'error')}", err=True)
        return
    for suite in loaded.suites:
        say(_suite_line(suite))
    for line in (*loaded.notices, *hints):
        say(line)


def _suite_line(suite: Suite) -> str:
    from runevals.lib.terminal import terminal_text
    from runevals.suites.problem_formats import checks_of

    counted = f"{plural(len(suite.cases), 'case')}, {plural(checks_of(suite), 'check')}"
    rules = Counter(problem.rule for problem in suite.problems if problem.level == "warning")
    lost = [f"; {plural(rules[rule], noun)} {what}" for rule, (noun, what) in _LOST.items() if rules[rule]]
    return terminal_text(f"{'⚠' if lost else '✓'} {suite.path}: {counted} ({suite.dialect}){''.join(lost)}")


def _finding_lines(findings: Sequence[Hint]) -> list[str]:
    """One line per finding, at most a few of a kind, and their number."""
    from runevals.run.strength.suite import lines_of

    return [*lines_of(findings), f"health: {plural(len(findings), 'finding')}; they do not affect the exit code"]
