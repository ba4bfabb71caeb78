"""`runevals init`: a first suite, settings and workflow, and the first run."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from typing import Any

import click

from runevals.cli.init.scaffold import Scaffold, begin, begin_below, begin_gate, own_project
from runevals.cli.options import resolved_settings, settings_options
from runevals.cli.plan import command as plan
from runevals.cli.run import command as run
from runevals.cli.strength import measured_here
from runevals.cli.validate import command as validate
from runevals.github.workflow import GATED
from runevals.lib.terminal import say
from runevals.run.load import plan_of, suites_of
from runevals.run.strength.suite import headline


@click.command("init")
@settings_options("target", "judge")
@click.option("--github", is_flag=True, help="Also write a workflow that runs the suite on pull requests.")
@click.option("--prompt-file", metavar="FILE", help="The file with the prompt to test.")
@click.option(
    "--gate",
    "tool",
    type=click.Choice(list(GATED)),
    metavar="TOOL",
    help=f"Only write a workflow that gates the results of {', '.join(GATED)}.",
)
@click.option("-y", "--yes", is_flag=True, help="Ask no questions.")
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    github: bool,
    prompt_file: str | None,
    tool: str | None,
    yes: bool,
    **options: Any,
) -> None:
    """Write a first suite, settings and .gitignore lines, and run it once. No file is ever overwritten.

    It proposes three cases from the prompt's file, to be replaced by yours. Without a terminal, in CI and with
    --yes nothing is asked.

    \b
    Examples:
      runevals init
      runevals init --yes --target python:agent.py:answer --github
      runevals init --gate promptfoo
    """
    instead = list(begin_gate(tool) if tool else begin_below(options, prompt_file, github=github))
    for line in instead:
        say(line)
    if instead:
        return
    own, here = own_project(options, prompt_file), Path.cwd()
    if own is not None:
        context.with_resource(chdir(own.parent))
        prompt_file = own.name
    begun: Scaffold = begin(options, prompt_file, github=github, asks=not yes, here=here)
    try:
        if begun.why_not is None:
            _run(context, begun)
        else:
            say(f"\nNot run yet: {begun.why_not}. This is what would run:\n")
            context.invoke(validate, paths=begun.paths)
            say()
            context.invoke(plan, paths=begun.paths, **begun.options)
    finally:  # a first run that fails needs the next step most
        for line in begun.next_steps:
            say(line)


def _run(context: click.Context, begun: Scaffold) -> None:
    say("\nThe first run:\n")
    try:
        # Only to see that it works, as every run costs.
        context.invoke(run, paths=begun.paths, **begun.options, repeat=1)
    except click.exceptions.Exit as ended:
        if ended.exit_code != 0:
            raise
    settings = resolved_settings(begun.options, paths=begun.paths)
    strength = measured_here(plan_of(suites_of(settings), settings), settings)
    say(f"\n{headline(strength)}; runevals strength says which are not")
