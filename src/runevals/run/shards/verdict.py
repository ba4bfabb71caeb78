"""The verdict over all shards, with fresh runs if they can be made on the merging machine."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.lib.parsing.source import read_text
from runevals.records import AND, Case, CaseReport, Conclusion, RunReport
from runevals.records.errors import ExternalError, RunevalsError
from runevals.records.rules import Selection
from runevals.run.acceptance import with_caveat
from runevals.run.default_target import with_target
from runevals.run.head import alike_earlier, compare_with_base
from runevals.run.load import suites_of
from runevals.run.nothing_measured import nothing_measured
from runevals.run.provenance import commit_here, provenance
from runevals.run.quarantine import quarantine_of
from runevals.run.request import RunRequest
from runevals.run.shards.merge import same_model
from runevals.run.sides import can_run_again, measure_base, rerunnable
from runevals.run.target_runner import lost_cases
from runevals.run.world.build import real_world
from runevals.settings.judge import JudgeSettings
from runevals.settings.resolve import Settings, resolve
from runevals.suites.quarantine import NOTICES
from runevals.verdict.comparability import stale
from runevals.verdict.outcome import Baseline, conclusion_of, decision, since_mark, unmeasured
from runevals.verdict.settle import is_open

FILTERS = ("category", "tag", "filter")
COSTS = frozenset({"cost_usd", "cost_change"})  # the metrics of gates that depend on prices


def with_rules_of_base(report: RunReport, own: Settings, of_base: Settings) -> RunReport:
    """Shards that ran by settings of the change (`own`), with the quarantine list of its base.

    Outside a job of GitHub a shard does not know which commit is its base. Raises ExternalError if the change
    alters other settings that a base decides and that the shards ran with.
    """
    run = report.run
    differ = {
        name: own.value_of(name) != of_base.value_of(name) != _texts(run.settings.get(name))
        for name in ("category", "tag")
    }
    differ["judge"] = run.judge is not None and _judges(own) != _judges(of_base)
    limits_cost = any(gate.metric in COSTS for gate in of_base.rules.gates)
    differ["prices"] = limits_cost and own.measure.prices != of_base.measure.prices
    mine, theirs = (if_known(attrgetter("deterministic"), side.target) for side in (own, of_base))
    differ["target.deterministic"] = mine != theirs not in (None, run.target.deterministic)
    if names := [name for name, differs in differ.items() if differs]:
        raise ExternalError(
            f"the shards ran with {AND.join(names)} of the change's own settings, but until these are merged, "
            "the base's decide; run the change without shards, with --base"
        )
    quarantine = quarantine_of(of_base, _cases_of(report, of_base))
    cases = [replace(case, quarantined=(case.suite, case.key) in quarantine.cases) for case in report.cases]
    others = (notice for notice in run.notices if not notice.startswith(NOTICES))
    return replace(report, run=replace(run, notices=(*others, *quarantine.notices)), cases=tuple(cases))


def _cases_of(report: RunReport, settings: Settings) -> Sequence[Case | CaseReport]:
    """All cases of the suites, of which a tenth can be in quarantine; those of the report if no suite is here."""
    try:
        return suites_of(settings).cases
    except RunevalsError:
        return report.cases


def _judges(settings: Settings) -> list[JudgeSettings]:
    """The judges, each with the replies that its file has."""
    return [
        replace(judge, recorded=judge.recorded or (judge.path and read_text(judge.path, judge.path.name)))
        for judge in settings.judges
    ]


def with_filters_of(report: RunReport, request: RunRequest) -> RunRequest:
    """The request for a run of the same cases as the shards'."""
    filters = {name: _texts(report.run.settings.get(name)) for name in FILTERS}
    selection = Selection(**filters, shard=request.settings.selection.shard)
    raw = replace(request.raw, flags={**request.raw.flags, **filters})
    return replace(request, settings=replace(request.settings, selection=selection), raw=raw)


def _texts(value: object) -> Any:
    """A filter's values in a document."""
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def not_merged(settings: Settings, why: str) -> Conclusion:
    """The conclusion if shards are missing: unmeasured."""
    hint = "a shard's own job says why it left no result; re-running the failed jobs asks only for what is missing"
    return nothing_measured(settings, unmeasured(why), (hint,))


def conclude_shards(report: RunReport, baseline: Baseline | None, request: RunRequest) -> Conclusion:
    """The shards against the base, with the fresh runs that can be made here."""
    settings, rules = request.settings, request.settings.rules
    final = decision(report, baseline, rules, mark=request.mark, weakenings=request.weakenings)
    if baseline is None or final.comparison is None:
        return final
    lost_before = lost_cases(alike_earlier(request, report))
    outdated = any(stale(report, baseline.report, rules.regression))
    if not lost_before and not outdated and not is_open(report, baseline.report, rules.regression):
        return final
    here = _here(report, request, None if can_run_again(settings) else baseline)  # else the head's runs tell, too
    if isinstance(here, str):
        why = "verify: off" if settings.compare.verify == "off" else here
        return with_caveat(final, f"nothing was run again: {why}")
    report, comparison = compare_with_base(report, baseline, here)
    return conclusion_of(report, comparison, rules, since_mark(report, request.mark, rules.regression))


def base_of_shards(report: RunReport, commit: str, request: RunRequest) -> Baseline:
    """The base, measured on this machine. Raises RunevalsError if it cannot be."""
    here = _here(report, request)
    if isinstance(here, str):
        raise ExternalError(here)
    return measure_base(replace(here, settings=here.settings.repeated(report.run.repeat, cached=True)), commit)


def _here(report: RunReport, request: RunRequest, baseline: Baseline | None = None) -> RunRequest | str:
    """The request for what the shards ran, with this base, or why nothing can be run here."""
    try:
        suites = suites_of(request.settings)
        settings = with_target(request.settings, suites.suites)
        quarantine = quarantine_of(settings, suites.cases)
        suites = replace(suites, quarantined=quarantine.cases)
        here = replace(request, settings=settings, suites=suites, notices=quarantine.notices)
        if baseline is not None and (why_not := rerunnable(settings, baseline)[1]):
            return why_not
        other = _otherwise_than(report, here)
    except RunevalsError as error:
        return f"the base cannot be run here: {error.first_line}"
    return other or here


def _otherwise_than(report: RunReport, request: RunRequest) -> str | None:
    """How the shards differ from a run here; None if they do not.

    A base that is measured by another judge, say, would confirm nothing, and must not turn a failing run into a
    passing one.
    """
    settings, suites = request.settings, request.suites.suites
    selection = resolve(request.raw).selection
    with real_world(settings, suites) as world:
        target, judge = world.target.identity(), world.judge_identity
    run = report.run
    differ = {
        "commits": run.commit != commit_here(settings),
        "uncommitted files": run.uncommitted != provenance(settings, (), request.suites).uncommitted,
        "suites": [suite.fingerprint for suite in run.suites] != [suite.fingerprint for suite in suites],
        "targets": not same_model(target, run.target),
        "filters": selection != settings.selection,
        "judges": not same_model(judge, run.judge),
    }
    differences = [what for what, differs in differ.items() if differs]
    return f"the {' and '.join(differences)} of the shards differ from those here" if differences else None
