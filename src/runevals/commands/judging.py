"""Suites → conclusion, with the real world; and the base, run again where that is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import click

from runevals import loading, pipeline
from runevals.baseline import read_baseline
from runevals.commands.building import real_world, require_judge
from runevals.commands.provenance import provenance
from runevals.commands.telling import progress
from runevals.compare import Strictness, needs_verification
from runevals.errors import InvalidSettings, RunevalsError
from runevals.git import commit_of, merge_base, worktree
from runevals.loading import Loaded
from runevals.pipeline import Baseline
from runevals.plan import judged_checks, make_plan
from runevals.records import Conclusion
from runevals.settings import Settings
from runevals.wording import plural


@dataclass(frozen=True, slots=True)
class Base:
    """The base that was asked for, and how settings are settled in a checkout of it."""

    ref: str | None
    resettled: Callable[[Path], Settings]


def judged(settings: Settings, loaded: Loaded, base: Base, *, quiet: bool) -> Conclusion:
    """One whole run. A red that noise in the stored base may have made is verified against a fresh run of it.

    Raises RunevalsError for what stops a run.
    """
    if base.ref is not None:
        return _run(settings, loaded, _asked_for(settings, base.ref, base, quiet=quiet), quiet=quiet)
    baseline, notices = read_baseline(settings)
    loaded = replace(loaded, notices=(*loaded.notices, *notices))
    if baseline is None or settings.verify == "off":
        return _run(settings, loaded, baseline, quiet=quiet)
    commit, why_not = _verifiable(settings, baseline)
    screening = baseline if commit is None else replace(baseline, strictness=Strictness.SCREENING)
    conclusion = _run(settings, loaded, screening, quiet=quiet)
    if conclusion.comparison is None or not needs_verification(conclusion.comparison):
        return conclusion
    fresh = why_not if commit is None else _verifying(settings, commit, base, quiet=quiet)
    return pipeline.verify(conclusion, baseline, fresh, settings)


def _run(settings: Settings, loaded: Loaded, baseline: Baseline | None, *, quiet: bool) -> Conclusion:
    plan = make_plan(loaded.suites, settings)
    require_judge(plan, settings)
    skipped = judged_checks(plan) if settings.no_judge else 0
    if skipped:
        notice = f"run without a judge (--no-judge): {plural(skipped, 'check')} skipped"
        loaded = replace(loaded, notices=(*loaded.notices, notice))
    with real_world(settings, loaded.suites) as world:
        loading.rehearse(plan, world.sandbox)
        return pipeline.run(
            plan,
            settings,
            world,
            baseline,
            provenance=provenance(settings, loaded.notices),
            watch=progress(len(plan.trials), quiet=quiet),
        )


def _asked_for(settings: Settings, ref: str, base: Base, *, quiet: bool) -> Baseline:
    if settings.baseline_named:
        raise InvalidSettings("--base runs the base itself; do not also give --baseline")
    commit = merge_base(settings.cwd, ref)
    click.echo(f"Running the base {commit[:7]} first", err=True)
    return _fresh(settings, commit, base, settings.repeat, quiet=quiet)


def _verifiable(settings: Settings, baseline: Baseline) -> tuple[str | None, str]:
    """(the stored base's commit, "") where it can be run again, else (None, why not)."""
    if settings.evaluate_only or settings.target is None or settings.target.type == "recorded":
        return None, "recorded answers cannot be asked again"
    stored = baseline.report.run.commit
    if stored is None:
        return None, "the base's result does not say its commit"
    commit = commit_of(settings.cwd, stored)
    return commit, "" if commit else "the base's commit is not here"


def _verifying(settings: Settings, commit: str, base: Base, *, quiet: bool) -> Baseline | str:
    """A fresh run of the base, or why it could not be run."""
    click.echo(f"A regression, it seems: running the base {commit[:7]} again before saying so", err=True)
    try:
        fresh = _fresh(settings, commit, base, settings.verify_repeats, quiet=quiet)
    except RunevalsError as error:
        return f"the base {commit[:7]} cannot be run: {str(error).splitlines()[0]}"
    return replace(fresh, strictness=Strictness.VERIFYING)


def _fresh(head: Settings, commit: str, base: Base, repeat: int, *, quiet: bool) -> Baseline:
    """Runs a commit in a worktree of its own, with its own suites, settings and code."""
    with worktree(head.repository, commit) as checkout:
        cwd = checkout / head.cwd.relative_to(head.repository)
        if not cwd.is_dir():
            raise InvalidSettings(f"the base {commit[:7]} has no folder {cwd.name}")
        environment = {name: value for name, value in head.environment.items() if not name.startswith("GITHUB_")}
        settings = replace(base.resettled(cwd), baseline=None, repeat=repeat, environment=environment)
        conclusion = _run(settings, loading.load_suites(settings), None, quiet=quiet)
    return Baseline(report=conclusion.report, source=f"a fresh run of {commit[:7]}")
