"""Edits that make a right answer wrong, and edits that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runevals.records import Response, ToolCall
from runevals.run.strength.edits import edited, harmful, harmless


@pytest.mark.parametrize(
    ("text", "kind", "after"),
    [
        ("It takes 24 months.", "another number", ["25"]),
        ("It takes 24 months.", "another unit", ["24 years"]),
        ("Due on 2026-11-20.", "another date", ["2026-11-19"]),
        ("Due on 2026-11-01.", "another date", ["2026-11-02"]),
        ("Due on 2026-11-20.", "another number", []),
        ("We sent two parcels.", "another number", ["three"]),
        ("We do not ship it.", "a 'not' removed", ["do"]),
        ("You cannot return it.", "a 'not' removed", ["can"]),
        ("Please do not hesitate to ask.", "a 'not' removed", []),
        ("It is open.", "a 'not' added", ["is not"]),
        ("It is not open.", "a 'not' added", []),
        ("What is it?", "a 'not' added", []),
        ("Yes, it does.", "yes for no", ["No"]),
        ("The capital is Paris.", "another name", ["Oslo"]),
        ("See you on Monday or in December.", "another name", ["Tuesday", "January"]),
        ("Paris", "another name", ["Oslo"]),
        ("The answer", "another name", []),
        ("- open it\n- close it\n", "an item left out", ["", ""]),
        ("- the only one\n", "an item left out", []),
        ("1. Open it.\n2. Close it.\n", "another number", []),
        ("x" * 20_001 + " 24", "another number", []),
    ],
)
def test_a_text_is_made_wrong_by_one_edit(text, kind, after):
    assert [new for of, _, new, _ in edited(text) if of == kind] == after


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        (
            '{"total": 3, "paid": true}',
            {'{"paid": true}', '{"total": 4, "paid": true}', '{"total": 3}', '{"total": 3, "paid": false}'},
        ),
        ('["a", "b"]', {'["b"]', '["a"]'}),
        ('{"a":[1]}', {"{}", '{"a":[2]}'}),
        ("[\n  1,\n  2\n]", {"[\n  2\n]", "[\n  1\n]", "[\n  2,\n  2\n]", "[\n  1,\n  3\n]"}),
    ],
)
def test_json_loses_a_field_or_an_item_or_has_another_value(text, changed):
    assert {edit.response.text for edit in harmful(Response(text=text), text=True, tools=False)} == changed


def test_a_value_is_changed_with_its_text():
    edits = [*harmful(Response(text="[1]", value=[1]), text=True, tools=False)]
    assert [(edit.response.value, edit.response.text) for edit in edits] == [([2], "[2]")]


def test_a_tool_call_is_left_out_or_has_another_argument():
    calls = (ToolCall(name="find", input={"order": 7}), ToolCall(name="mail", input={"to": "ana"}))
    edits = [*harmful(Response(text="24", tool_calls=calls), text=False, tools=True)]
    assert [(edit.kind, str(edit)) for edit in edits] == [
        ("a tool call left out", "without 'find'"),
        ("another argument", "'find 7' → 'find 8'"),
        ("a tool call left out", "without 'mail'"),
        ("another argument", "'mail ana' → 'mail another text'"),
    ]


@pytest.mark.parametrize(
    ("text", "case", "changed"),
    [
        ("You cannot. Ask.", True, {"You cannot.  Ask.\n", "You can't. Ask.", "you cannot. ask."}),
        ("You cannot. Ask.", False, {"You cannot.  Ask.\n", "You can't. Ask."}),
        ('{"a": 1}', True, {'{\n  "a": 1\n}'}),
    ],
)
def test_harmless_edits_change_spelling_only(text, case, changed):
    assert {edit.response.text for edit in harmless(Response(text=text), case=case)} == changed


WORDS = st.sampled_from(
    [
        "It",
        "is",
        "not",
        "24",
        "days",
        "kg",
        "Paris",
        "Yes",
        "cannot",
        "2026-11-20",
        "two",
        "-",
        "1.",
        "\n",
        ".",
        "?",
        "{",
        "}",
        "[",
        "]",
        ":",
        '"',
        "7",
    ]
)


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_no_harmful_edit_is_a_harmless_one(text):
    right = Response(text=text)
    same = {" ".join(each.response.text.casefold().split()) for each in harmless(right, case=True)}
    same.add(" ".join(text.casefold().split()))
    wrong = {" ".join(each.response.text.casefold().split()) for each in harmful(right, text=True, tools=True)}
    assert not wrong & same
