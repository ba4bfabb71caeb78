"""The cases proposed from a prompt: deterministic, of any text, at most three."""

from __future__ import annotations

import json

import pytest

from runevals.cli.init.proposed_cases import proposed_cases


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Short.\n```\nA line of code that is no rule.\n```\n", []),
        (
            "---\nname: a skill that is not named here\n---\nWrites notes for customers.",
            ["Writes notes for customers."],
        ),
        (
            "One sentence of prose here. And more.\n* A rule that must hold\n* A rule that must hold",
            ["A rule that must hold", "A rule that must hold", "One sentence of prose here."],
        ),
        (
            '- Write **one line** for _each_ change, ***not*** **a *few* words**, a "* " or `snake_case_name`',
            ['Write one line for each change, not a few words, a "* " or snake_case_name'],
        ),
        ("- Answer {{question}} in English\r\n- Never promise a refund", ["Never promise a refund"]),
    ],
)
def test_statements_become_cases(text, expected):
    assert [item["expected_response"] for item in proposed_cases(text, "p.md")] == expected


def test_each_case_names_its_line_and_fills_the_variables():
    (item,) = proposed_cases("Be kind.\n\n- Never promise a refund\n\n{{question}} {{prompt}}", "p.md")
    assert item["notes"] == "replace me: proposed from p.md:3"
    assert item["extensions"] == {"runevals": {"vars": {"question": "replace me"}}}


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{question}} from {{company}}", "question"),
        ("{{company}}: {{ticket}}", "ticket"),
    ],
)
def test_the_question_fills_a_variable_of_a_prompt_that_does_not_use_the_cases_own(template, filled):
    (item,) = proposed_cases(f"- Never promise a refund\n\n{template}", "p.md")
    variables = item["extensions"]["runevals"]["vars"]
    assert variables == {**dict.fromkeys(variables, "replace me"), filled: item["prompt"]}


def test_hostile_text_stays_text():
    items = proposed_cases("# \x1b]0;x\x07\n" + "- ::error::\x00 \u202e evil words here\n" * 2000, "p.md")
    assert len(json.dumps(items)) < 2000
