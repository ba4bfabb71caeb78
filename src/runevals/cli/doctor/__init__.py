"""`runevals doctor`: checks what a run needs, and shows how to fix what is missing."""

from __future__ import annotations

from typing import Any

import click

from runevals.cli import finish
from runevals.cli.doctor.checks import diagnosis, exit_code
from runevals.cli.doctor.finding import print_finding
from runevals.cli.help import GroupedCommand
from runevals.cli.options import MODELS, SUITES, environment_option, raw_settings, settings_options


@click.command("doctor", cls=GroupedCommand)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@settings_options(*SUITES, *MODELS, "shard", "baseline", "cache", "sandbox")
@environment_option
@click.option("--call", is_flag=True, help="Also send one short question to target and judge.")
def command(paths: tuple[str, ...], *, call: bool, **options: Any) -> None:
    """Check what a run needs: ✓ is there, ✗ is missing (with its fix), – is not needed or not known.

    Without --call no model is called and no program of yours is run. Exits with 0 if a run could work, 2 if the
    command, settings or suites are wrong, 3 if a service does not respond.

    \b
    Examples:
      runevals doctor
      runevals doctor --call --target openai:{openai}
    """
    findings = []
    for finding in diagnosis(raw_settings(options, paths=paths), call=call):
        findings.append(finding)
        print_finding(finding)
    finish(exit_code(findings))
