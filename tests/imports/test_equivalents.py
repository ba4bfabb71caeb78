"""Each type of promptfoo's assertions, with a value and threshold, as the check that it becomes."""

from __future__ import annotations

import pytest

from runevals.imports.code import NoEquivalent
from runevals.imports.equivalents import equivalent

NAMED = {"name": "search", "min": 2}
BECOMES = [
    ("contains", "a", None, {"type": "contains", "value": "a", "case_sensitive": True}),
    ("icontains-any", "a, b", None, {"type": "contains_any", "values": ["a", "b"]}),
    ("contains-any", "a", None, {"type": "contains", "value": "a", "case_sensitive": True}),
    ("equals", 5, None, {"type": "equals", "value": "5"}),
    ("equals", [5], None, {"type": "json_schema", "schema": {"const": [5]}}),
    ("is-json", "type: object", None, {"type": "json_schema", "schema": {"type": "object"}}),
    ("is-json", None, None, {"type": "json_valid"}),
    ("levenshtein", "a", None, {"type": "levenshtein_max", "reference": "a", "value": 5}),
    ("latency", None, 900, {"type": "latency_max", "value": 900}),
    ("word-count", {"max": 9}, None, {"type": "word_count_max", "value": 9}),
    ("answer-relevance", None, None, {"type": "answer_relevancy"}),
    ("answer-relevance", None, 0.75, {"type": "answer_relevancy", "threshold": 4.0}),
    ("context-faithfulness", None, None, {"type": "faithfulness", "reference": "Rome"}),
    ("trajectory:tool-used", NAMED, None, {"type": "tool_count", "tool": "search", "min": 2}),
    ("trajectory:step-count", {"type": "tool", "min": 1}, None, {"type": "tools_count_min", "value": 1}),
    ("trajectory:tool-sequence", ["a"], None, {"type": "tool_sequence", "steps": ["a"], "mode": "in_order"}),
    ("skill-used", {"name": "a"}, None, {"type": "skill_triggered", "skill": "a"}),
    ("not-skill-used", "a", None, {"type": "skill_triggered", "skill": "a", "should_trigger": False}),
]
REFUSED = [
    ("contains", " ", None, "its value is blank"),
    ("contains-all", [], None, "its value is not a list of texts"),
    ("is-json", [1], None, "its schema is not an object"),
    ("cost", None, None, "has no threshold"),
    ("levenshtein", "a", "few", "has no threshold"),
    ("word-count", {"min": "few"}, None, "min or max is not a number"),
    ("word-count", {}, None, "has neither min nor max"),
    ("trajectory:tool-args-match", {"name": "a"}, None, "names no arguments"),
    ("skill-used", {"name": "a", "max": 1}, None, "how often a skill is loaded is not counted"),
]


def check(kind, value, threshold):
    return equivalent(kind, value).check({"value": value, "threshold": threshold}, {"context": "Rome"})


@pytest.mark.parametrize(("kind", "value", "threshold", "ours"), BECOMES)
def test_an_assertion_becomes_a_check(kind, value, threshold, ours):
    assert check(kind, value, threshold) == ours


@pytest.mark.parametrize(("kind", "value", "threshold", "reason"), REFUSED)
def test_what_has_no_equivalent_says_why(kind, value, threshold, reason):
    with pytest.raises(NoEquivalent, match=reason):
        check(kind, value, threshold)


def test_several_words_are_several_checks():
    bounds = check("word-count", {"min": 1, "max": 2}, None)
    assert (bounds["mode"], [child["value"] for child in bounds["children"]]) == ("all", [1, 2])
    assert check("contains-any", ["a", "b"], None)["mode"] == "any"


def test_a_context_must_be_there():
    with pytest.raises(NoEquivalent, match="no variable 'context'"):
        equivalent("context-faithfulness").check({}, {})
