"""Patterns mean the same in every suite format, as real Node has it, and none of them can hold a run up."""

from __future__ import annotations

import json

import pytest

from tests.evaluators.expectations import PATTERNS as ALL_PATTERNS

RUNAWAY = "(a+)+$"
LONG = "a" * 40_000 + "b"
# JSON files cannot hold a lone surrogate's text for a target; the pattern is tested without one.
PATTERNS = [case for case in ALL_PATTERNS if "\ud800" not in case[2]]
UNICODE = [case for case in PATTERNS if case[1] == "u"]


def eval_document(patterns):
    return [
        {
            "testId": key,
            "prompt": key,
            "expected_response": "x",
            "evaluators_mode": "replace",
            "evaluators": {"regex": {"pattern": pattern, "flags": flags}},
        }
        for key, (pattern, flags, *_) in patterns.items()
    ]


def eval_samples(patterns):
    return [
        {"sample_id": key, "prompt": key, "assertions": [{"type": "regex", "pattern": pattern, "flags": flags}]}
        for key, (pattern, flags, *_) in patterns.items()
    ]


def nested(patterns):
    samples = eval_samples(patterns)
    for sample in samples:
        sample["assertions"] = [{"type": "assert-set", "mode": "any", "children": sample["assertions"]}]
    return samples


def schemas(patterns):
    """A schema's own patterns always have the flag `u`."""
    return [
        {"sample_id": key, "prompt": key, "assertions": [{"type": "json_schema", "schema": {"pattern": pattern}}]}
        for key, (pattern, *_) in patterns.items()
    ]


def outcomes(project, runevals, suite, answers, settings=""):
    project.write("suite.json", suite)
    lines = [json.dumps({"case": key, "output": output}) for key, output in answers.items()]
    project.write("answers.jsonl", "\n".join(lines))
    project.write("runevals.yaml", "target: {type: recorded, path: answers.jsonl}\n" + settings)
    code, _, err = runevals("suite.json", "-q", "-o", "out.json")
    assert code in (0, 1, 3), err
    return {
        case["key"]: (result["outcome"], (result.get("error") or {}).get("code"))
        for case in project.document()["cases"]
        for result in case["attempts"][0]["turns"][0]["results"]
    }


def expected(patterns):
    return {key: ("passed" if matches else "failed", None) for key, (*_, matches) in patterns.items()}


@pytest.mark.parametrize("suite", [eval_document, eval_samples, nested])
def test_every_format_agrees_with_node(project, runevals, suite):
    patterns = {f"k{n}": case for n, case in enumerate(PATTERNS)}
    answers = {key: text for key, (_, _, text, _) in patterns.items()}
    assert outcomes(project, runevals, suite(patterns), answers) == expected(patterns)


def test_the_pattern_of_a_schema_agrees_with_node(project, runevals):
    patterns = {f"k{n}": case for n, case in enumerate(UNICODE)}
    answers = {key: json.dumps(text) for key, (_, _, text, _) in patterns.items()}
    assert outcomes(project, runevals, schemas(patterns), answers) == expected(patterns)


def test_the_preset_agrees_with_node(project, runevals):
    """Rows are judged by one evaluator: a pattern of each row's own is its expected text, without flags."""
    patterns = {f"k{n}": case for n, case in enumerate(PATTERNS) if not case[1]}
    suite = {
        "evaluators": ["preset-regex"],
        "rows": [{"id": key, "input": key, "expected": pattern} for key, (pattern, *_) in patterns.items()],
    }
    answers = {key: text for key, (_, _, text, _) in patterns.items()}
    assert outcomes(project, runevals, suite, answers) == expected(patterns)


@pytest.mark.parametrize("suite", [eval_document, eval_samples, nested, schemas])
def test_a_runaway_pattern_is_one_errored_check_and_the_others_go_on(project, runevals, suite):
    patterns = {"runaway": (RUNAWAY, "", LONG, False), "fine": ("b$", "", "ab", True)}
    answers = {key: json.dumps(text) if suite is schemas else text for key, (_, _, text, _) in patterns.items()}
    found = outcomes(project, runevals, suite(patterns), answers)
    assert found == {"runaway": ("errored", "evaluator_timeout"), "fine": ("passed", None)}


def test_a_runaway_preset_is_one_errored_check(project, runevals):
    rows = [{"id": "runaway", "input": "a", "expected": RUNAWAY}, {"id": "fine", "input": "b", "expected": "b$"}]
    found = outcomes(
        project,
        runevals,
        {"evaluators": ["mine", "preset-regex"], "rows": rows},
        {"runaway": LONG, "fine": "ab"},
        "evaluators: [{id: mine, type: preset, preset: contains}]\n",
    )
    assert found == {"runaway": ("errored", "evaluator_timeout"), "fine": ("passed", None)}


SKILL = "def action(text):\n    return text\n"


@pytest.mark.parametrize(
    "expected",
    [{"type": "regex", "pattern": RUNAWAY}, {"type": "schema", "schema": {"type": "string", "pattern": RUNAWAY}}],
    ids=["regex", "schema"],
)
def test_a_runaway_pattern_of_a_skill_case_is_one_errored_check(project, runevals, expected):
    project.write("skills/echo/skill.py", SKILL)
    for name, text, wanted in (("runaway", LONG, expected), ("fine", "ab", {"type": "regex", "pattern": "a"})):
        case = {"id": name, "skill": "echo", "category": "replay", "input": {"text": text}, "expected": wanted}
        project.write(f"evals/replay/{name}.json", case)
    code, _, err = runevals("evals/replay", "-q", "-o", "out.json")
    assert code == 3, err
    errors = {
        case["key"]: (case["attempts"][0]["turns"][0]["results"][0].get("error") or {}).get("code")
        for case in project.document()["cases"]
    }
    assert errors == {"runaway": "evaluator_timeout", "fine": None}
