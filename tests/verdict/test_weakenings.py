"""What of a change to suite and target is called a weakening."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Outcome, Problem, Reason, State, WorkspaceChanges
from runevals.verdict.compare import compare
from tests.sample_reports import case, check, report

REST = [case(f"k{n}", "p") for n in range(9)]


def told(base, head):
    """The key and message of each weakening of the first case."""
    return [(w.key, w.message) for w in compare(report([head, *REST]), report([base, *REST]), "b").weakenings]


def edited(one, **fields):
    """The case with this of its turn changed, and so another fingerprint."""
    attempt = one.attempts[0]
    return replace(
        one, attempts=(replace(attempt, turns=(replace(attempt.turns[0], **fields),)),), fingerprint="edited"
    )


def checked(**result):
    first = case("a", "p")
    turn = first.attempts[0].turns[0]
    return edited(first, results=(check(turn.results[0].outcome, **result),))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ({"threshold": 4.0}, {"threshold": 3.0}, "the threshold of ExactMatch was lowered from 4 to 3"),
        ({"weight": 2.0}, {"weight": 1.0}, "the weight of ExactMatch was cut from 2 to 1"),
        ({"id": "Relevance"}, {}, "the check Relevance was removed"),
        ({}, {"negated": True}, "ExactMatch was inverted by `not`"),
        (
            {"threshold": 3.0},
            {"threshold": 4.0},
            "its checks or other fields were edited",
        ),  # options may have been, too
    ],
)
def test_weaker_checks_of_an_edited_case(before, after, message):
    base = replace(checked(**before), fingerprint="base")
    assert told(base, checked(**after)) == [("a", message)]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"expected": "31 days"}, "its expected text was edited"),
        ({"expected": None}, "its expected text was edited"),
        ({"expected": "31 days", "prompt": "Say 31 days."}, "its expected text was edited"),
        ({"prompt": "Say 30 days."}, "its prompt was edited"),
        ({"context": "30 days"}, "its prompt was edited"),
        ({}, "its checks or other fields were edited"),
        ({"workspace": WorkspaceChanges()}, "its checks or its workspace were edited"),
    ],
)
def test_an_edit_may_ask_for_less(fields, message):
    assert told(case("a", "p"), edited(case("a", "p"), **fields)) == [("a", message)]


def test_a_turn_more_or_less_is_called_that():
    one = case("a", "p")
    turn = replace(one.attempts[0].turns[0], expected=None)
    more = replace(one, attempts=(replace(one.attempts[0], turns=(*one.attempts[0].turns, turn)),))
    assert told(one, replace(more, fingerprint="edited")) == [("a", "a turn was added or removed")]
    [*removed] = told(replace(more, fingerprint="base"), one)
    assert ("a", "a turn was added or removed") in removed


def test_a_turn_that_was_not_asked_after_an_error_was_not_removed():
    one, errored = case("a", "p"), case("a", "e", fingerprint="edited")
    more = replace(one, attempts=(replace(one.attempts[0], turns=one.attempts[0].turns * 2),))
    assert ("a", "a turn was added or removed") not in told(more, errored)


@pytest.mark.parametrize(
    ("before", "after", "messages"),
    [
        ({"category": "x"}, {}, ["moved from category x to none"]),
        ({"category": "x"}, {"category": "y"}, ["moved from category x to y"]),
        ({"tags": ("s", "t", "u")}, {"tags": ("v", "t")}, ["lost the tag s", "lost the tag u"]),
        ({"critical": True}, {}, ["is no longer marked as critical"]),
        ({}, {"category": "x", "tags": ("s",), "critical": True}, []),
    ],
)
def test_a_label_that_is_lost(before, after, messages):
    found = told(case("a", "p", **before), case("a", "p", **after))
    assert found == [("a", message) for message in messages]


@pytest.mark.parametrize("moved", [{"key": "b"}, {"suite": "other.json"}])
@pytest.mark.parametrize("critical", [{"critical": True}, {"category": "redteam"}, {}])
def test_a_critical_case_is_not_moved_unseen(moved, critical):
    base = case("a", "p", **critical)
    found = told(base, replace(base, **moved))
    message = "a critical case, was moved from a in evals/evals.json"
    assert found == ([(moved.get("key", "a"), message)] if critical else [])


def test_a_case_without_an_answer_has_lost_no_check():
    """The results of another tool may not say which checks would have been made."""
    without = replace(case("a", "e").attempts[0].turns[0], results=())
    unanswered = replace(case("a", "e"), attempts=(replace(case("a", "e").attempts[0], turns=(without,)),))
    assert told(case("a", "p"), unanswered) == []
    answered = replace(unanswered, status=Outcome.PASSED)
    assert told(case("a", "p"), answered) == [("a", "the check ExactMatch was removed")]


def test_a_removed_case():
    assert compare(report(REST[1:]), report(REST), "b").weakenings[0].message == "the case was removed"


@pytest.mark.parametrize("outcome", ["p", "f"])
def test_a_target_of_another_type_is_a_weakening_and_not_compared(outcome):
    def answered(by, outcomes):
        found = report({f"k{n}": outcomes for n in range(10)})
        return replace(found, run=replace(found.run, target=replace(found.run.target, type=by)))

    found = compare(answered("recorded", outcome * 3), answered("python", "ppp"), "b")
    why = "the target is of another type, recorded, than the base's, python"
    assert [(w.key, w.message) for w in found.weakenings] == [("target", why)]
    assert found.state is (State.NOT_KNOWN if outcome == "p" else State.WORSE)  # a loss is one all the same
    assert why in [each.detail for each in found.findings if each.reason is Reason.INCOMPARABLE]


def test_what_a_stopped_run_did_not_reach_is_neither_removed_nor_skipped():
    """Its checks say that they are skipped, as no run of the case was measured."""
    base = [case("a", "p"), *REST]
    left_out, interrupted = case("a", "s"), Problem(code="interrupted", message="stopped")
    turn = base[0].attempts[0].turns[0]
    results = tuple(replace(one, outcome=Outcome.SKIPPED) for one in turn.results)
    unasked = replace(left_out.attempts[0], turns=(replace(turn, results=results, error=interrupted),))
    head = report([replace(left_out, attempts=(unasked,)), *REST[1:]])
    stopped = replace(head, run=replace(head.run, stopped=interrupted))
    assert compare(stopped, report(base), "b").weakenings == ()
