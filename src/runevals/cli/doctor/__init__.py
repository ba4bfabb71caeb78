"""`runevals doctor`: what a run needs, whether it is there, and how to mend what is not."""

from __future__ import annotations

from typing import Any

import click

from runevals.cli import finish
from runevals.cli.doctor.checks import diagnosis, exit_code
from runevals.cli.doctor.finding import tell_finding
from runevals.cli.help import GroupedCommand
from runevals.cli.options import environment_option, settings_options, told_by


@click.command("doctor", cls=GroupedCommand)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@settings_options()
@environment_option
@click.option("--call", is_flag=True, help="Also ask target and judge one short question each.")
def command(paths: tuple[str, ...], *, call: bool, **told: Any) -> None:
    """Check what a run needs: ✓ is there, ✗ is missing (with its fix), – is not needed or not known.

    Nothing is asked of a model, and no program of yours is run, without --call. Exits with 0 where a run could
    work, 2 if the command, settings or suites are wrong, 3 where something outside does not answer.

    \b
    Examples:
      runevals doctor
      runevals doctor --call --target openai:gpt-5-mini
    """
    findings = []
    for found in diagnosis(told_by(told, paths=paths), call=call):
        findings.append(found)
        tell_finding(found)
    finish(exit_code(findings))
