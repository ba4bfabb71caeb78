"""The report of all shards → conclusion; a red that noise in the base may have made is verified, as a run's is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from runevals.records import ComparisonVerdict, Conclusion, RunReport
from runevals.records.errors import COULD_NOT_MEASURE, ExternalError, InvalidSettings, RunevalsError
from runevals.run.against_base import lost_cases, with_earlier, with_own_error
from runevals.run.baseline.choose import chosen, concluded
from runevals.run.baseline.marks import with_mark
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.default_target import with_target
from runevals.run.load import load_suites
from runevals.run.nothing_measured import nothing_measured, unmeasured
from runevals.run.pipeline import (
    Asked,
    alike_earlier,
    base_run,
    can_run_again,
    on_base_suite,
    rerunnable,
    runner_of,
    still_incomparable,
    within_limits,
)
from runevals.run.provenance import provenance
from runevals.run.quarantine import with_quarantine
from runevals.run.shards.merge import same_model
from runevals.run.world.build import real_world
from runevals.settings.resolve import RawSettings, Settings, resolve
from runevals.suites.load import LoadedSuites
from runevals.verdict.comparability import stale
from runevals.verdict.compare import FreshRuns, Sides, compare
from runevals.verdict.decide import Baseline, conclusion_of, decision, since_mark, with_weakenings
from runevals.verdict.procedure import held_against
from runevals.verdict.regression import Strictness
from runevals.verdict.suspects import candidates, edited
from runevals.verdict.verification import VERIFY_OFF, lost_places, unverified

FILTERS = ("category", "tag", "filter")


def judged_together(report: RunReport, stored: StoredBase, settings: Settings, asked: Asked) -> Conclusion:
    """The shards' cases against the base, with those that an earlier attempt of this job ran.

    It is run here if its stored result cannot be used, and again before a red blocks, as far as that can be done.
    Raises InvalidSettings where only a part was asked for.
    """
    if settings.selection.shard is not None:
        raise InvalidSettings("a merge is of all shards, but `shard` was given; leave it out")
    settings, _ = with_quarantine(
        settings, LoadedSuites(suites=())
    )  # the shards' reports say which cases were left out
    settings, notices = with_mark(settings, report.cases, asked.find_mark)
    report = replace(report, run=replace(report.run, notices=(*report.run.notices, *notices)))
    report = with_earlier(report, alike_earlier(asked, report, settings))
    return within_limits(settings, asked, lambda bounded: _judged(stored, report, settings, bounded))


def _judged(stored: StoredBase, report: RunReport, settings: Settings, asked: Asked) -> Conclusion:
    base = chosen(stored, settings, asked.told, lambda commit: _base_run(report, commit, settings, asked))
    notices = tuple(dict.fromkeys((*report.run.notices, *base.notices)))
    report = replace(report, run=replace(report.run, notices=notices))
    if base.baseline is None:
        return concluded(decision(report, None, settings.rules, mark=settings.mark_run), base, settings)
    return concluded(_against(base.baseline, report, settings, asked), base, settings)


def not_merged(settings: Settings, why: str) -> Conclusion:
    """What is said where shards are missing: nothing is known of the whole."""
    hint = "a shard's own job says why it left no result; re-running the failed jobs asks only for what is missing"
    return nothing_measured(settings, unmeasured(why, COULD_NOT_MEASURE), (hint,))


def _against(baseline: Baseline, report: RunReport, settings: Settings, asked: Asked) -> Conclusion:
    final = decision(report, baseline, settings.rules, mark=settings.mark_run, weakenings=settings.weakenings)
    comparison = final.comparison
    assert comparison is not None  # noqa: S101 - there is a base
    incomparable = comparison.verdict is ComparisonVerdict.INCOMPARABLE
    lost_before = lost_cases(alike_earlier(asked, report, settings))
    if not incomparable and not lost_before and not _asks_for_runs(report, baseline, settings):
        return final
    wanted = baseline if incomparable or not can_run_again(settings) else None  # else the head's runs tell, too
    here = _here(report, settings, asked, wanted)
    if isinstance(here, str) and incomparable:
        return still_incomparable(final, f"the head was not run on the base's suite: {here}", settings.rules)
    if isinstance(here, str):
        why = VERIFY_OFF if settings.verify == "off" else here
        told = unverified(comparison, why) if lost_places(comparison) else comparison
        return conclusion_of(report, told, settings.rules, final.mark)
    if incomparable:
        return on_base_suite(final, baseline, here.settings, asked)
    with runner_of(report, baseline, here.settings, here.loaded, asked) as runner:
        rule = settings.rules.regression
        found = held_against(runner, baseline.report, baseline.source, rule, fresh=baseline.fresh)
        report, comparison = with_own_error(runner, *found)
    comparison = with_weakenings(comparison, settings.weakenings)
    since = since_mark(report, settings.mark_run, rule)
    return conclusion_of(report, comparison, settings.rules, since)


def _asks_for_runs(report: RunReport, baseline: Baseline, settings: Settings) -> bool:
    """Whether anything looks lost: the whole, a part, or a single case; or the base may be another by now."""
    base, source = baseline.report, baseline.source
    screened = compare(report, base, source, Strictness.SCREENING, settings.rules.regression, FreshRuns())
    sides = Sides.of(report, base)
    looks_lost = lost_places(screened) or candidates(sides.pairs) or edited(sides.matched.both)
    return bool(looks_lost or list(stale(report, base, settings.rules.regression)))


def _base_run(report: RunReport, commit: str, settings: Settings, asked: Asked) -> Baseline:
    """The base, measured where the shards are merged. Raises RunevalsError where none can be."""
    here = _here(report, settings, asked)
    if isinstance(here, str):
        raise ExternalError(here)
    return base_run(replace(here.settings, repeat=report.run.repeat), commit, asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Here:
    """What a run here is made of: as the shards were."""

    settings: Settings
    loaded: LoadedSuites


def _here(report: RunReport, settings: Settings, asked: Asked, baseline: Baseline | None = None) -> _Here | str:
    """What can be run where the shards are merged, this base too, or why nothing can."""
    try:
        loaded = load_suites(settings)
        settings, loaded = with_quarantine(with_target(settings, loaded.suites), loaded)
        why_not = "" if baseline is None else rerunnable(settings, baseline)[1]
        if why_not:
            return why_not
        other = _otherwise_than(report, settings, loaded, asked.told)
    except RunevalsError as error:
        return f"the base cannot be run here: {error.first_line}"
    return other or _Here(settings=settings, loaded=loaded)


def _otherwise_than(report: RunReport, settings: Settings, loaded: LoadedSuites, told: RawSettings) -> str | None:
    """What the shards ran that a run here would not; None for the same.

    A base that is measured by another judge, say, would confirm nothing, and must not turn a red green.
    """
    words = resolve(told)
    with real_world(settings, loaded.suites) as world:
        target, judge = world.target.identity(), None if world.judge is None else world.judge.identity()
    run, here = report.run, provenance(settings, ())
    differ = {
        "commits": run.commit != here.commit,
        "suites": [suite.fingerprint for suite in run.suites] != [suite.fingerprint for suite in loaded.suites],
        "targets": not same_model(target, run.target),
        "filters": words.selection != replace(settings.selection, shard=words.selection.shard),
        "judges": judge is not run.judge
        and (judge is None or run.judge is None or not same_model(judge, run.judge)),
    }
    named = [what for what, differs in differ.items() if differs]
    return f"the {' and '.join(named)} of the shards differ from those here" if named else None
