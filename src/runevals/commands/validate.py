"""`runevals validate`: every problem of every suite, without calling anything."""

from __future__ import annotations

from typing import Any

import click

from runevals.commands import finish
from runevals.commands.options import settings_options, settled
from runevals.wording import plural


@click.command("validate")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@settings_options("config", "all", "evaluators")
@click.option("--evaluate-only", is_flag=True, help="Also ask for a response on every item and turn.")
def command(paths: tuple[str, ...], *, evaluate_only: bool, **told: Any) -> None:
    """Check suites: every problem with its line, and the nearest right word.

    \b
    Example:
      runevals validate evals/
    """
    from runevals.commands.telling import shown
    from runevals.errors import TOLD_WRONG, InvalidSuite
    from runevals.loading import load_suites, rehearse
    from runevals.plan import make_plan
    from runevals.sandbox import Sandbox

    settings = settled(told, paths=paths, evaluate_only=evaluate_only)
    try:
        loaded = load_suites(settings)
        with Sandbox(workers=1) as sandbox:
            rehearse(make_plan(loaded.suites, settings), sandbox)
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
    for notice in loaded.notices:
        click.echo(shown(notice))
