"""What the runs of both sides say about each unit: worse, not worse, or not known and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import grouped
from runevals.lib.statistics.chance import Shape, binomial_tail, chance, highest
from runevals.lib.statistics.permutation_test import BlockedTest, case_p_value
from runevals.lib.text.numbers import phrase, plural
from runevals.records import CaseReport, Finding, Reason, RegressionRule, State
from runevals.records.report import is_critical
from runevals.verdict.evidence import OUTCOME, entrant_of, title_of, units_of
from runevals.verdict.matching import Key, Pair
from runevals.verdict.parts import Parts
from runevals.verdict.plan import Entrant, Unit
from runevals.verdict.reasons import MEANINGS
from runevals.verdict.sides import Sides

RARE = 0.03  # what an unchanged suite shows less often than this is not known to be chance
CASES_LEVEL = 0.5  # of alpha: the level of all single cases together
NUMBER_LEVEL = 0.25  # of alpha: the level at which so many dead cases cannot be chance, whatever their pass rates
MOST_RUNS = 20  # of a side, that are proposed
_ORDER = (State.WORSE, State.NOT_KNOWN, State.NOT_WORSE)
_ROUNDING = 1e-9
_CUT = "not measured on the base, whose run is incomplete"


class FreshEvidence(Struct, frozen=True):
    """What fresh runs of both sides say."""

    cases: tuple[Finding, ...] = ()
    parts: tuple[Finding, ...] = ()  # of those that looked lost, decided by fresh rounds
    gained: bool | None = None  # whether fresh rounds confirm a gain; None: none looked like one
    old_forms: frozenset[Key] = frozenset()  # edited cases whose old form was run on the head
    no_old_form: str = ""  # why that of another could not be run
    determinism_violated: bool = False  # a target that is called deterministic gave two answers to one question
    source: str = ""  # names the fresh rounds


def state_of(findings: Iterable[Finding]) -> State:
    """Any worse → worse; else any not known → not known; else not worse."""
    return min((finding.state for finding in findings), key=_ORDER.index, default=State.NOT_WORSE)


def findings_of(
    sides: Sides, tested: Parts, rule: RegressionRule, fresh: FreshEvidence | None, *, deterministic: bool
) -> tuple[Finding, ...]:
    """The whole and its parts, then the cases of which anything is in question, critical ones first."""
    evidence = fresh or FreshEvidence()
    cases = evidence.cases
    if fresh is None:
        lost_forms = [pair for pair in sides.edited if pair.regressed and not pair.same_content]
        of_stored = stored_findings(sides.pairs, rule, deterministic=deterministic)
        cases = (*of_stored, *(of_case(pair, (), Reason.OLD_FORM, edited=True) for pair in lost_forms))
    few = sides.too_few(evidence.old_forms)
    why = few + phrase(evidence.no_old_form, "; {}; edit the cases in an earlier change")
    return (
        *_parts(tested, evidence, deterministic=deterministic),
        *([Finding(family="whole", state=State.NOT_KNOWN, reason=Reason.INCOMPARABLE, detail=why)] if few else ()),
        *sorted(cases, key=lambda each: (not each.critical, _ORDER.index(each.state))),
        *(
            of_case(pair, (), Reason.ERRORS, detail="critical, measured on the base, and skipped now")
            for pair in sides.matched.both
            if pair.critical and pair.before.runs and not pair.now.due
        ),
        *(
            _finding(case, Reason.UNMEASURED, {"critical": is_critical(case), "detail": _CUT})
            for case in sides.matched.added
            if not sides.base.complete and case.any_failed
        ),
        *(
            _finding(case, Reason.REMOVED, {"critical": True})
            for case in sides.matched.removed
            if is_critical(case)
        ),
    )


def _parts(tested: Parts, fresh: FreshEvidence, *, deterministic: bool) -> Iterator[Finding]:
    """The findings about the parts: of the fresh rounds, else of the scored runs.

    The cases of a deterministic target decide one by one; only its scores are also tested together.
    """
    again = {(each.family, each.name, each.metric): each for each in fresh.parts}
    for finding in tested.findings:
        decided = again.pop((finding.family, finding.name, finding.metric), finding)
        if deterministic and finding.metric == "pass_rate" and decided is finding:
            decided = replace(decided, state=State.NOT_WORSE, reason=Reason.BY_CHANCE)
        yield decided
    yield from again.values()


def of_case(pair: Pair, checks: Iterable[str], reason: Reason, **fields: object) -> Finding:
    """What is found about a case; `checks` are those that are in question beside its outcome."""
    values = {"critical": pair.critical, "dead": pair.dead, "checks": tuple(checks), **fields}
    return _finding(pair.head, reason, values)


def _finding(case: CaseReport, reason: Reason, values: Mapping[str, object]) -> Finding:
    name: Mapping[str, object] = {"suite": case.suite, "name": case.key, "title": case.name}
    return Finding(family="case", state=MEANINGS[reason].state, reason=reason, **name, **values)  # type: ignore[arg-type]


class _InQuestion(Struct, frozen=True):
    """A case that looks lost in the runs that there are."""

    pair: Pair
    entrant: Entrant[Key]

    @property
    def units(self) -> Sequence[Unit]:
        return [unit for unit in units_of(self.pair) if unit.name in self.entrant.cuts]

    @property
    def checks(self) -> list[str]:
        return [title for name in self.entrant.cuts if (title := title_of(name))]


def stored_findings(
    pairs: Sequence[Pair],
    rule: RegressionRule,
    *,
    deterministic: bool,
    only: Container[Key] | None = None,
    why_final: str = "nothing can be run again",
) -> tuple[Finding, ...]:
    """The cases that look lost where nothing can be run again: the runs that there are decide.

    Of a deterministic target every difference is real. Else a loss is proven by the exact test of the case (over
    all cases), or by how many cases passed every run and pass none now. What an unchanged suite shows in 3 of 100
    comparisons or fewer is not known; the rest may be chance, and what died is named. `only` are the cases to say;
    `why_final` says why there are no more runs.
    """
    in_question = [
        _InQuestion(pair, entrant)
        for pair in pairs
        if (entrant := entrant_of(pair, deterministic=deterministic)) and not entrant.doubtful
    ]
    certain = {each.pair.key: reason for each in in_question if (reason := _certain(each, len(pairs), rule))}
    open_ = [each.pair for each in in_question if each.pair.key not in certain]
    best = _died(pairs, open_, _AT_BEST, rule, why_final)
    worst = best if all(pair.complete for pair in pairs) else _died(pairs, open_, _AT_WORST, rule, why_final)
    inside = _died_inside(pairs, [each for each in in_question if each.pair.key not in certain], rule, why_final)
    findings = []
    for each in in_question:
        key = each.pair.key
        if only is not None and key not in only:
            continue
        reason, names = worst.get(key, _NOTHING)
        if reason is not best.get(key, _NOTHING)[0]:  # what has no value decides
            reason, names = _missing(Reason.ERRORS, rule, each.entrant), {}
        elif reason is Reason.BY_CHANCE:
            reason, names = inside.get(key, (reason, names))
        findings.append(of_case(each.pair, each.checks, certain.get(key, reason), **names))
    return tuple(findings)


_Cause = tuple[Reason, Mapping[str, object]]  # a reason, and what a finding names beside it
_NOTHING: _Cause = (Reason.BY_CHANCE, {})
_AT_BEST, _AT_WORST = (0, 1), (1, 0)  # what runs without a value are counted as, on the base and on the head


def _missing(reason: Reason, rule: RegressionRule, entrant: Entrant[Key]) -> Reason:
    """This reason, unless the settings allow that the case has no value."""
    return Reason.ERRORS_ALLOWED if rule.max_errors and not entrant.critical else reason


def _died(
    pairs: Sequence[Pair], open_: Sequence[Pair], missing: tuple[int, int], rule: RegressionRule, why_final: str
) -> Mapping[Key, _Cause]:
    """The cases in question that always passed and never do now, with what their number says of all of them."""
    dead = {pair.key: shape for pair in open_ if (shape := _shape(pair, *missing)).lost}
    if not dead:
        return {}
    return dict.fromkeys(dead, _cause(dead.values(), [_shape(pair, *missing) for pair in pairs], rule, why_final))


def _died_inside(
    pairs: Sequence[Pair], in_question: Sequence[_InQuestion], rule: RegressionRule, why_final: str
) -> Mapping[Key, _Cause]:
    """The cases in question with a check that always passed and never does now, by the number of these.

    Of checks that pass or fail: what else fails in their cases hides none. All names share half of the level.
    """
    open_keys = {each.pair.key for each in in_question}
    names = {unit.name for each in in_question for unit in each.units if unit.name != OUTCOME and _runs(unit).lost}
    units = [(unit.name, (pair.key, _runs(unit))) for pair in pairs if names for unit in units_of(pair)]
    of_names, causes = grouped(units), dict[Key, _Cause]()
    for name in sorted(names):
        dead = {key: shape for key, shape in of_names[name] if shape.lost and key in open_keys}
        cause = _cause(dead.values(), [shape for _, shape in of_names[name]], rule, why_final, 2 * len(of_names))
        causes |= {} if cause[0] is Reason.BY_CHANCE else dict.fromkeys(dead, cause)
    return causes


def _runs(unit: Unit) -> Shape:
    """The runs of a check; none if it has a score, or no value of a run."""
    is_plain = {*unit.base, *unit.head} <= {0.0, 1.0}
    base, head = ([value == 1 for value in side] * is_plain for side in (unit.base, unit.head))
    return Shape(base_passes=sum(base), base_runs=len(base), head_passes=sum(head), head_runs=len(head))


def _cause(
    dead: Collection[Shape], every: Sequence[Shape], rule: RegressionRule, why_final: str, questions: int = 1
) -> _Cause:
    """Whether so many dead cases, or checks, are proof, hardly chance, or chance; `questions` share the level."""
    of_base, now = (min(map(attrgetter(runs), dead)) for runs in ("base_runs", "head_runs"))
    prediction = chance(Counter(every), head_runs=now)
    more, expected = deciding_runs(prediction.lost, len(every), rule), prediction.expected
    names: dict[str, object] = {"chance": prediction.probability, "expected": expected, "more": more}
    if prediction.at_most <= NUMBER_LEVEL * rule.alpha / questions:
        return Reason.EXACT, names
    is_rare = prediction.probability <= RARE / questions
    few = (f"in {100 * prediction.probability:.2g} of 100 comparisons", "hardly any")[is_rare]
    number = (f"about {expected:.{int(expected < 10)}f}", few)[expected < 0.05]
    runs = f"{plural(of_base, 'run')} {(f'on the base and {now} now', 'a side')[of_base == now]}"
    detail = f"with {runs}, {number} such cases would be lost without any change"
    if is_rare:
        return Reason.CHANCE, {**names, "detail": f"{detail}, and {why_final}"}
    return Reason.BY_CHANCE, {**names, "detail": detail}


def deciding_runs(lost: int, cases: int, rule: RegressionRule) -> int | None:
    """How many runs a side prove so many cases lost that pass all on the base and none now; None: too many."""
    proposed = range(1, MOST_RUNS + 1)
    proven = (n for n in proposed if binomial_tail(lost, cases, highest(n, n)) <= NUMBER_LEVEL * rule.alpha)
    return next(proven, None)


def _shape(pair: Pair, on_base: int, on_head: int) -> Shape:
    """The runs of a pair, those without a value with these."""
    before, now = pair.before, pair.now
    return Shape(
        base_passes=before.passes + on_base * (before.due - before.runs),
        base_runs=before.due,
        head_passes=now.passes + on_head * (now.due - now.runs),
        head_runs=now.due,
    )


def _certain(in_question: _InQuestion, cases: int, rule: RegressionRule) -> Reason | None:
    """What is certain of a case by its own runs, missing values once best and once worst for the head."""
    entrant = in_question.entrant
    if not entrant.base_known:
        return _missing(Reason.UNMEASURED, rule, entrant)
    if not entrant.head_known:
        return _missing(Reason.ERRORS, rule, entrant)
    if entrant.deterministic:
        return Reason.EXACT
    level = CASES_LEVEL * rule.alpha / cases
    best, worst = (min(_p(unit, missing) for unit in in_question.units) for missing in ((0.0, 1.0), (1.0, 0.0)))
    if best <= level:
        return Reason.EXACT
    return Reason.ERRORS if worst <= level else None


def _p(unit: Unit, missing: tuple[float, float]) -> float:
    """The exact p of a unit, with these values for what is missing on the base and on the head."""
    base, head = (
        [absent if value is None else value for value in values]
        for values, absent in zip((unit.base, unit.head), missing, strict=True)
    )
    return _case_p(tuple(sorted(base)), tuple(sorted(head)))


_case_p = cache(case_p_value)


def is_improved(
    sides: Sides, test: BlockedTest | None, rule: RegressionRule, evidence: FreshEvidence, *, deterministic: bool
) -> bool:
    """Whether more passes now: by fresh rounds if there are any; of a deterministic target, every gain is real."""
    if deterministic:
        return any(pair.fixed and not pair.graded for pair in sides.pairs)
    if evidence.gained is not None:
        return evidence.gained
    return test is not None and -test.drop >= rule.min_effect - _ROUNDING and test.gain_p_value <= rule.alpha
