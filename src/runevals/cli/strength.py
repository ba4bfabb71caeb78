"""`runevals strength`: how much of what could go wrong the suites would notice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from runevals.cli import finish
from runevals.cli.help import GroupedCommand
from runevals.cli.options import environment_option, or_kept, resolved_settings, results_option, settings_options
from runevals.cli.progress import progress
from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import say
from runevals.lib.text.numbers import plural
from runevals.records.errors import GATE_FAILED, PASSED
from runevals.reports.badge import of_strength
from runevals.reports.past_results import reports_in
from runevals.run.load import plan_of, require_usable_plugins, suites_of
from runevals.run.strength.measure import Strength
from runevals.run.strength.suite import described, judged, measured, plain, within_calls
from runevals.run.world.budget import Budget, Stop
from runevals.run.world.build import may_be_reduced, require_judge
from runevals.sandbox import Sandbox
from runevals.settings.resolve import Settings
from runevals.suites.plan import RunPlan

MOST_RESULTS = 5  # of a folder, the newest


@click.command("strength", cls=GroupedCommand)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@results_option("A results document with right answers, or a folder of them")
@click.option("--ask-judge", is_flag=True, help="Also ask the judge about what no code notices.")
@click.option("--min", "least", type=click.FloatRange(0, 1), metavar="SHARE", help="Exit with 1 if it is lower.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Also write it as JSON.")
@click.option(
    "--badge", metavar="FILE", type=click.Path(path_type=Path), help="Write a badge for shields.io, FILE.json."
)
@settings_options()
@environment_option
def command(
    paths: tuple[str, ...],
    results: tuple[Path, ...],
    least: float | None,
    output: Path | None,
    badge: Path | None,
    *,
    ask_judge: bool,
    **options: Any,
) -> None:
    """Ask the checks about wrong answers: how many are noticed, and which check passes one?

    Nothing is sent, and the target is not called. Right answers are taken from results, recorded answers and
    expected texts; each is made wrong by one edit.

    \b
    Examples:
      runevals strength
      runevals strength evals/ --results main.json --min 0.8 --badge strength.json
      runevals strength --ask-judge --max-cost 0.50
    """
    settings = resolved_settings(options, paths=paths)
    require_usable_plugins()
    plan = plan_of(suites_of(settings), settings)
    strength = measured_here(plan, settings, results)
    if ask_judge and strength.to_judge:
        require_judge(plan, settings, or_without=False)
        say(f"The judge is asked about {plural(len(within_calls(strength, settings)), 'wrong answer')}.")
        budget = Budget(settings.measure.limits, Stop())
        strength = judged(strength, settings, partial(progress, detail="counts"), budget)
    for line in described(strength):
        say(line)
    if output is not None:
        write_whole(output, json.dumps(plain(strength), indent=1, ensure_ascii=False) + "\n")
    share = strength.noticed.value
    if badge is not None:
        write_whole(badge, of_strength(share))
    finish(GATE_FAILED if least is not None and share is not None and share < least else PASSED)


def measured_here(plan: RunPlan, settings: Settings, results: Sequence[Path] = ()) -> Strength:
    """The strength by code, with the right answers of these results or of the newest runs."""
    past = reports_in(or_kept(results), MOST_RESULTS)
    with Sandbox(reduced=may_be_reduced(settings)) as sandbox:
        return measured(plan, settings, sandbox, past, programs=True)
