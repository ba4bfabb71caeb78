"""`runevals validate`: every problem of every suite, without calling anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runevals.commands import finish
from runevals.commands.kept import newest, readable
from runevals.commands.options import KEPT_RESULTS, settings_options, settled
from runevals.wording import plural

if TYPE_CHECKING:
    from runevals.health import Finding
    from runevals.records import RunReport

MOST_RESULTS = 20  # of a folder, the newest
MOST_OF_A_KIND = 50


@click.command("validate")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@settings_options("config", "all", "evaluators")
@click.option("--evaluate-only", is_flag=True, help="Also ask for a response on every item and turn.")
@click.option("--health", is_flag=True, help="Also say what could be better; it changes no exit code.")
@click.option(
    "--results",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="DOC",
    help="For --health: a past results document, or a folder of them; repeatable. "
    f"[default: {KEPT_RESULTS.as_posix()}]",
)
def command(
    paths: tuple[str, ...], *, evaluate_only: bool, health: bool, results: tuple[Path, ...], **told: Any
) -> None:
    """Check suites: every problem with its line, and the nearest right word.

    \b
    Examples:
      runevals validate evals/
      runevals validate --health --results main.json
    """
    from runevals.commands.telling import shown
    from runevals.errors import TOLD_WRONG, InvalidSettings, InvalidSuite
    from runevals.loading import load_suites, rehearse
    from runevals.plan import make_plan
    from runevals.sandbox import Sandbox

    if results and not health:
        raise InvalidSettings("--results is for --health; give both")
    settings = settled(told, paths=paths, evaluate_only=evaluate_only)
    found: list[str] = []
    try:
        loaded = load_suites(settings)
        with Sandbox(workers=1) as sandbox:
            plan = make_plan(loaded.suites, settings)
            rehearse(plan, sandbox)
            if health:
                from runevals.health import findings

                found = _told(findings(plan, sandbox, _past(results)))
    except InvalidSuite as error:
        for problem in error.problems:
            click.echo(shown(str(problem)), err=True)
        errors = sum(problem.level == "error" for problem in error.problems)
        click.echo(f"✗ {plural(errors, 'error')}", err=True)
        finish(TOLD_WRONG)
    for problem in loaded.problems:
        click.echo(shown(str(problem)), err=True)
    for suite in loaded.suites:
        checks = sum(len(turn.checks) for case in suite.cases for turn in case.turns)
        click.echo(
            f"✓ {suite.path}: {plural(len(suite.cases), 'case')}, {plural(checks, 'check')} ({suite.dialect})"
        )
    for line in (*loaded.notices, *found):
        click.echo(shown(line))


def _told(found: Sequence[Finding]) -> list[str]:
    """A line a finding, the number of those of a kind that are left out, and how many there are."""
    lines: list[str] = []
    for kind in dict.fromkeys(finding.kind for finding in found):
        alike = [str(finding) for finding in found if finding.kind == kind]
        lines += alike[:MOST_OF_A_KIND]
        if len(alike) > MOST_OF_A_KIND:
            lines.append(f"… and {len(alike) - MOST_OF_A_KIND} more: {kind}")
    return [*lines, f"health: {plural(len(found), 'finding')}; they inform, and decide nothing"]


def _past(named: Sequence[Path]) -> list[RunReport]:
    """The reports of the documents named, and of those of folders that are some."""
    from runevals.document import read

    reports = []
    for path in named or ([KEPT_RESULTS] if KEPT_RESULTS.is_dir() else []):
        if path.is_dir():
            reports += [past.report for _, past in readable(newest(path, MOST_RESULTS))]
        else:
            reports.append(read(path))
    return reports
