"""`runevals gate`: the results of another tool → verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from runevals.cli.help import GroupedCommand
from runevals.cli.options import environment_option, output_option, raw_settings, settings_options
from runevals.cli.output import finish_with, outputs_of, verdict_format_option
from runevals.github.this_job import change_event
from runevals.lib.terminal import notice
from runevals.records.errors import GATE_FAILED
from runevals.run import pipeline
from runevals.run.acceptance import with_waiting
from runevals.run.baseline.protected_side import protected_side
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.load import change_began_at
from runevals.run.request import RunRequest
from runevals.run.tool_results import ResultsRequest, report_of_tool
from runevals.settings.resolve import resolve

_UNNAMED = "name its results with `--baseline FILE` (`--baseline none` compares with nothing)"


@click.command("gate", cls=GroupedCommand)
@click.argument("results", nargs=-1, required=True, metavar="RESULTS...", type=click.Path(path_type=Path))
@output_option
@verdict_format_option
@click.option(
    "--deterministic/--stochastic",
    default=None,
    help="What ran gives the same result each time, so that every newly failing case is a loss, or it does not. "
    "By default, JUnit XML in which no test has two outcomes does.",
)
@click.option(
    "--parameters-are-attempts",
    is_flag=True,
    help="Of JUnit XML: read test_x[1] and test_x[2] as two attempts of test_x.",
)
@click.option("--base", metavar="REF", help="Take the rules from the merge base of HEAD and REF.")
@settings_options(
    *("config", "baseline", "min_pass_rate", "fail_on", "alpha", "min_effect", "mark"),
    *("on_unknown", "category", "tag", "filter", "redact", "columns"),
)
@environment_option
def command(
    results: tuple[Path, ...],
    output: tuple[str, ...],
    form: str,
    *,
    deterministic: bool | None,
    parameters_are_attempts: bool,
    base: str | None,
    **options: Any,
) -> None:
    """Compare the RESULTS of another tool with those of the base; the exit code is a run's.

    RESULTS are files, or folders of them: promptfoo (JSON), Inspect (.eval, JSON), DeepEval, agentv, waza, Vally,
    Harbor, pydantic-evals, skill-creator, JUnit XML of any test runner, and plain rows as JSON Lines or CSV
    (LangSmith). Their content tells which. Several runs of a case are its attempts. --baseline is a results
    document of ours, or results of the same tool.

    \b
    Examples:
      runevals gate output.json -o results.json
      runevals gate junit.xml --baseline main/junit.xml
    """
    outputs, words = outputs_of(output, form, results, "results"), raw_settings(options)
    words = replace(words, base_side=protected_side(words, change_event(words), base))
    read = ResultsRequest(
        paths=results, deterministic=deterministic, parameters_are_attempts=parameters_are_attempts
    )
    settings = read.settings(resolve(words))
    unnamed = base is not None and settings.origins["baseline"] == "default"
    stored = StoredBase(commit=change_began_at(settings), unreadable=_UNNAMED) if unnamed else None
    request = RunRequest(settings=settings, raw=words, stored=stored)
    conclusion = pipeline.gate(report_of_tool(read, settings), request, deterministic=deterministic)
    conclusion = with_waiting(conclusion, settings)

    comparison = conclusion.comparison
    if settings.compare.baseline is None:
        notice("Nothing is compared: name the base's results with --baseline")
    elif (
        deterministic is None
        and comparison is not None
        and not comparison.deterministic
        and comparison.of_kind("regressed") != comparison.lost_cases
        and conclusion.verdict.exit_code != GATE_FAILED
    ):
        notice("If nothing in these cases is random, --deterministic makes every newly failing case a loss")
    finish_with(conclusion, outputs, form, keeps=not settings.in_ci)
