"""Converse and evaluate, with a target, a judge and a sandbox that are written down here."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from runevals.lib.parsing.source import read_json
from runevals.records import ModelIdentity, Outcome, Problem, Response
from runevals.records.errors import JudgeRefused, TargetRefused
from runevals.records.judgement import Judgement
from runevals.records.rules import Limits, Selection
from runevals.run.converse import converse
from runevals.run.evaluate import evaluate
from runevals.run.world import World
from runevals.run.world.budget import Budget, Stop
from runevals.run.world.limited import BoundedJudge
from runevals.sandbox import Sandbox
from runevals.suites.dialects import LoadOptions, eval_samples
from runevals.suites.plan import make_plan
from tests.judge.replies import QUESTION
from tests.sample_suites import EXACT, Answers, numbered, plan_of


@dataclass
class Judges:
    """A judge that replies by a function."""

    reply: object

    def ask(self, question, *, case, turn, attempt):
        return self.reply(question, case, turn)

    def identity(self):
        return ModelIdentity(type="written down")


def results(plan, target, judge=None, workers=4):
    with Sandbox(workers=1) as sandbox:
        world = World(target=target, judge=judge, sandbox=sandbox)
        traces = converse(plan.trials, target, workers=workers, stop=world.stop)
        found = list(evaluate(plan, traces, world, workers=workers))
    return [evaluation.turns for evaluation in sorted(found, key=lambda evaluation: evaluation.position)]


ITEMS = numbered(20, "x")


def test_places_are_found_in_what_is_nearly_too_deep():
    text = '{"a": 1, "b": ' + "[" * 880 + "]" * 880 + ', "c": 2}'
    source = read_json(text, "s.json")

    def from_deeper(calls):
        return from_deeper(calls - 1) if calls else source.locate(("c",))

    assert from_deeper(100).column == text.index("2}") + 1


def test_a_thread_sees_what_was_said_and_cases_do_not(tmp_path):
    turns = [{"prompt": "One?", "expected_response": "1"}, {"prompt": "Two?", "expected_response": "2"}]
    target = Answers(lambda c: Response(text=c.prompt.lower()))
    results(plan_of(tmp_path, [{"name": "t", "turns": turns}, ITEMS[0]], **EXACT), target, workers=1)
    first, second, other = target.asked
    assert [m.content for m in second.messages] == ["One?", "one?", "Two?"]
    assert [m.role for m in second.messages] == ["user", "assistant", "user"]
    assert first.thread == second.thread != other.thread
    assert other.history == ()


class AtOnce:
    """Counts how many calls run at once; the first calls wait until `together` of them do."""

    def __init__(self, together):
        self._together = together
        self._changed = threading.Condition()
        self._running = self.most = 0

    def call(self):
        with self._changed:
            self._running += 1
            self.most = max(self.most, self._running)
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self.most >= self._together, 60)
        time.sleep(0.01)
        with self._changed:
            self._running -= 1


def test_no_more_calls_are_under_way_than_workers(tmp_path):
    at_once = AtOnce(3)
    answers = Answers(lambda conversation: at_once.call() or Response(text="x"))
    results(plan_of(tmp_path, ITEMS, **EXACT), answers, workers=3)
    assert at_once.most == 3


@pytest.mark.parametrize("refusal", [TargetRefused("no"), JudgeRefused("no")])
def test_a_refusal_stops_asking(tmp_path, refusal):
    def refuse(*_):
        raise refusal

    slow = Answers(lambda c: time.sleep(0.05) or Response(text="x"))
    target = Answers(refuse) if isinstance(refusal, TargetRefused) else slow
    with pytest.raises(type(refusal)):
        results(plan_of(tmp_path, ITEMS), target, Judges(refuse), workers=2)
    time.sleep(0.3)
    assert len(target.asked) < 10


def test_a_check_that_crashes_is_that_checks_error_and_the_others_go_on(tmp_path):
    def reply(question, case, turn):
        if question.evaluator == "Coherence":
            raise ZeroDivisionError("a fault")
        return Judgement(score=4.0, reason="fine")

    found = results(plan_of(tmp_path, ITEMS[:1]), Answers(lambda c: Response(text="x")), Judges(reply))
    relevance, coherence = found[0][0]
    assert (relevance.outcome, relevance.value, relevance.score) == (Outcome.PASSED, 4.0, 0.75)
    assert (coherence.outcome, coherence.score) == (Outcome.ERRORED, None)
    assert coherence.error == Problem(code="evaluator_crashed", message="ZeroDivisionError: a fault")


def test_a_score_that_is_no_number_is_an_error(tmp_path):
    judge = Judges(lambda *_: Judgement(score=float("nan")))
    found = results(plan_of(tmp_path, ITEMS[:1]), Answers(lambda c: Response(text="x")), judge)
    assert {result.error.code for result in found[0][0]} == {"evaluator_bad_result"}


@pytest.mark.parametrize("text", [" \n", ":", "…", "  --- . \u200b\t"])
def test_an_answer_without_a_word_earns_the_least_and_no_judge_is_asked(tmp_path, text):
    def never(*_):
        raise AssertionError("asked about nothing")

    found = results(plan_of(tmp_path, ITEMS[:1]), Answers(lambda c: Response(text=text)), Judges(never))
    assert [(r.outcome, r.value) for r in found[0][0]] == [(Outcome.FAILED, 1.0)] * 2


def test_a_judge_that_is_down_for_half_of_the_cases_changes_no_other_score(tmp_path):
    def reply(question, case, turn):
        if int(case[1:]) % 2:
            return Judgement(score=None, problem=Problem(code="judge_timeout", message="late"))
        return Judgement(score=4.0)

    found = results(plan_of(tmp_path, ITEMS), Answers(lambda c: Response(text="x")), Judges(reply))
    for number, (turn,) in enumerate(found):
        expected = [(Outcome.ERRORED, None)] * 2 if number % 2 else [(Outcome.PASSED, 4.0)] * 2
        assert [(result.outcome, result.value) for result in turn] == expected


FAITHFUL = {"default_evaluators": {"faithfulness": {}}}  # which has nothing to judge without a context
BOTH = {"default_evaluators": {"faithfulness": {}, "Citations": {}}}
JUDGED = Judges(lambda *_: Judgement(score=4.0))


@pytest.mark.parametrize(
    ("checks", "judge", "outcomes"),
    [
        pytest.param(FAITHFUL, JUDGED, [Outcome.ERRORED], id="nothing was looked at"),
        pytest.param(FAITHFUL, None, [Outcome.SKIPPED], id="the run has no judge, and says so"),
        pytest.param(BOTH, JUDGED, [Outcome.SKIPPED, Outcome.FAILED], id="another check was measured"),
    ],
)
def test_a_case_of_which_nothing_is_measured_is_errored(tmp_path, checks, judge, outcomes):
    item = {"testId": "a", "prompt": "A question?"}
    found = results(plan_of(tmp_path, [item], **checks), Answers(lambda c: Response(text="x")), judge)
    assert [result.outcome for result in found[0][0]] == outcomes
    first = found[0][0][0]
    assert first.reason.startswith("no context to hold" if judge else "no judge")
    if first.outcome is Outcome.ERRORED:
        assert first.error == Problem(code="evidence_missing", message=first.reason)


def test_one_turn_that_is_measured_makes_a_conversation_measured(tmp_path):
    context = {"prompt": "Two?", "context": "Two."}
    items = [{"testId": "a", "turns": [{"prompt": "One?"}, context]}]
    found = results(plan_of(tmp_path, items, **FAITHFUL), Answers(lambda c: Response(text="x")), JUDGED)
    assert [turn[0].outcome for turn in found[0]] == [Outcome.SKIPPED, Outcome.PASSED]


def test_thresholds_decide_on_the_evaluators_own_scale(tmp_path):
    checks = {"default_evaluators": {"Relevance": {"threshold": 4}, "Citations": {"citation_format": "bracket"}}}
    judge = Judges(lambda *_: Judgement(score=3.0))
    found = results(plan_of(tmp_path, ITEMS[:1], **checks), Answers(lambda c: Response(text="see [1]")), judge)
    relevance, citations = found[0][0]
    assert (relevance.outcome, relevance.threshold) == (Outcome.FAILED, 4.0)
    assert (citations.outcome, citations.value, citations.score) == (Outcome.PASSED, 1.0, None)


DIMENSIONS = [{"sample_id": "s", "prompt": "p", "dimensions": {"a": "is it a?", "b": "is it b?", "c": "is it c?"}}]


def test_the_parts_of_an_evaluator_are_asked_all_at_once(tmp_path):
    together = threading.Barrier(3, timeout=60)

    def reply(question, case, turn):
        together.wait()  # each waits for the two others
        return Judgement(score={"a": 5.0, "b": 3.0, "c": 1.0}[question.evaluator], model="m")

    suite = eval_samples.load(read_json(json.dumps(DIMENSIONS), "s.json"), LoadOptions())
    assert not suite.errors
    plan = make_plan([suite], Selection())
    [[[result]]] = results(plan, Answers(lambda c: Response(text="x")), Judges(reply), workers=1)
    assert (result.value, result.details["dimensions"]) == (3.0, {"a": 5.0, "b": 3.0, "c": 1.0})


def test_no_more_questions_are_asked_at_once_than_were_told():
    at_once = AtOnce(2)

    def reply(question, case, turn):
        at_once.call()
        return Judgement(score=3.0, model="m", cost_usd=0.0, input_tokens=0, output_tokens=0)

    judge = BoundedJudge(Judges(reply), Budget(Limits(), Stop()), at_once=2)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: judge.ask(QUESTION, case=str(n), turn=1, attempt=1), range(20)))
    assert at_once.most == 2
