"""`runevals models`: when the models of target and judge end, and what replaces them."""

from __future__ import annotations

from typing import Any

import click

from runevals.cli.help import GroupedCommand
from runevals.cli.options import environment_option, resolved_settings, settings_options
from runevals.lib.terminal import say
from runevals.lib.text.numbers import phrase
from runevals.models.facts import end_of_model
from runevals.run.provenance import endpoints


@click.command("models", cls=GroupedCommand)
@settings_options("config", "target", "model", "judge", "judge_model", "no_judge")
@environment_option
@click.option(
    "--replacement",
    is_flag=True,
    help="Print only what replaces the target's model; nothing if no end is announced.",
)
def command(*, replacement: bool, **options: Any) -> None:
    """Show when the models of target and judge end, and what replaces them.

    The dates are those that providers had announced when this version was made. `runevals doctor --call` also asks
    the provider.

    \b
    Examples:
      runevals models
      runevals models --replacement --target openai:{openai}
    """
    settings = resolved_settings(options)
    if replacement:
        row = None if settings.target is None else end_of_model(settings.target.type, settings.target.model)
        if row is not None and row.replacement:
            say(row.replacement)
        return
    for endpoint in endpoints(settings):
        row, end = end_of_model(endpoint.type, endpoint.model), "no end is announced"
        if row is not None:
            instead = phrase(row.replacement, "; replacement {}")
            end = f"ends on {row.ends_on} (read on {row.read_on}: {row.source}){instead}"
        say(f"{endpoint.type}:{endpoint.model}  {end}")
