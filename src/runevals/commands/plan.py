"""`runevals plan`: what would run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from runevals.commands.grouped import Grouped
from runevals.commands.options import environment_option, settings_options, settled
from runevals.plan import RunPlan, judged_checks
from runevals.settings import Settings
from runevals.wording import plural


@click.command("plan", cls=Grouped)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@settings_options()
@environment_option
def command(paths: tuple[str, ...], **told: Any) -> None:
    """Show what would run: cases, checks and calls.

    \b
    Example:
      runevals plan evals/ --repeat 3
    """
    from runevals.loading import load_suites
    from runevals.plan import make_plan, part_of

    settings = settled(told, paths=paths)
    loaded = load_suites(settings)
    click.echo(describe(part_of(make_plan(loaded.suites, settings), settings.shard), settings))
    for notice in loaded.notices:
        click.echo(notice)


def describe(plan: RunPlan, settings: Settings) -> str:
    """The plan in words: suites, cases by category, checks by evaluator, calls."""
    from runevals.loading import with_target

    settings = with_target(settings, plan.suites)
    turns = sum(len(case.turns) for case in plan.cases)
    checks = [check for case in plan.checks for turn in case for check in turn.checks]
    judged = judged_checks(plan)
    target = "none yet" if settings.target is None else settings.target.model or settings.target.type
    lines = [f"{suite.path}  {plural(len(suite.cases), 'case')}  ({suite.dialect})" for suite in plan.suites]
    categories = Counter(case.category for case in plan.cases if case.category)
    evaluators = Counter(check.id for check in checks)
    left_out = f" ({plan.excluded} left out by filters)" if plan.excluded else ""
    part = "" if plan.shard is None else f" (shard {plan.shard.part} of {plan.shard.of})"
    lines += [
        "",
        f"cases       {len(plan.cases)}{left_out}{part}",
        f"categories  {', '.join(f'{name} {count}' for name, count in sorted(categories.items())) or '–'}",
        f"checks      {', '.join(f'{name} {count}' for name, count in sorted(evaluators.items())) or '–'}",
        f"attempts    {plan.repeat} a case",
        f"target      {target}: {plural(turns * plan.repeat, 'call')}",
        f"judge       {plural(0 if settings.no_judge else judged * plan.repeat, 'call')}",
    ]
    return "\n".join(lines)
