"""The prompt and the expected text of data sets, by the names that people give their columns."""

from __future__ import annotations

import pytest

from runevals.suites.dialects import agent_skills
from runevals.suites.dialects.columns import fill, is_table, opening_of
from runevals.suites.dialects.options import LoadOptions

PAIRS = [
    ("question", "answer"),
    ("question", "truth"),
    ("input", "output"),
    ("query", "ground_truth"),
    ("prompt", "expected_response"),
    ("prompt", "completion"),
    ("input_text", "expected_output"),
    ("user_input", "reference"),
]


@pytest.mark.parametrize(("prompt", "expected"), PAIRS)
def test_usual_names_are_known(prompt, expected):
    row = {prompt: "Hours?", expected: "9 to 5", "source": "faq"}
    fill([row], LoadOptions())
    assert (row["input"], row["expected"], row["source"]) == ("Hours?", "9 to 5", "faq")


def test_rows_that_an_export_wraps_are_unwrapped():
    row = {"question": "Hours?", "ideal": "9 to 5"}
    for wrapped in ({"row_idx": 0, "row": {**row}, "truncated_cells": []}, {"item": {**row}}):
        fill([wrapped], LoadOptions())
        assert (wrapped["input"], wrapped["expected"]) == ("Hours?", "9 to 5")


def test_named_columns_win_and_own_names_are_left():
    row = {"question": "Hours?", "ask": "Parking?", "reply": 12, "answer": "9 to 5"}
    assert fill([row], LoadOptions(columns={"prompt": "ask", "expected": "reply"})) == {
        "input": "ask",
        "expected": "reply",
    }
    assert (row["input"], row["expected"]) == ("Parking?", "12")
    assert fill([{"input": "x", "expected": "y", "answer": "z"}], LoadOptions()) == {}


def test_a_chat_is_asked_from_its_last_message_of_the_user():
    chat = [{"role": role, "content": role} for role in ("system", "user", "assistant", "user", "assistant")]
    row = {"messages": chat}
    assert fill([row], LoadOptions()) == {"input": "messages"}
    assert (row["input"], row["expected"]) == ("user", "assistant")
    assert opening_of(row) == chat[:3]


@pytest.mark.parametrize("name", ["history", "chat_history"])
def test_turns_before_a_prompt_of_its_own_are_sent(name):
    turns = [{"role": role, "content": role} for role in ("user", "assistant")]
    row = {"question": "And today?", name: turns}
    assert fill([row], LoadOptions()) == {"input": "question"}
    assert (row["input"], opening_of(row)) == ("And today?", turns)


@pytest.mark.parametrize(
    ("value", "table"),
    [
        ([{"question": "x", "answer": "y"}], True),
        ([{"messages": []}], True),
        ([{"prompt": "x", "expected_response": "y"}], False),  # an eval document
        ([{"question": "x", "sample_id": "y"}], False),
        ([{"input": "x", "expected_output": "y", "actual_output": "z"}], True),  # goldens of DeepEval
        ([{"x": 1}], False),
        ([], False),
    ],
)
def test_a_list_of_rows_is_told_from_cases_of_other_formats(value, table):
    assert is_table(value) is table
    assert not (table and agent_skills.recognises(value))


def test_settings_name_the_columns(project, runevals):
    project.write("d.csv", "ask,reply\nHours?,9 to 5\n")
    project.write("runevals.yaml", "suites: [{path: d.csv, columns: {prompt: ask}}]")
    code, _, err = runevals("validate")  # what it proposes needs a column that it names, too
    assert "run with --evaluators preset-contains\n" in err
    assert "preset-contains compares with 'expected', which no row has (columns: ask, reply)" in err
    project.write(
        "runevals.yaml", "suites: [{path: d.csv, evaluators: [preset-contains], columns: {prompt: ask}}]"
    )
    code, out, err = runevals("validate")
    assert code == 2, out
    assert "compares with 'expected', which no row has (columns: ask, reply); `columns: {expected: …}`" in err
    rows = [{"ask": "Hours?", "expected_tools": ["calendar", "clock"], "expect": "9 to 5"}]
    project.write("e.json", rows)  # what is proposed holds text
    for row in (rows[0], {**rows[0], "expect": None}):
        project.write("e.json", [row])
        columns = "{path: e.json, evaluators: [preset-contains], columns: {prompt: ask}}"
        project.write("runevals.yaml", f"suites: [{columns}]")
        err = runevals("validate")[2]
        assert ("did you mean 'expect'?" in err) is (row is rows[0])
        assert "did you mean 'expected_tools'?" not in err
    project.write(
        "runevals.yaml", "suites: [{path: d.csv, evaluators: [preset-contains], columns: {prompt: ask}}]"
    )
    columns = "{prompt: ask, expected: reply}"
    project.write("runevals.yaml", f"suites: [{{path: d.csv, evaluators: [preset-contains], columns: {columns}}}]")
    assert runevals("validate")[:2] == (0, "✓ d.csv: 1 case, 1 check (rows)\n")
    project.write("runevals.yaml", "suites: [{path: d.csv, columns: {prompt: asks}}]")
    assert (
        "there is no column 'asks', which `columns` names; did you mean 'ask'? (there are ask, reply)"
        in runevals("validate")[2]
    )
    code, _, err = runevals("run", "d.csv", "--columns", "prompt=ask")
    assert (code, "No such option '--columns'" in err) == (2, True), err  # a run would not read it
