"""Findings, gates and policy → outcome, exit code and headline: the only module that makes a verdict."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.text.numbers import capitalised, phrase, plural, short_list
from runevals.records import (
    AgainstComparison,
    Comparison,
    Conclusion,
    FinalVerdict,
    Finding,
    GateResult,
    GateRules,
    GateState,
    MarkComparison,
    MarkRun,
    Outcome,
    Problem,
    Reason,
    RegressionRule,
    RunReport,
    State,
    Weakening,
)
from runevals.records.errors import COULD_NOT_MEASURE, GATE_FAILED, INTERRUPTED, PASSED
from runevals.verdict.compare import compare
from runevals.verdict.findings import state_of
from runevals.verdict.gates import apply_gates
from runevals.verdict.headlines import loss, no_loss, not_known, warning
from runevals.verdict.skill_matrix import skill_matrix
from runevals.verdict.tool_paths import tool_paths
from runevals.verdict.wording import error_kinds, is_ungated, passing


class Baseline(Struct, frozen=True, kw_only=True):
    """A base's report and its origin for messages."""

    report: RunReport
    source: str
    fresh: bool = False  # measured just now: a loss against it needs no verification
    too_little: str = ""  # why so few of its cases were measured that nothing but a loss is certain
    older: str | None = None  # the older commit it was measured at, if its results may differ from the base's


def decide(base: RunReport | None, head: RunReport, rules: GateRules | None = None) -> Conclusion:
    """Whether `head` is worse than `base`: comparison, gates and verdict, without files, network or clock.

    Takes the reports of two runs, as `runevals.reports.results_document.read` gives them; with `base` None, there
    is nothing to compare with. Nothing is run again. The same reports give the same conclusion, bit for bit.
    """
    baseline = None if base is None else Baseline(report=base, source="the given base")
    return decision(head, baseline, rules or GateRules())


def decision(
    head: RunReport,
    baseline: Baseline | None,
    rules: GateRules,
    *,
    mark: MarkRun | None = None,
    weakenings: tuple[Weakening, ...] = (),
) -> Conclusion:
    """compare → gate → conclude; `weakenings` are those of settings and lists, outside of the suites."""
    comparison = None
    if baseline is not None:
        comparison = compare(head, baseline.report, baseline.source, rule=rules.regression)
        comparison = with_context(comparison, baseline, weakenings)
    return conclusion_of(head, comparison, rules, since_mark(head, mark, rules.regression))


def with_context(comparison: Comparison, baseline: Baseline, weakenings: tuple[Weakening, ...]) -> Comparison:
    """The comparison with what is known beside its cases: other weakenings, and a base measured in part."""
    weakenings, findings, why = (*weakenings, *comparison.weakenings), comparison.findings, baseline.too_little
    if why:
        findings += (Finding(family="whole", state=State.NOT_KNOWN, reason=Reason.BASE_MISSING, detail=why),)
    return replace(comparison, findings=findings, state=state_of(findings), weakenings=weakenings)


def since_mark(head: RunReport, mark: MarkRun | None, rule: RegressionRule) -> MarkComparison | None:
    """The difference to the run of a mark, if there is one."""
    if mark is None:
        return None
    from runevals.verdict.marks import against_mark  # only a run with a mark needs it

    return against_mark(head, mark, rule)


def conclusion_of(
    report: RunReport,
    comparison: Comparison | None,
    rules: GateRules,
    mark: MarkComparison | None = None,
    against: AgainstComparison | None = None,
    findings: Sequence[Finding] = (),
) -> Conclusion:
    """gate → conclude; a shard alone decides nothing. `findings` is what is known beside the comparison."""
    if report.run.shard is not None:
        comparison = mark = against = None
    if comparison is not None:
        comparison = replace(comparison, tool_paths=tool_paths(comparison.base.cases, report.cases))
    if against is not None:
        from runevals.verdict.arms import with_arms  # only a run with `against` needs it

        against = with_arms(against, report, comparison)
    gates = () if report.run.shard is not None else apply_gates(rules, report, comparison, mark, against)
    return Conclusion(
        report=report,
        comparison=comparison,
        gates=gates,
        verdict=_verdict(report, comparison, gates, rules, findings),
        mark=mark,
        against=against,
        findings=tuple(findings),
        skill_matrix=skill_matrix(report, comparison),
    )


def again(conclusion: Conclusion, rules: GateRules, *findings: Finding) -> Conclusion:
    """The conclusion with more findings, or with what changed in its comparison, decided anew."""
    everything = (*conclusion.findings, *findings)
    verdict = _verdict(conclusion.report, conclusion.comparison, conclusion.gates, rules, everything)
    return replace(conclusion, verdict=verdict, findings=everything)


def accepted(
    conclusion: Conclusion, rest: Comparison | None, gates: Sequence[GateResult], rules: GateRules, headline: str
) -> Conclusion:
    """The conclusion decided by what is left when some losses are accepted; `headline` says which."""
    verdict = _verdict(conclusion.report, rest, gates, rules, conclusion.findings)
    if verdict.outcome == "failed":
        return replace(conclusion, verdict=verdict)
    remarks = _remarks(conclusion.comparison)
    if verdict.outcome == "unmeasured":
        return replace(conclusion, verdict=replace(verdict, headline=f"{verdict.headline} – {headline}{remarks}"))
    beside = f". Beside it: {verdict.headline}" if verdict.warns and rest is not None else ""
    return replace(conclusion, verdict=passed(f"{headline}{beside}{remarks}", warns=True))


def incomplete(conclusion: Conclusion, stopped: Problem, rules: GateRules) -> Conclusion:
    """The conclusion of a run that was stopped before it was confirmed."""
    report = replace(conclusion.report, run=replace(conclusion.report.run, stopped=stopped), complete=False)
    return conclusion_of(
        report, conclusion.comparison, rules, conclusion.mark, conclusion.against, conclusion.findings
    )


def unmeasured(why: str, exit_code: int = COULD_NOT_MEASURE) -> FinalVerdict:
    """Nothing is known."""
    return FinalVerdict(outcome="unmeasured", headline=f"Not measured – {why}", exit_code=exit_code)


def skipped(headline: str) -> FinalVerdict:
    """Nothing was measured, and the settings allow that."""
    return FinalVerdict(outcome="skipped", headline=headline, exit_code=PASSED)


def passed(headline: str, *, warns: bool = False) -> FinalVerdict:
    """Nothing is worse; with `warns`, the headline names what a reader should look at."""
    return FinalVerdict(outcome="passed", headline=headline, exit_code=PASSED, warns=warns)


def _failed(headline: str) -> FinalVerdict:
    return FinalVerdict(outcome="failed", headline=headline, exit_code=GATE_FAILED)


def _not_known(headline: str) -> FinalVerdict:
    return FinalVerdict(outcome="unmeasured", headline=headline, exit_code=COULD_NOT_MEASURE)


def _of_shard(report: RunReport) -> FinalVerdict:
    """A shard is not gated; it is unmeasured only if it has no answer at all."""
    assert report.run.shard is not None  # noqa: S101 - the caller looked
    name = f"Shard {report.run.shard.part} of {report.run.shard.of}"
    if report.run.stopped is not None:
        return _incomplete(report, report.run.stopped)
    if report.cases and all(case.status is Outcome.ERRORED for case in report.cases):
        return _not_known(f"{name}: not measured – {error_kinds(report)}")
    return skipped(f"{name}: {passing(report.totals)} – the merge of all shards decides")


def _verdict(
    report: RunReport,
    comparison: Comparison | None,
    gates: Sequence[GateResult],
    rules: GateRules,
    findings: Sequence[Finding],
) -> FinalVerdict:
    """Interrupted → 130; a failed gate → 1; what is not known → 3, or as `on_unknown` says; else 0.

    A shard decides nothing.
    """
    if report.run.shard is not None:
        return _of_shard(report)
    failed = [gate for gate in gates if gate.state is GateState.FAILED and not gate.unmeasured]
    if (stopped := report.run.stopped) is not None:
        proven = comparison is not None and _is_proven(report, comparison)
        if comparison is None or stopped.code == "interrupted" or not (failed and proven):
            return _incomplete(report, stopped)
        return _failed(f"{loss(report, comparison)} – and the run is incomplete: {stopped.message}")
    if failed:
        return _failed(_gate_headline(report, comparison, failed))
    if why := _unmeasured(report, gates, comparison, rules):
        return unmeasured(why)
    unknown = [each for each in (*findings, *_gating(comparison, rules)) if each.state is State.NOT_KNOWN]
    remarks = _remarks(comparison)
    if unknown:
        passes = rules.on_unknown == "pass"
        headline = not_known(unknown, report.run, passes=passes) + remarks
        return passed(f"{headline} (`on_unknown` lets it pass)", warns=True) if passes else _not_known(headline)
    if comparison is None:
        return _alone(report, gates)
    if _gating(comparison, rules) and (doubt := warning(comparison)):
        return _not_known(doubt + remarks) if rules.on_unknown == "fail" else passed(doubt + remarks, warns=True)
    if comparison.state is State.WORSE:
        return passed(
            f"{loss(report, comparison)} – but no gate that may fail the run says so{remarks}", warns=True
        )
    return passed(no_loss(comparison) + remarks, warns=bool(remarks))


def _remarks(comparison: Comparison | None) -> str:
    """What line one says beside the verdict: about the base, and cases that nothing measures any more."""
    if comparison is None:
        return ""
    unmeasured = comparison.of_kind("unmeasured")
    skipped = [one.called for one in unmeasured if one.head is not None and one.head.status is Outcome.SKIPPED]
    removed = [change.called for change in comparison.of_kind("removed")]
    new = [one.called for one in comparison.of_kind("added") if removed and one.head and one.head.any_failed]
    words = {"removed": removed, "added and failing": new, "skipped": skipped}
    gone = (phrase(short_list(keys), f"{plural(len(keys), 'case')} {word}: {{}}") for word, keys in words.items())
    return "".join(f" – {remark}" for remark in filter(None, (*comparison.remarks, *gone)))


def _alone(report: RunReport, gates: Sequence[GateResult]) -> FinalVerdict:
    """The verdict of a run without a base."""
    if is_ungated(report, None, gates):
        return passed(f"{passing(report.totals)}; no gate looked at this (no base, no min_pass_rate)")
    return passed(f"{passing(report.totals)} – nothing to compare with yet", warns=not report.totals.passed)


def _gating(comparison: Comparison | None, rules: GateRules) -> Sequence[Finding]:
    """The findings that may block: none if `fail_on` leaves the gate out."""
    asks = rules.fail_on is None or "no_regression" in rules.fail_on
    return () if comparison is None or not asks else comparison.findings


def _is_proven(report: RunReport, comparison: Comparison) -> bool:
    """Whether more runs would not change that something is worse.

    Results of another tool do not have the cases that it had not reached: these may not be removed.
    """
    of_tool = report.run.of_tool
    worse = (*comparison.parts(State.WORSE), *comparison.cases(State.WORSE))
    return any(not of_tool or each.reason is not Reason.REMOVED for each in worse)


def _incomplete(report: RunReport, stopped: Problem) -> FinalVerdict:
    """The verdict of a run that was stopped: unmeasured."""
    measured = sum(case.pass_rate is not None for case in report.cases)
    of, verb = plural(len(report.cases), "case"), "was" if len(report.cases) == 1 else "were"
    return FinalVerdict(
        outcome="unmeasured",
        headline=f"Incomplete – {stopped.message}; {measured} of {of} {verb} measured",
        exit_code=INTERRUPTED if stopped.code == "interrupted" else COULD_NOT_MEASURE,
    )


def _gate_headline(report: RunReport, comparison: Comparison | None, failed: Sequence[GateResult]) -> str:
    """What was lost, then the first gate that failed for something else."""
    gate, of_loss = failed[0], [one.name == "no_regression" and one.metric is None for one in failed]
    lost = loss(report, comparison) if comparison is not None and any(of_loss) else ""
    if of_loss[0]:
        return lost
    share = (gate.limit or 0) if gate.metric == "pass_rate" else 0
    must = phrase(100 * share, " (at least {:g} % must pass)")
    reason = (gate.reason, gate.reason.partition("; ")[0])[bool(lost)]
    failure = f"the gate {gate.name} failed{must}: {reason}"
    return capitalised("; ".join(filter(None, (lost, failure))))


def _unmeasured(
    report: RunReport, gates: Sequence[GateResult], comparison: Comparison | None, rules: GateRules
) -> str:
    """What was not measured and would decide; empty if nothing is missing."""
    if unmeasured_gates := [gate for gate in gates if gate.unmeasured]:
        gate = min(unmeasured_gates, key=lambda gate: gate.name != "measured")
        of_gate = "" if gate.name == "measured" else f"the gate {gate.name}: "
        return f"{of_gate}{gate.reason}{phrase(error_kinds(report), ' ({})')}"
    missing = rules.baseline_required and comparison is None
    return "there is no baseline, and the settings require one" if missing else ""
