"""Which wrong answers checks notice, and which checks are named for one that they pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from runevals.records import FileFound, Response, ToolCall, WorkspaceChanges
from runevals.run.strength.measure import strength_of, unnoticed_hints
from runevals.sandbox import Sandbox
from tests.sample_suites import plan_of

WARRANTY = "How long is the warranty?"


def strength(*items, answers=None, untouched=None, **document):
    plan = plan_of(Path(), list(items), **{"default_evaluators": {}, **document})
    known = {
        (case.suite, case.key, 1): (answer if isinstance(answer, Response) else Response(text=answer),)
        for case, answer in zip(plan.cases, answers or (), strict=False)
    }
    with Sandbox(workers=1) as sandbox:
        return strength_of(plan, sandbox, known, untouched or {})


def item(evaluators, prompt=WARRANTY, **more):
    return {"testId": "k", "prompt": prompt, "evaluators": evaluators, **more}


FOUND = WorkspaceChanges(files=(FileFound(path="a.py", kind="file", text="def total"),))
CALL = ToolCall(name="find", input={"order": 7}, output="")


@pytest.mark.parametrize(
    ("evaluators", "answer", "named"),
    [
        pytest.param(
            {"contains": {"value": "warranty"}},
            "The warranty is 24 months",
            "the prompt itself",
            id="word of the prompt",
        ),
        pytest.param({"contains": {"value": "24 months"}}, "24 months", None, id="what only the answer says"),
        pytest.param({"regex": {"pattern": ".+"}}, "24 months", "the prompt itself", id="any text"),
        pytest.param({"regex": {"pattern": "[a-z] [a-z]+"}}, "It is two", "the prompt itself", id="two words"),
        pytest.param({"regex": {"pattern": "a*"}}, "24 months", "it always passes", id="cannot fail"),
        pytest.param({"max_length": {"value": 400}}, "24 months", None, id="a limit"),
        pytest.param({"regex": {"pattern": "^[^<>]*$"}}, "24 months", None, id="what must not be there"),
        pytest.param({"min_length": {"value": 5}}, "24 months", "only at the form", id="only the form"),
        pytest.param(
            {"min_length": {"value": 5}, "contains": {"value": "24"}},
            "24 months",
            None,
            id="the form and the content",
        ),
        pytest.param({"json_valid": {}}, "{}", None, id="json"),
        pytest.param(
            {"tools_count_min": {"value": 1}},
            Response(text="ok", tool_calls=(CALL,)),
            "calls of another tool",
            id="any tool",
        ),
        pytest.param(
            {"tools_called": {"values": ["find"]}}, Response(text="ok", tool_calls=(CALL,)), None, id="this tool"
        ),
        pytest.param(
            {"tools_not_called": {"values": ["drop"]}}, Response(text="ok", tool_calls=()), None, id="no such tool"
        ),
        pytest.param(
            {"file_exists": {"path": "a.py"}},
            Response(text="ok", workspace=FOUND),
            "untouched workspace",
            id="already there",
        ),
        pytest.param(
            {"file_contains": {"path": "a.py", "values": ["class"]}},
            Response(text="ok", workspace=FOUND),
            None,
            id="not yet there",
        ),
        pytest.param(
            {"unchanged": {"paths": ["a.py"]}}, Response(text="ok", workspace=FOUND), None, id="must stay"
        ),
    ],
)
def test_a_check_is_named_for_a_wrong_answer_that_it_passes(evaluators, answer, named):
    found = strength(item(evaluators), answers=[answer], untouched={0: FOUND}).weak
    assert [named in str(hint) for hint in found] == ([] if named is None else [True]), found


def test_a_check_that_passes_the_answers_of_other_cases_is_named():
    items = [
        {"testId": k, "prompt": f"{k}?", "evaluators": {"regex": {"pattern": f"[0-9]|the {k}"}}} for k in "abc"
    ]
    found = strength(*items, answers=["1 year", "2 days", "3 km"]).weak
    assert ["another case's answer" in hint.message for hint in found] == [True] * 3


def test_a_default_check_of_many_cases_is_named_once():
    items = [{"testId": k, "prompt": f"Is {k} good?", "expected_response": "good"} for k in "abc"]
    assert len(strength(*items, default_evaluators={"ExactMatch": {}}).weak) == 1


def test_an_edit_that_no_check_notices_is_named_with_what_would_notice_it():
    found = strength(item({"contains": {"value": "months"}}), answers=["It is 24 months"])
    (hint,) = unnoticed_hints(found.unnoticed)
    assert hint.message == "k: no check notices '24' → '25', 'is' → 'is not'; a check that looks for '24' would"
    assert found.by_kind["another number"] == (0, 1)
    assert found.by_kind["another unit"] == (1, 1)
    assert (found.answered, found.wrong_answers, found.noticed.value) == (1, 7, pytest.approx(5 / 7))


def test_calls_that_no_check_notices_are_named_without_a_text_to_look_for():
    checks = {"tools_not_called": {"values": ["drop"]}, "contains": {"value": "ok"}}
    found = strength(item(checks), answers=[Response(text="ok", tool_calls=())])
    messages = [hint.message for hint in unnoticed_hints(found.unnoticed)]
    assert messages == ["k: no check notices calls of another tool; say what must be there"]


def test_without_a_right_answer_nothing_is_edited():
    found = strength(item({"contains": {"value": "24"}}), answers=["no idea"])
    assert (found.answered, found.harmless, found.wrong_answers) == (0, (0, 0), 4)


@pytest.mark.parametrize(
    ("evaluators", "failed", "made"),
    [
        ({"contains": {"value": "cannot"}}, 1, 3),
        ({"ExactMatch": {}}, 1, 3),
        ({"equals": {"value": "You cannot"}}, 1, 2),
        ({"contains": {"value": "You"}}, 0, 3),
    ],
)
def test_harmless_edits_are_no_wrong_answers(evaluators, failed, made):
    found = strength(item(evaluators, expected_response="You cannot"))
    assert found.harmless == (failed, made)
    assert len(found.strict) == bool(failed)


@pytest.mark.parametrize(
    ("evaluators", "more"),
    [
        pytest.param({"contains": {"value": "x"}}, {"category": "redteam"}, id="redteam"),
        pytest.param({"tools_not_called": {"values": ["drop"]}}, {}, id="a tool that must not be called"),
    ],
)
def test_where_to_do_nothing_is_right_nothing_is_asked(evaluators, more):
    found = strength(item(evaluators, **more), answers=["x"])
    assert (found.left_out, found.wrong_answers, found.noticed.value) == (1, 0, None)
    assert (found.cases, found.answered) == (0, 0)


def test_what_no_code_notices_is_left_to_the_judge():
    found = strength(item({"Relevance": {}, "contains": {"value": "24"}}), answers=["24 months"])
    assert {each.kind for each in found.to_judge} == {"another unit"}
    assert found.noticed.value == 1.0
