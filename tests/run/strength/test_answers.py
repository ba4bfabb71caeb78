"""Which answers are right, and which are wrong whatever a case asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from runevals.records import EvaluatorSpec, Response, ToolCall, Workspace
from runevals.run.strength.answers import TurnOf, always_wrong, candidates, known_answers, untouched
from runevals.run.workspaces.folders import Workspaces
from runevals.suites.plan import checks_of
from runevals.targets.recorded import RecordedTarget
from tests.sample_suites import plan_of


def turn_of(plan, index=0, **more):
    case = plan.cases[index]
    turn = case.turns[0]
    return TurnOf(case=case, number=1, turn=turn, checks=checks_of(turn), **more)


def item(key, expected, **more):
    return {"testId": key, "prompt": f"What is {key}?", "expected_response": expected, **more}


@pytest.fixture
def two():
    return plan_of(Path(), [item("a", "24 months"), item("b", "Paris")], default_evaluators={"ExactMatch": {}})


def test_recorded_answers_come_before_the_expected_text(two):
    recorded = RecordedTarget({(None, "a", 1, 1): (Response(text="It is 24 months."),)}, "answers.jsonl")
    known = known_answers([], recorded, two)
    texts = [answer.text for answer in candidates(two.cases[0], 1, known)]
    assert texts == ["It is 24 months.", "24 months"]
    assert [answer.text for answer in candidates(two.cases[1], 1, known)] == ["Paris"]


def test_wrong_answers_say_nothing_of_the_case(two):
    one, other = (turn_of(two, index, right=Response(text=text)) for index, text in enumerate(("24", "Paris")))
    assert [(kind, answer.text) for kind, answer in always_wrong(one, [other])] == [
        ("the empty answer", ""),
        ("the prompt itself", "What is a?"),
        ("'I don't know'", "I don't know."),
        ("unrelated text", "Lorem ipsum dolor sit amet, consectetur adipiscing elit."),
        ("another case's answer", "Paris"),
    ]


@pytest.mark.parametrize("answer", ["24 MONTHS.", "24"])
def test_an_answer_that_is_right_here_too_is_no_wrong_one(two, answer):
    one = turn_of(two, right=Response(text="24"))
    other = turn_of(two, 1, right=Response(text=answer))
    assert "another case's answer" not in dict(always_wrong(one, [other]))


def test_not_to_know_is_right_where_the_right_answer_does_not_know(two):
    one = turn_of(two, right=Response(text="I’m afraid I can’t help with that."))
    assert "'I don't know'" not in dict(always_wrong(one, []))


def test_calls_of_another_tool_are_wrong_where_a_check_looks_at_tools():
    plan = plan_of(
        Path(), [item("a", "x", evaluators={"tools_called": {"values": ["find"]}})], default_evaluators={}
    )
    of = turn_of(plan, right=Response(text="x", tool_calls=(ToolCall(name="find", input={}),)))
    wrong = dict(always_wrong(of, []))
    assert list(wrong) == ["the empty answer", "calls of another tool"]
    assert [call.name for call in wrong["calls of another tool"].tool_calls] == ["another_tool"]


@pytest.mark.parametrize(
    ("programs", "setup", "found"), [(True, True, "made"), (False, False, None), (False, True, "")]
)
def test_the_workspace_before_any_answer(project, two, programs, setup, found):
    project.write("app/README.md", "hello")
    checks = (EvaluatorSpec(name="file_exists", options={"path": "new.txt"}),)
    steps = (("sh", "-c", "echo made > new.txt"),) if setup else ()
    case = two.cases[0]
    turn = type(case.turns[0])(prompt="?", checks=checks)
    case = type(case)(
        **{name: getattr(case, name) for name in case.__struct_fields__}
        | {"turns": (turn,), "workspace": Workspace(folder=project.path / "app", setup=steps)}
    )
    plan = type(two)(suites=(), cases=(case,), repeat=1)
    workspaces = Workspaces({"PATH": "/usr/bin:/bin"}, at_once=1)
    changes = untouched(plan, 0, workspaces, programs=programs)
    workspaces.close()
    if not programs and setup:
        assert changes is None
    else:
        assert (changes.files[0].text or "").strip() == (found or "")
