"""`runevals judge`: calibration and attacks of the judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from runevals.cli import finish
from runevals.cli.options import environment_option, resolved_settings, settings_options
from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import say
from runevals.records.errors import COULD_NOT_MEASURE, GATE_FAILED, PASSED

_JUDGE = settings_options("judge", "judge_model", "judge_concurrency", "cache", "config")


@click.group("judge")
def command() -> None:
    """Compare the judge with people, or attack it.

    \b
    Examples:
      runevals judge calibrate gold.jsonl
      runevals judge check
    """


@command.command("calibrate")
@click.argument("gold", metavar="GOLD")
@click.option("--evaluator", metavar="NAME", help="The evaluator for rows that name none.")
@click.option(
    "--min-alpha",
    type=click.FloatRange(-1, 1),
    metavar="N",
    help="Exit with 1 if alpha is lower, and with 3 if an answer was not judged.",
)
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Also write it as JSON.")
@_JUDGE
@environment_option
def calibrate(
    gold: str, evaluator: str | None, min_alpha: float | None, output: Path | None, **options: Any
) -> None:
    """Compare the judge's scores with people's: kappa, alpha, correlation and shift, with 95 % intervals.

    GOLD holds scored answers as JSON, YAML, JSON Lines or CSV: input, output, evaluator and score (or scores, of
    several people), and expected, context or rubric where the evaluator looks at them.

    \b
    Example:
      runevals judge calibrate gold.jsonl --evaluator Relevance --judge MODEL
    """
    from runevals.cli.progress import progress
    from runevals.run.judge_trials.calibrate import calibrated, described, plain

    calibrations = calibrated(gold, evaluator, resolved_settings(options), progress)
    for line in described(calibrations):
        say(line)
    if output is not None:
        write_whole(output, json.dumps(plain(calibrations), indent=1, ensure_ascii=False) + "\n")
    if any(each.judged == 0 for each in calibrations):
        finish(COULD_NOT_MEASURE)
    if min_alpha is None:
        finish(PASSED)
    if any(each.alpha.value is None or each.alpha.value < min_alpha for each in calibrations):
        finish(GATE_FAILED)
    finish(COULD_NOT_MEASURE if any(each.judged < each.answers for each in calibrations) else PASSED)


@command.command("check")
@click.option(
    "--evaluator", metavar="NAME", default="Relevance", help="The evaluator to attack. [default: Relevance]"
)
@click.option(
    "--times", type=click.IntRange(1, 25), default=3, help="How often each answer is judged. [default: 3]"
)
@_JUDGE
@environment_option
def check(evaluator: str, times: int, **options: Any) -> None:
    """Judge a bad answer with and without attacks on the judge, and count the attacks that raise its score.

    Exits with 1 where an attack makes the bad answer pass, or where it passes by itself. It takes
    (attacks + 1) × times calls.

    \b
    Example:
      runevals judge check --judge MODEL
    """
    from runevals.cli.progress import progress
    from runevals.run.judge_trials.attack import attacked, described

    outcome = attacked(evaluator, times, resolved_settings(options), progress)
    for line in described(outcome):
        say(line)
    if outcome.unmeasured:
        finish(COULD_NOT_MEASURE)
    finish(GATE_FAILED if outcome.got_through or outcome.plain.passed else PASSED)
