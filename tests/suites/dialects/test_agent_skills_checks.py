"""Checks of Agent Skills: which become an evaluator that decides, and which are judged."""

from __future__ import annotations

import json

import pytest

from runevals.lib.parsing.source import read_json
from runevals.suites.dialects.agent_skills_checks import AgentSkillChecks


def read(entry):
    """(evaluator and options of the one check, what is said of it)."""
    case = {"prompt": "?", "assertions": [entry]}
    reader = AgentSkillChecks(source=read_json(json.dumps(case), "evals.json"))
    (spec,) = reader.specs(case, ())
    return spec, [problem.message for problem in reader.problems]


@pytest.mark.parametrize(
    ("entry", "name", "options", "negated"),
    [
        ({"type": "Contains", "value": "a"}, "contains", {"value": "a"}, False),
        ({"type": "not-contains", "value": "a"}, "contains", {"value": "a"}, True),
        ({"type": "not_contains", "value": "a", "not": True}, "contains", {"value": "a"}, False),
        ({"type": "contains_none", "values": ["a", "b"]}, "contains_any", {"values": ["a", "b"]}, True),
        ({"type": "regex", "pattern": "(?im)^a", "flags": "s"}, "regex", {"pattern": "^a", "flags": "sim"}, False),
        (
            {"type": "regex", "pattern": "a", "flags": ["re.IGNORECASE"]},
            "regex",
            {"pattern": "a", "flags": "i"},
            False,
        ),
        ({"type": "not_contains_any", "values": ["a"]}, "contains_any", {"values": ["a"]}, True),
        ({"type": "equals", "value": "a"}, "equals", {"value": "a"}, False),
        ({"type": "starts_with", "value": "a"}, "starts_with", {"value": "a"}, False),
        ({"type": "max_length", "value": 3}, "max_length", {"value": 3}, False),
        ({"type": "tools_called", "values": ["find"]}, "tools_called", {"values": ["find"]}, False),
        (
            {
                "type": "tool_arguments",
                "tool": "pay",
                "match": {"id": "1"},
                "id": "paid",
                "weight": 2,
                "not": True,
            },
            "tool_arguments",
            {"tool": "pay", "match": {"id": "1"}},
            True,
        ),
    ],
)
def test_an_operand_is_decided_without_a_judge(entry, name, options, negated):
    spec, said = read(entry)
    assert (spec.name, spec.options, spec.negated, said) == (name, options, negated, [])


@pytest.mark.parametrize(
    ("entry", "statement", "said"),
    [
        ("It is dated", "It is dated", ""),
        (
            {"type": "contains", "text": "It is dated"},
            "It is dated",
            "'contains' needs 'value': a text, or a list of texts; its text is judged instead",
        ),
        ({"type": "contains", "value": 5, "text": "Five"}, "Five", "'contains' needs 'value': a text, or a list"),
        ({"type": "links", "value": 5, "text": "Five"}, "Five", "the type 'links' is not one that we decide"),
        ({"type": "llm-judge", "criterion": "It is kind"}, "It is kind", ""),
        (
            {"cmd": "make", "text": "It builds"},
            "It builds",
            "commands in a suite are never run; its text is judged",
        ),
        ({"name": "n", "check": "words <= 40"}, "words <= 40", "'check' is an expression of another tool"),
        ({"name": "n", "check": "At most 40 words"}, "At most 40 words", ""),
    ],
)
def test_prose_is_judged(entry, statement, said):
    spec, found = read(entry)
    assert (spec.name, spec.options) == ("statement", {"statement": statement})
    assert (found[0] if found else "").find(said) >= 0
    assert bool(found) is bool(said)


def assert_refused(entry, place, message):
    """Fails unless this check, the second of its case, is an error there, and the first is read all the same."""
    case = {"prompt": "?", "assertions": ["It is dated", entry]}
    reader = AgentSkillChecks(source=read_json(json.dumps(case), "evals.json"))
    assert [spec.name for spec in reader.specs(case, ())] == ["statement"]
    (problem,) = reader.problems
    assert (problem.level, problem.pointer, problem.message) == ("error", f"/assertions/1{place}", message)


def test_a_check_of_tools_with_an_option_that_it_does_not_have_is_an_error():
    case = {"prompt": "?", "assertions": [{"type": "tool_count", "tool": "find", "most": 3}]}
    reader = AgentSkillChecks(source=read_json(json.dumps(case), "evals.json"))
    assert reader.specs(case, ()) == []
    (problem,) = reader.problems
    assert (problem.level, problem.pointer) == ("error", "/assertions/0")
    assert "tool_count has no option 'most'" in problem.message


def test_a_command_without_words_is_no_check():
    case = {"prompt": "?", "assertions": [{"cmd": "rm -rf ."}]}
    reader = AgentSkillChecks(source=read_json(json.dumps(case), "evals.json"))
    assert reader.specs(case, ()) == []
    assert "commands in a suite are never run" in reader.problems[0].message


@pytest.mark.parametrize(
    ("entry", "place", "message"),
    [
        (
            {"type": "min_length", "value": "10000"},
            "/value",
            "'min_length' needs a whole number from 0 here, but it is \"10000\"",
        ),
        (
            {"type": "contains_all", "value": "zzz"},
            "/value",
            "'contains_all' needs a list of texts here, but it is \"zzz\"",
        ),
        (
            {"type": "contains", "value": ""},
            "/value",
            "'contains' needs a text, or a list of texts here, but it is \"\"",
        ),
        ({"type": "starts_with", "value": ["a"]}, "/value", "'starts_with' needs a text here, but it is [\"a\"]"),
        (
            {"type": "min_occurrences", "pattern": "x", "count": "3"},
            "/pattern",
            "'min_occurrences' needs a text, and a whole number from 1 as 'count', here, but it is \"x\"",
        ),
        ({"type": "contains"}, "", "'contains' needs 'value': a text, or a list of texts"),
    ],
    ids=str,
)
def test_a_check_whose_operand_cannot_be_used_is_an_error_and_asks_no_judge(entry, place, message):
    assert_refused(entry, place, message)


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("assertions", {"type": "not_contains", "values": ["password", "api key"]}),
        ("assertions", {"type": "contains", "value": ["password", "api key"], "not": True}),
        ("must_not", {"type": "contains", "values": ["password", "api key"]}),
    ],
    ids=str,
)
def test_several_texts_that_must_not_be_there_are_none_of_them(key, entry):
    case = {"prompt": "?", key: [entry]}
    [spec] = AgentSkillChecks(source=read_json(json.dumps(case), "evals.json")).specs(case, ())
    assert (spec.name, spec.options, spec.negated) == ("contains_any", {"values": ["password", "api key"]}, True)


@pytest.mark.parametrize(
    ("entry", "place", "message"),
    [
        ({"type": "regx", "pattern": "z"}, "/type", "there is no type 'regx'; did you mean 'regex'?"),
        ({"type": "contian", "value": "z"}, "/type", "there is no type 'contian'; did you mean 'contains'?"),
        ({"type": "contains", "valu": "z"}, "/valu", "unknown key 'valu'; did you mean 'value'?"),
        ({"typ": "contains", "text_": "z"}, "/typ", "unknown key 'typ'; did you mean 'type'?"),
    ],
)
def test_a_misspelt_check_is_an_error(entry, place, message):
    assert_refused(entry, place, message)


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "regx", "pattern": "z", "text": "It is dated"},
        {"type": "output_contains", "value": "a date"},
        {"name": "n", "assertions": ["It is dated"], "prompt": "?"},
    ],
)
def test_prose_and_the_words_of_other_tools_are_not_misspelt(entry):
    case = {"prompt": "?", "assertions": [entry]}
    reader = AgentSkillChecks(source=read_json(json.dumps(case), "evals.json"))
    reader.specs(case, ())
    assert "error" not in [problem.level for problem in reader.problems]


@pytest.mark.parametrize(
    ("case", "ids"),
    [
        (
            {"expected_output": "A", "must_not_have": ["B"]},
            ["B", "expected_output"],
        ),  # an empty answer has no B
        ({"expected_output": "A", "must_have": ["B"], "forbidden": ["C"]}, ["B", "C"]),
        ({"expected_output": "A"}, ["expected_output"]),
        ({"expected_output": "A", "must_contain_any": ["B", "C"]}, ["expected_output"]),  # not each of them
    ],
)
def test_what_is_expected_is_asked_unless_something_else_must_hold(case, ids):
    reader = AgentSkillChecks(source=read_json(json.dumps(case), "evals.json"))
    assert [spec.id for spec in reader.specs(case, ())] == ids


@pytest.mark.parametrize("text", [r"\bTODO\b", r"matches regex /\bTODO\b/i"])
def test_a_pattern_among_sentences_is_said(text):
    case = {"must_not_have": [text, "No TODO (really?) is left. Or so."]}
    reader = AgentSkillChecks(source=read_json(json.dumps(case), "evals.json"))
    reader.specs(case, ())
    [problem] = reader.problems
    assert problem.message == (
        r"looks like a pattern, and a judge is asked about it; {type: regex, pattern: '\bTODO\b'} asks code"
    )
