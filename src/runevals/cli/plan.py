"""`runevals plan`: what would run."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import click

from runevals.cli.help import GroupedCommand
from runevals.cli.options import MODELS, SUITES, environment_option, raw_settings, settings_options
from runevals.lib.terminal import say
from runevals.lib.text.escape import log_json
from runevals.lib.text.numbers import phrase, plural
from runevals.run.cost_estimate import estimated_cost
from runevals.run.default_target import with_target
from runevals.run.load import suites_of
from runevals.run.shards.split import plan_of_shard
from runevals.settings.resolve import RawSettings, Settings, each_target, resolve
from runevals.suites.plan import RunPlan, judged_checks, most_prompts
from runevals.suites.shard import shards_of


@click.command("plan", cls=GroupedCommand)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@settings_options(*SUITES, *MODELS, "shard", "repeat", "baseline", "against")
@environment_option
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="The format of the output."
)
@click.option(
    "--cases-per-shard",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="How many cases each shard of --format json has.",
)
def command(paths: tuple[str, ...], *, form: str, cases_per_shard: int, **options: Any) -> None:
    """Show what would run: cases, checks and calls, and about what they cost.

    \b
    Examples:
      runevals plan evals/ --repeat 3
      runevals plan --format json --cases-per-shard 50
    """
    raw = raw_settings(options, paths=paths)
    settings = resolve(raw)
    loaded = suites_of(settings)
    plan = plan_of_shard(loaded, settings)
    if form == "json":
        click.echo(log_json(json.dumps(as_json(plan, settings, cases_per_shard), indent=1)))
        return
    say("\n".join((describe(plan, settings, raw), *loaded.notices)))


def as_json(plan: RunPlan, settings: Settings, cases_per_shard: int) -> dict[str, object]:
    """The plan's numbers, and the shards for a matrix of jobs."""
    target_calls, judge_calls = _calls(plan, settings)
    cost = estimated_cost(plan, settings, target_calls, judge_calls)
    return {
        "suites": [
            {"path": suite.path, "dialect": suite.dialect, "cases": len(suite.cases)} for suite in plan.suites
        ],
        "cases": len(plan.cases),
        "left_out": plan.excluded,
        "attempts": plan.repeat,
        "target_calls": target_calls,
        "judge_calls": judge_calls,
        "cost_usd": cost.target_usd,
        "judge_cost_usd": cost.judge_usd,
        "shards": [str(shard) for shard in shards_of(len(plan.cases), cases_per_shard)],
    }


def describe(plan: RunPlan, settings: Settings, raw: RawSettings) -> str:
    """The plan as text: suites, cases by category, checks by evaluator, calls, and what each target costs."""
    settings = with_target(settings, plan.suites)
    target_calls, judge_calls = _calls(plan, settings)
    target = "none yet" if settings.target is None else settings.target.model or settings.target.type
    target, each = (", ".join(settings.targets), " each") if settings.targets else (target, "")
    lines = [f"{suite.path}  {plural(len(suite.cases), 'case')}  ({suite.dialect})" for suite in plan.suites]
    categories = Counter(case.category for case in plan.cases if case.category)
    evaluators = Counter(check.id for check in plan.checks)
    left_out = phrase(plan.excluded, " ({} left out by filters)")
    part = "" if plan.shard is None else f" (shard {plan.shard.part} of {plan.shard.of})"
    lines += [
        "",
        f"cases       {len(plan.cases)}{left_out}{part}",
        f"categories  {', '.join(f'{name} {count}' for name, count in sorted(categories.items())) or '–'}",
        f"checks      {', '.join(f'{name} {count}' for name, count in sorted(evaluators.items())) or '–'}",
        f"attempts    {plan.repeat} per case",
        f"target      {target}: {plural(target_calls, 'call')}{each}",
        f"judge       {plural(judge_calls, 'call')}{each}",
    ]
    targets = {f"{name}: ": resolve(of_one) for name, of_one in each_target(settings, raw).items()}
    for name, one in (targets or {"": settings}).items():
        lines.append(f"cost        {name}{estimated_cost(plan, one, target_calls, judge_calls)}")
        if one.compare.against is not None:
            lines.append(f"against     {one.compare.against}: as many calls again")
    return "\n".join(lines)


def _calls(plan: RunPlan, settings: Settings) -> tuple[int, int]:
    """How many calls of the target and of the judge there would be at most."""
    turns = [turn for case in plan.cases for turn in case.turns]
    by_user = sum(most_prompts(turn) for turn in turns if turn.user is not None)
    judged = 0 if settings.no_judge else judged_checks(plan)
    return sum(map(most_prompts, turns)) * plan.repeat, (judged + by_user) * plan.repeat
