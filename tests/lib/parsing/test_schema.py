"""What is said of each violation of a schema, and where."""

from __future__ import annotations

import pytest

from runevals.lib.parsing.schema import complaints

SETTINGS = ("runevals.settings", "settings-1")
CASES = ("runevals.suites.dialects", "eval-document")


def said(document, schema=SETTINGS):
    return [
        f"/{'/'.join(map(str, complaint.json_path))} {complaint.message}"
        for complaint in complaints(*schema, document)
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"repeat": 0}, "/repeat must be at least 1, but is 0"),
        ({"repeat": "3"}, "/repeat must be a whole number, but is text"),
        ({"annotations": "yes"}, "/annotations must be true or false, but is the text 'yes'; write true"),
        ({"margin": 20}, "/margin 20 is greater than 1: it is a share; write 0.2 for 20 %"),
        ({"judge": {"timeout_s": 0}}, "/judge/timeout_s must be above 0, but is 0"),
        ({"on_unknown": "fall"}, "/on_unknown must be one of"),
        ({"mark": ""}, "/mark must not be empty"),
        ({"targets": {}}, "/targets has no entry; at least 1 is needed"),
        (
            {"against": ["mini"]},
            "/against must be without-skill, {without: skill}, placebo-skill or the name of a target",
        ),
        (
            {"redact": {"patterns": ["a" * 1001]}},
            "/redact/patterns/0 has 1001 characters; at most 1000 are allowed",
        ),
        ({"baseline": {"workflow": "a/b.yml"}}, "/baseline/workflow 'a/b.yml' does not match"),
        ({"gates": [{"metric": "cost_usd", "op": "<="}]}, "/gates/0 'limit' is missing"),
        ({"against": {"with": "skill"}}, "/against must be"),
        ({"repeats": 3}, "/repeats unknown key 'repeats'; did you mean 'repeat'?"),
    ],
)
def test_a_violation_is_one_sentence_at_its_place(document, message):
    (complaint,) = said(document)
    assert complaint.startswith(message)


def test_complaints_are_in_the_order_of_the_document_and_what_is_missing_is_before_what_is_unknown():
    gates = [{"metric": "cost_usd", "op": "<=", "limits": 1}, {"metric": 1, "op": "<=", "limit": 1}]
    assert said({"gates": gates, "alpha": 2}) == [
        "/alpha must be at most 0.2, but is 2",
        "/gates/0 'limit' is missing",
        "/gates/0/limits unknown key 'limits'; did you mean 'limit'?",
        "/gates/1/metric must be text, but is a number",
    ]


def test_a_name_may_have_letters_of_any_language():
    assert said({"baseline": {"workflow": "prüfung.yml"}}) == []


def test_half_of_a_character_is_text_as_any_other():
    document = {"schemaVersion": "1.2.0", "items": [{"prompt": "\ud83d"}, {"prompt": "a", "\udc00": 1}]}
    assert said(document, CASES) == ["/items/1/? unknown key '?'"]


@pytest.mark.parametrize(
    ("document", "last"),
    [
        ({"items": [[]] * 5000}, "has more than 1,000 problems: what follows is not looked at"),
        (
            {"items": [{"prompt": "a", "turns": [1] * 30_000}]},
            "at /items/0, which has more than 20,000 values: what",
        ),
        ([[]] * 5000, "must be an object, but is a list"),
    ],
)
def test_a_document_with_very_many_problems_is_refused_with_the_first_of_them(document, last):
    lines = said(document, CASES)
    assert len(lines) < 1100
    assert last in lines[-1]


def test_problems_far_down_a_long_list_have_their_place_and_those_of_the_whole_are_said_once():
    items = [{"prompt": "a"}] * 25 + [{"prompt": 7, "x": 1}]
    assert said({"items": items, "other": 1}, CASES) == [
        "/ 'schemaVersion' is missing",
        "/other unknown key 'other'",
        "/items/25/x unknown key 'x'",
        "/items/25/prompt must be text, but is a number",
    ]


def test_depth_is_no_violation():
    value: object = 1
    for _ in range(450):
        value = [value]
    items = [{"prompt": "a", "extensions": {"deep": value}}]
    assert said({"schemaVersion": "1.2.0", "items": items}, CASES) == []
