"""`runevals compare`: two results documents → verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from runevals.cli.help import GroupedCommand
from runevals.cli.options import environment_option, output_option, raw_settings, settings_options
from runevals.cli.output import finish_with, outputs_of, verdict_format_option
from runevals.github.this_job import change_event
from runevals.run.baseline.protected_side import protected_side
from runevals.run.compare import compare
from runevals.settings.resolve import ignored_changes, resolve


@click.command("compare", cls=GroupedCommand)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("head", type=click.Path(path_type=Path))
@output_option
@verdict_format_option
@click.option(
    "--rejudge", is_flag=True, help="Judge the answers in both documents again, with the current suites and judge."
)
@settings_options("config", "min_pass_rate", "fail_on", "alpha", "min_effect", "judge", "judge_model", "no_judge")
@environment_option
def command(base: Path, head: Path, output: tuple[str, ...], form: str, *, rejudge: bool, **options: Any) -> None:
    """Compare the results document HEAD with BASE; the exit code is a run's.

    \b
    Examples:
      runevals compare main.json branch.json --output comparison.md
      runevals compare --rejudge --judge {openai judge} main.json branch.json
    """
    from msgspec.structs import replace

    outputs, words = outputs_of(output, form), raw_settings(options)
    words = replace(words, base_side=protected_side(words, change_event(words)))
    if not rejudge:
        finish_with(compare(base, head, resolve(words), ignored_changes(words)), outputs, form)
    from runevals.cli.progress import progress
    from runevals.run import pipeline  # most comparisons run nothing
    from runevals.run.request import RunRequest

    request = RunRequest(settings=resolve(words), raw=words, progress=progress)
    finish_with(pipeline.rejudge(base, head, request), outputs, form)
