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
    commit = None if baseline is None else _commit_to_verify(settings, baseline)
    if baseline is not None and commit is not None:
        baseline = replace(baseline, strictness=Strictness.SCREENING)
    loaded = replace(loaded, notices=(*loaded.notices, *notices))
    conclusion = _run(settings, loaded, baseline, quiet=quiet)
    comparison = conclusion.comparison
    if baseline is None or comparison is None or settings.verify == "off" or not needs_verification(comparison):
        return conclusion
    fresh = _verifying(settings, baseline, commit, base, quiet=quiet)
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


def _commit_to_verify(settings: Settings, baseline: Baseline) -> str | None:
    """The stored base's commit, where a red could be verified against a fresh run of it."""
    if settings.verify == "off" or settings.evaluate_only or baseline.report.run.commit is None:
        return None
    if settings.target is None or settings.target.type == "recorded":
        return None
    return commit_of(settings.cwd, baseline.report.run.commit)


def _verifying(
    settings: Settings, baseline: Baseline, commit: str | None, base: Base, *, quiet: bool
) -> Baseline | str:
    """A fresh run of the stored base's commit, or why there can be none."""
    if settings.evaluate_only or settings.target is None or settings.target.type == "recorded":
        return "recorded answers cannot be asked again"
    if commit is None:
        stored = baseline.report.run.commit
        return "the base's commit is not here" if stored else "the base's result does not say its commit"
    click.echo(f"A regression, it seems: running the base {commit[:7]} again before saying so", err=True)
    try:
        fresh = _fresh(settings, commit, base, settings.verify_repeats, quiet=quiet)
        return replace(fresh, strictness=Strictness.VERIFYING)
    except RunevalsError as error:
        return f"the base {commit[:7]} cannot be run: {str(error).splitlines()[0]}"


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
