"""`runevals judge`: how far the judge can be trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from runevals.cli import finish
from runevals.cli.options import environment_option, settings_options, settled
from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import say
from runevals.records.errors import COULD_NOT_MEASURE, GATE_FAILED, PASSED

_JUDGE = settings_options("judge", "judge_model", "judge_concurrency", "cache", "config")


@click.group("judge")
def command() -> None:
    """Hold the judge against people, or against attacks.

    \b
    Examples:
      runevals judge calibrate gold.jsonl
      runevals judge check
    """


@command.command("calibrate")
@click.argument("gold", metavar="GOLD")
@click.option("--evaluator", metavar="NAME", help="The evaluator of answers that name none.")
@click.option("--min-alpha", type=click.FloatRange(-1, 1), metavar="N", help="Exit 1 where alpha is lower.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Also write it as JSON.")
@_JUDGE
@environment_option
def calibrate(gold: str, evaluator: str | None, min_alpha: float | None, output: Path | None, **told: Any) -> None:
    """Compare the judge's scores with people's: kappa, alpha, correlation and shift, with 95 % intervals.

    GOLD holds scored answers as JSON, YAML, JSON Lines or CSV: input, output, evaluator and score (or scores, of
    several people), and expected, context or rubric where the evaluator looks at them.

    \b
    Example:
      runevals judge calibrate gold.jsonl --evaluator Relevance --judge gpt-5
    """
    from runevals.cli.progress import progress
    from runevals.run.judge_trials.calibrate import calibrated, described, plain

    found = calibrated(gold, evaluator, settled(told), progress)
    for line in described(found):
        say(line)
    if output is not None:
        write_whole(output, json.dumps(plain(found), indent=1, ensure_ascii=False) + "\n")
    if any(each.judged == 0 for each in found):
        finish(COULD_NOT_MEASURE)
    low = min_alpha is not None and any(each.alpha.value is None or each.alpha.value < min_alpha for each in found)
    finish(GATE_FAILED if low else PASSED)


@command.command("check")
@click.option("--evaluator", metavar="NAME", default="Relevance", help="What is asked. [default: Relevance]")
@click.option(
    "--times", type=click.IntRange(1, 25), default=3, help="How often each answer is judged. [default: 3]"
)
@_JUDGE
@environment_option
def check(evaluator: str, times: int, **told: Any) -> None:
    """Have a bad answer judged as it is, and with attacks on the judge added: how many of them raise its score?

    Exits with 1 where an attack makes the bad answer pass, or where it passes by itself. It takes
    (attacks + 1) × times calls.

    \b
    Example:
      runevals judge check --judge gpt-5-mini
    """
    from runevals.cli.progress import progress
    from runevals.run.judge_trials.attack import attacked, described

    found = attacked(evaluator, times, settled(told), progress)
    for line in described(found):
        say(line)
    if found.unmeasured:
        finish(COULD_NOT_MEASURE)
    finish(GATE_FAILED if found.got_through or found.plain.passed else PASSED)
