"""A bad answer, with and without attacks on the judge → what the attacks did to its score."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from statistics import median
from typing import Any

from msgspec import Struct

from runevals.evaluators import catalogue
from runevals.evaluators.kinds import Judged
from runevals.lib.terminal import terminal_text
from runevals.lib.text.numbers import plural
from runevals.records import Case, CaseReport, EvaluatorSpec, Location, Outcome, Response, Suite, Turn
from runevals.records.errors import InvalidSettings
from runevals.run.judge_trials.calibrate import judged_alone
from runevals.run.measurement import Progress
from runevals.settings.resolve import Settings
from runevals.suites.dialects.checking import Definitions
from runevals.verdict.wording import first_error

PLAIN = "the answer itself"
_NOWHERE = Location(file="attacks")


class AttackScore(Struct, frozen=True, kw_only=True):
    """One answer with the judge's score; None if it gave none."""

    name: str
    score: float | None
    passed: bool
    error: str | None


class AttackOutcome(Struct, frozen=True, kw_only=True):
    """The bad answer by itself, and under every attack."""

    evaluator: str
    plain: AttackScore
    attacks: tuple[AttackScore, ...]

    @property
    def raised(self) -> tuple[AttackScore, ...]:
        """The attacks that raised the score."""
        bar = self.plain.score
        return tuple(a for a in self.attacks if a.score is not None and bar is not None and a.score > bar)

    @property
    def got_through(self) -> tuple[AttackScore, ...]:
        """The attacks that made the bad answer pass."""
        return tuple(attack for attack in self.raised if attack.passed and not self.plain.passed)

    @property
    def unmeasured(self) -> bool:
        """Whether too little was judged to say anything: the bad answer itself, or most attacks."""
        missing = sum(attack.score is None for attack in self.attacks)
        return self.plain.score is None or 2 * missing > len(self.attacks)


def attacked(evaluator: str, times: int, settings: Settings, progress: Progress) -> AttackOutcome:
    """Judges them all. Raises UnknownEvaluator, JudgeRefused, InvalidSettings if there is no judge."""
    document = json.loads(files("runevals.judge").joinpath("attacks.json").read_text(encoding="utf-8"))
    spec = _spec(evaluator, settings.load.definitions, document)
    answers = {PLAIN: document["bad_answer"]}
    answers |= {attack["name"]: f"{document['bad_answer']}\n\n{attack['text']}" for attack in document["attacks"]}
    cases = tuple(_case(name, answer, document, spec) for name, answer in answers.items())
    suite = Suite(name="attacks", path="attacks", dialect="attacks", cases=cases)
    plain, *attacks = (_judged(case) for case in judged_alone(suite, settings, progress, times=times).cases)
    return AttackOutcome(evaluator=evaluator, plain=plain, attacks=tuple(attacks))


def described(outcome: AttackOutcome) -> Iterator[str]:
    """The scores for a reader at a terminal, the worst first."""
    count = plural(len(outcome.attacks), "attack")
    if outcome.unmeasured:
        yield f"{outcome.evaluator}: not measured – the judge gave too few scores"
    elif outcome.plain.passed:
        yield f"{outcome.evaluator}: the bad answer passes without an attack; this judge is too lenient"
    raised, passed = len(outcome.raised), len(outcome.got_through)
    yield f"{outcome.evaluator}: {raised} of {count} raised the score, {passed} made it pass"
    yield terminal_text(f"  {_score(outcome.plain)}  {PLAIN}  {outcome.plain.error or ''}".rstrip())
    for attack in sorted(outcome.attacks, key=lambda attack: -(attack.score or 0.0)):
        mark = "passes" if attack in outcome.got_through else "raised" if attack in outcome.raised else ""
        yield terminal_text(f"  {_score(attack)}  {attack.name}  {attack.error or mark}".rstrip())


def _score(judged: AttackScore) -> str:
    return "   –" if judged.score is None else f"{judged.score:4.1f}"


def _spec(evaluator: str, definitions: Definitions, document: Mapping[str, Any]) -> EvaluatorSpec:
    options = {"rubric": document["rubric"]} if evaluator == "rubric" else {}
    spec = definitions.get(evaluator) or EvaluatorSpec(name=evaluator, options=options)
    if not isinstance(catalogue.build(spec).evaluator, Judged):
        raise InvalidSettings(f"{evaluator} does not use a judge; name one that does, such as Relevance or rubric")
    return spec


def _case(name: str, answer: str, document: Mapping[str, Any], spec: EvaluatorSpec) -> Case:
    turn = Turn(
        prompt=document["question"],
        expected=document["expected"],
        context=document["context"],
        checks=(spec,),
        recorded=Response(text=answer),
    )
    return Case(suite="attacks", key=name, name=name, turns=(turn,), location=_NOWHERE)


def _judged(case: CaseReport) -> AttackScore:
    results = [result for attempt in case.attempts for turn in attempt.turns for result in turn.results]
    scores = [result.value for result in results if result.value is not None]
    return AttackScore(
        name=case.key,
        score=float(median(scores)) if scores else None,
        passed=2 * sum(result.outcome is Outcome.PASSED for result in results) > len(results),
        error=None if scores else first_error(case),
    )
