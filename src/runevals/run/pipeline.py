"""Suites → conclusion, with the real world; and the base, run again where that is needed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from runevals.lib import git
from runevals.lib.terminal import notice
from runevals.lib.text.numbers import plural
from runevals.records import ComparisonVerdict, Conclusion, GateRules, RunReport
from runevals.records.errors import ExternalError, InvalidSettings, InvalidSuite, NoSuiteFound, RunevalsError
from runevals.records.rules import Limits
from runevals.run.against_base import HEAD_LOOKS, TargetRunner, with_own_error
from runevals.run.baseline import reuse
from runevals.run.baseline.checkout import base_checkout
from runevals.run.baseline.choose import chosen, concluded, find_stored, nothing_to_run
from runevals.run.baseline.from_files import why_not_alike
from runevals.run.baseline.marks import FindMark, with_mark
from runevals.run.baseline.prepare import prepare
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.baseline.unmeasured import require_measured
from runevals.run.call_limit import require_few_calls
from runevals.run.default_target import with_target
from runevals.run.interrupts import interruptible
from runevals.run.load import load_request, load_suites, plan_of
from runevals.run.measurement import Measurement, measure
from runevals.run.preflight import require_for_suites
from runevals.run.progress import Progress
from runevals.run.prompt_changes import with_prompt_changes
from runevals.run.provenance import provenance
from runevals.run.quarantine import quarantine_of, with_quarantine
from runevals.run.resume.journal import Journal
from runevals.run.url_sources import with_texts
from runevals.run.world.budget import Budget, Stop
from runevals.run.world.build import real_world, require_judge
from runevals.settings.resolve import RawSettings, Settings
from runevals.suites import load as loading
from runevals.suites.dialects import prompt_yml
from runevals.suites.load import LoadedSuites
from runevals.suites.plan import judged_checks, part_of
from runevals.verdict.comparability import other_target
from runevals.verdict.decide import Baseline, conclusion_of, decision, incomplete, since_mark, with_weakenings
from runevals.verdict.procedure import held_against
from runevals.verdict.verification import VERIFY_OFF

HEAD = "head"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked for beside the settings: a base to run, and the words that settle it in its checkout."""

    ref: str | None
    told: RawSettings
    progress: Progress
    budget: Budget = field(default_factory=lambda: Budget(Limits(), Stop()))
    journal: Journal | None = None  # of answers that need not be asked for again
    stored: StoredBase | None = None  # of an earlier run, where the settings name no base
    earlier: Conclusion | None = None  # what an earlier attempt of this job found of the same commit
    find_mark: FindMark | None = None  # where a mark is looked for; None: among the results that are kept here


def judged(settings: Settings, loaded: LoadedSuites, asked: Asked) -> Conclusion:
    """One whole run. A red that noise in the stored base may have made is verified against a fresh run of it.

    Raises RunevalsError for what stops a run.
    """
    _require_whole(settings, asked)
    return with_prompt_changes(
        within_limits(settings, asked, lambda bounded: _judged(settings, loaded, bounded)), settings, loaded
    )


def within_limits(settings: Settings, asked: Asked, work: Callable[[Asked], Conclusion]) -> Conclusion:
    """What `work` finds within the settings' budget; incomplete where that ended it."""
    asked = replace(asked, budget=Budget(settings.limits, Stop()))
    with asked.budget.timed():
        conclusion = work(asked)
    stop = asked.budget.stop
    if stop.problem is not None and stop.cut_short and conclusion.report.run.stopped is None:
        return incomplete(conclusion, stop.problem, settings.rules)  # the fresh run of the base, say
    return conclusion


def _judged(settings: Settings, loaded: LoadedSuites, asked: Asked) -> Conclusion:
    settings = with_target(settings, loaded.suites)
    settings, loaded = with_quarantine(settings, loaded)
    cases = [case for suite in loaded.suites for case in suite.cases]
    settings, told = with_mark(settings, cases, asked.find_mark)
    loaded = replace(loaded, notices=(*loaded.notices, *told))
    if asked.ref is not None:
        return _beside(settings, loaded, asked)
    stored = StoredBase() if settings.selection.shard is not None else find_stored(settings, asked.stored)
    why_run = reuse.reused(settings, loaded, stored) if settings.changed_only else None
    if isinstance(why_run, Conclusion):
        return why_run
    require_few_calls(settings, loaded, asked.told)
    base = chosen(stored, settings, asked.told, lambda commit: base_run(settings, commit, asked))
    notices = (*base.notices, *([] if why_run is None else [f"run in full: {why_run}"]))
    if base.baseline is None:
        notices = (*notices, *_held_back(settings))
    loaded = replace(loaded, notices=(*loaded.notices, *notices))
    return concluded(_against(base.baseline, settings, loaded, asked), base, settings)


def _held_back(settings: Settings) -> tuple[str, ...]:
    """What a change alters about its own judgement, where no comparison lists it."""
    return tuple(f"{w.suite}, {w.key}: {w.message}" for w in settings.weakenings)


def _require_whole(settings: Settings, asked: Asked) -> None:
    """Raises InvalidSettings where a part of the cases was to be compared with a base."""
    named = "--base" if asked.ref is not None else "a baseline" if settings.baseline_named else None
    if settings.selection.shard is not None and named is not None:
        raise InvalidSettings(
            f"a shard is compared with nothing, but {named} was given; "
            "`runevals merge --baseline FILE` compares all shards together"
        )


def _beside(settings: Settings, loaded: LoadedSuites, asked: Asked) -> Conclusion:
    """The base that `--base` names is run first, then the head against it."""
    if settings.baseline_named:
        raise InvalidSettings("--base runs the base itself; do not also give --baseline")
    assert settings.base_side is not None  # noqa: S101 - settled from the same ref
    commit = settings.base_side.commit
    if settings.changed_only:
        reused = reuse.unmade(settings, loaded, commit, provenance(settings, loaded.notices))
        if isinstance(reused, Conclusion):
            return reused
        loaded = replace(loaded, notices=(*loaded.notices, f"run in full: {reused}"))
    require_few_calls(settings, loaded, asked.told)
    try:
        base = base_run(settings, commit, asked)
    except NoSuiteFound as error:  # the change brings the first
        notices = (*loaded.notices, nothing_to_run(commit, error), *_held_back(settings))
        return _against(None, settings, replace(loaded, notices=notices), asked)
    except (ExternalError, InvalidSuite) as error:
        raise ExternalError(f"the base {commit[:7]} cannot be run: {error}") from error
    return concluded(_against(base, settings, loaded, asked), StoredBase(baseline=base), settings)


def base_run(settings: Settings, commit: str, asked: Asked) -> Baseline:
    """The base, measured now. Raises RunevalsError."""
    notice(f"Running the base {commit[:7]} first")
    with _base_side(settings, commit, asked, settings.repeat) as base:
        report = measure(base, asked.progress(base, phase="base"))
    require_measured(report, settings)
    return Baseline(report=report, source=f"a fresh run of {commit[:7]}", fresh=True)


def _against(
    baseline: Baseline | None, settings: Settings, loaded: LoadedSuites, asked: Asked, *, own_suite: bool = True
) -> Conclusion:
    """The head measured, and held against the base where there is one."""
    with _measuring(settings, loaded, asked) as head:
        if baseline is None:
            return decision(measure(head, asked.progress(head)), None, settings.rules, mark=settings.mark_run)
        with runner_of(head, baseline, settings, loaded, asked) as runner:
            rule = settings.rules.regression
            found = held_against(runner, baseline.report, baseline.source, rule, fresh=baseline.fresh)
            report, comparison = with_own_error(runner, *found)
    comparison = with_weakenings(comparison, settings.weakenings)
    since = since_mark(report, settings.mark_run, rule)
    conclusion = conclusion_of(report, comparison, settings.rules, since)
    return on_base_suite(conclusion, baseline, settings, asked) if own_suite else conclusion


def runner_of(
    head: Measurement | RunReport, baseline: Baseline, settings: Settings, loaded: LoadedSuites, asked: Asked
) -> TargetRunner:
    """What can be run to hold `head` against the base."""
    commit, why_not = rerunnable(settings, baseline)
    off = VERIFY_OFF if settings.verify == "off" else ""
    again = replace(settings, repeat=HEAD_LOOKS, cache_target=False)
    return TargetRunner(
        head=head,
        progress=asked.progress,
        open_base=lambda: _base_side(settings, commit or "", asked, settings.verify_repeats),
        open_head=lambda: _measuring(again, loaded, asked, "head again"),
        open_old_form=lambda: _old_form_side(settings, commit or "", asked),
        base_name=(commit or "")[:7],
        base_looks=settings.verify_repeats,
        can_run=can_run_again(settings),
        all_rounds=isinstance(head, RunReport) or _will_be_a_base(settings),
        cannot_run_base=off or why_not,
        why_no_second_look=off or why_not,
        phase="head" if asked.ref else "",
        journal=asked.journal,
        earlier=alike_earlier(asked, head, settings),
        tell=notice,
    )


def alike_earlier(asked: Asked, head: Measurement | RunReport, settings: Settings) -> Conclusion | None:
    """The earlier attempt, if it asked the same: of the same commit, target and judge, and measured it."""
    earlier = asked.earlier
    if earlier is None or earlier.verdict.outcome not in ("passed", "failed"):
        return None
    now = head if isinstance(head, RunReport) else head.report()
    return earlier if why_not_alike(earlier.report, now, settings) is None else None


def _will_be_a_base(settings: Settings) -> bool:
    """Whether the result is of a branch, not of a change: then somebody will be compared with it."""
    return bool(settings.environment.get("CI")) and settings.base_side is None


def can_run_again(settings: Settings) -> bool:
    """Whether the target can be asked again: recorded answers cannot."""
    return not settings.evaluate_only and settings.target is not None and settings.target.type != "recorded"


@contextmanager
def _measuring(settings: Settings, loaded: LoadedSuites, asked: Asked, side: str = HEAD) -> Iterator[Measurement]:
    """One side; its name tells its answers in the journal from those of the others."""
    suites, notices = loaded.suites, loaded.notices
    if settings.target is not None and settings.target.type not in ("recorded", "skill"):
        suites, told = with_texts(suites, settings)
        notices = (*notices, *told)
    suites = loading.prompted_suites(suites, load_request(settings))
    plan = plan_of(replace(loaded, suites=suites), settings)
    require_judge(plan, settings)
    require_for_suites(loaded.suites, settings)
    if settings.no_judge and (skipped := judged_checks(plan)):
        notices = (*notices, f"run without a judge (--no-judge): {plural(skipped, 'check')} skipped")
    journal = None if asked.journal is None else asked.journal.of(side)
    reported = side == HEAD  # a base that cannot be measured is no end of the run
    with real_world(settings, loaded.suites, budget=asked.budget, journal=journal, reported=reported) as world:
        loading.rehearse(plan, world.sandbox)
        gc.set_threshold(20_000, 200, 20)  # most of what a run makes it keeps too
        with interruptible(world.stop):
            yield Measurement(
                part_of(plan, settings.selection.shard), settings, world, provenance(settings, notices)
            )


def rerunnable(settings: Settings, baseline: Baseline | None) -> tuple[str | None, str]:
    """(the base's commit, "") where it can be run again, else (None, why not)."""
    if baseline is None:
        return None, "there is no base"
    if not can_run_again(settings):
        return None, "recorded answers cannot be asked again"
    if settings.base_side is not None:  # a stored result may be of an older commit than the change began at
        side = settings.base_side.commit
        return git.common_ancestor(settings.repository, side) or side, ""
    stored = baseline.report.run.commit
    if stored is None:
        return None, "the base's result does not say its commit"
    commit = git.commit_of(settings.repository, stored)
    return commit, "" if commit else "the base's commit is not here"


@contextmanager
def _base_side(settings: Settings, commit: str, asked: Asked, repeat: int) -> Iterator[Measurement]:
    """A commit in a worktree of its own, with its own suites, settings and code, and no answer of a cache."""
    with base_checkout(settings, commit, asked.told) as told:
        if told.target is not None and settings.target is not None and told.target.is_deployed_as(settings.target):
            raise InvalidSettings(
                "the base would be asked at the same address as the change, which answers as it is deployed now; "
                "compare with a stored result of the base (--baseline)"
            )
        with interruptible(asked.budget.stop):
            prepare(settings, told, asked.budget.stop)
        suites = load_suites(told)
        base_settings = replace(
            with_target(told, suites.suites),
            baseline=None,
            repeat=repeat,
            cache_target=False,
            redact_patterns=settings.redact_patterns,
        )
        if base_settings.target is None and not base_settings.evaluate_only:
            raise NoSuiteFound(f"the base {commit[:7]} names no target")
        with _measuring(base_settings, suites, asked, f"base {commit}") as base:
            yield base


def _with_target_of(settings: Settings, base_settings: Settings) -> tuple[Settings, LoadedSuites]:
    """The base's settings and suites, run against the head's target."""
    borrowed = replace(
        base_settings,
        target=settings.target,
        not_from=None,
        repeat=settings.repeat,
        verify=settings.verify,
        redact_patterns=settings.redact_patterns,
        rules=settings.rules,
        verify_repeats=settings.verify_repeats,
        cache_target=False,
    )
    loaded = load_suites(borrowed)
    if any(suite.dialect == prompt_yml.NAME for suite in loaded.suites):
        raise InvalidSettings("its prompts are what is under test, and the base has others")
    return borrowed, replace(loaded, quarantined=quarantine_of(borrowed, loaded).cases)


@contextmanager
def _old_form_side(settings: Settings, commit: str, asked: Asked) -> Iterator[Measurement]:
    """The head's target on the base's cases, and no answer of a cache."""
    with base_checkout(settings, commit, asked.told) as base_settings:
        borrowed, loaded = _with_target_of(settings, base_settings)
        with _measuring(borrowed, loaded, asked, "head on the base's cases") as side:
            yield side


def on_base_suite(conclusion: Conclusion, baseline: Baseline, settings: Settings, asked: Asked) -> Conclusion:
    """The head's target on the base's suite, judged as the base was: an edited suite switches no gate off.

    Only where the suites cannot be compared; else, and where the base's cannot be run, what is known already.
    """
    commit, _ = rerunnable(settings, baseline)
    comparison = conclusion.comparison
    incomparable = comparison is not None and comparison.verdict is ComparisonVerdict.INCOMPARABLE
    if other_target(conclusion.report, baseline.report):
        return conclusion  # nor could it be there
    if not incomparable or commit is None or conclusion.report.run.stopped is not None:
        return conclusion
    notice(f"The suites cannot be compared: running the head on the suite of {commit[:7]}")
    try:
        with base_checkout(settings, commit, asked.told) as base_settings:
            borrowed, loaded = _with_target_of(settings, base_settings)
            journal = None if asked.journal is None else asked.journal.looking_at("on the base's suite")
            again = _against(baseline, borrowed, loaded, replace(asked, journal=journal), own_suite=False)
    except RunevalsError as error:
        why = f"the head cannot be run on the suite of {commit[:7]}: {error.first_line}"
        return still_incomparable(conclusion, why, settings.rules)
    if again.comparison is None or again.comparison.verdict is ComparisonVerdict.INCOMPARABLE:
        return conclusion
    assert comparison is not None  # noqa: S101 - it was incomparable
    told = f"too many cases were edited: compared on the suite of {commit[:7]}"
    again_compared = replace(
        again.comparison,
        on_base_suite=True,
        weakenings=comparison.weakenings,
        caveats=(*again.comparison.caveats, told),
    )
    return conclusion_of(conclusion.report, again_compared, settings.rules, conclusion.mark)


def still_incomparable(conclusion: Conclusion, why: str, rules: GateRules) -> Conclusion:
    """The same, which says why the base's suite decided nothing."""
    assert conclusion.comparison is not None  # noqa: S101 - it was incomparable
    comparison = replace(conclusion.comparison, caveats=(*conclusion.comparison.caveats, why))
    return conclusion_of(conclusion.report, comparison, rules, conclusion.mark)
