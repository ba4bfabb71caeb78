"""`runevals ablate`: which lines of a passing prompt or skill change nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from runevals.cli import finish
from runevals.cli.blame import exit_code_of, require_local
from runevals.cli.help import GroupedCommand
from runevals.cli.options import environment_option, raw_settings, settings_options
from runevals.cli.progress import progress
from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import say
from runevals.run.ablate.search import ablated, described
from runevals.run.load import plan_of, require_usable_plugins
from runevals.run.request import RunRequest
from runevals.run.strength.suite import headline, measured
from runevals.run.world.build import may_be_reduced
from runevals.sandbox import Sandbox
from runevals.settings.resolve import resolve


@click.command("ablate", cls=GroupedCommand)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--suite", multiple=True, metavar="PATH", help="The suites, if not those of the settings; repeatable."
)
@click.option(
    "--patch",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the smallest prompt as a patch for `git apply`.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no progress.")
@settings_options()
@environment_option
def command(
    files: tuple[str, ...], suite: tuple[str, ...], patch: Path | None, *, quiet: bool, **options: Any
) -> None:
    """Find the lines of a passing prompt or skill that change nothing.

    Sentences and list items of FILE (default: the prompts and skills of the settings) are taken out in groups, in
    a worktree, and all cases run without them.

    \b
    Examples:
      runevals ablate
      runevals ablate prompts/support.md --patch smaller.patch
      runevals ablate --max-cost 2 --filter "refund*"
    """
    words = raw_settings(options, paths=suite)
    require_local(words, "ablate")
    settings = resolve(words)
    require_usable_plugins()
    request = RunRequest.limited(settings, words, partial(progress, detail="none" if quiet else "counts"))
    report = ablated(request, files)
    with Sandbox(reduced=may_be_reduced(settings)) as sandbox:
        strength = measured(plan_of(request.suites, settings), settings, sandbox, (), programs=False)
    for line in (*described(report), headline(strength)):
        say(line)
    if patch is not None and report.patch:
        write_whole(patch, report.patch)
        say(f"Written: {patch}; git apply {patch}")
    finish(exit_code_of(request))
