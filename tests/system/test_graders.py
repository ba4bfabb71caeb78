"""Graders of one's own in a run: declared in the settings, named by suites of any format."""

from __future__ import annotations

import sys

import pytest

SHORT = "def evaluate(input, output, expected, metadata):\n    return {'passed': len(output) < 10, 'score': 0.5}\n"
SETTINGS = """
target: {type: recorded, path: answers.jsonl}
evaluators:
  - {id: short, type: code, file: graders/short.py}
  - id: polite
    type: code
    weight: 2
    code: "module.exports = (i, o) => ({passed: /please/i.test(o), reason: 'manners'})"
  - {id: year, type: preset, preset: regex, pattern: "\\\\d{4}"}
"""
SUITE = {
    "schemaVersion": "1.2.0",
    "default_evaluators": {"short": {}, "polite": {"weight": 3}, "year": {}},
    "items": [{"testId": "a", "prompt": "?"}, {"testId": "b", "prompt": "??"}],
}
ANSWERS = '{"case": "a", "output": "Please 2026, and do it soon"}\n{"case": "b", "output": "2026 please"}\n'


@pytest.fixture
def graded(project):
    project.write("graders/short.py", SHORT)
    project.write("runevals.yaml", SETTINGS)
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    return project


def results(project):
    return {
        (case["key"], result["id"]): result
        for case in project.document()["cases"]
        for result in case["attempts"][0]["turns"][0]["results"]
    }


def test_suites_name_them_by_their_id(graded, runevals):
    code, out, _ = runevals("-q", "-o", "out.json")
    assert code == 0, out
    found = results(graded)
    assert {key: result["outcome"] for key, result in found.items()} == {
        ("a", "short"): "failed",
        ("a", "polite"): "passed",
        ("a", "year"): "passed",
        ("b", "short"): "failed",
        ("b", "polite"): "passed",
        ("b", "year"): "passed",
    }
    assert found["a", "polite"]["reason"] == "manners"
    assert (found["a", "polite"]["weight"], found["a", "short"]["score"]) == (3.0, 0.5)
    assert (found["a", "short"]["evaluator"], found["a", "short"]["layer"]) == ("code", "behavior")
    if sys.platform == "linux":
        assert graded.document()["run"]["sandbox"] == "strict"


def test_rows_name_them_too(graded, runevals):
    graded.write("rows.json", {"evaluators": ["short"], "rows": [{"id": "a", "input": "?"}]})
    code, out, _ = runevals("rows.json", "-q", "-o", "out.json")
    assert code == 0, out
    assert results(graded)["a", "short"]["outcome"] == "failed"


def test_a_grader_that_breaks_is_an_error_beside_the_others(graded, runevals):
    graded.write("graders/short.py", "def evaluate(i, o, e, m):\n    print('so far')\n    return m['no']\n")
    code, out, _ = runevals("-q", "-o", "out.json")
    assert code == 3, out
    found = results(graded)
    assert found["a", "short"]["error"] == {"code": "evaluator_crashed", "message": "KeyError: 'no' (line 3)"}
    assert found["a", "short"]["details"] == {"logs": "so far\n"}
    assert found["a", "polite"]["outcome"] == "passed"


def test_a_changed_grader_makes_an_edited_case_not_a_regression(graded, runevals):
    assert runevals("-q", "-o", "base.json")[0] == 0
    graded.write("graders/short.py", SHORT.replace("< 10", "< 99"))
    runevals("-q", "-o", "out.json", "--baseline", "base.json")
    assert {change["change"] for change in graded.document()["comparison"]["changes"]} == {"edited"}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("evaluators: [{id: x, type: code}]", "x: give either 'code' or 'file'"),
        ("evaluators: [{id: x, type: code, file: none.js}]", "there is no file none.js"),
        ("evaluators: [{id: x, type: code, file: ../../etc/passwd}]", "is outside the repository"),
        ("evaluators: [{id: x, type: code, file: answers.jsonl}]", "say the language of answers.jsonl"),
        ("evaluators: [{id: x, type: code, code: ' '}]", "code is empty"),
        ("evaluators: [{id: contains, type: code, code: x}]", "'contains' is a built-in evaluator"),
        ("evaluators: [{id: preset-regex, type: code, code: x}]", "'preset-regex' is a built-in evaluator"),
        ("evaluators: [{id: not_contains, type: code, code: x}]", "'not_contains' is a built-in evaluator"),
        ("evaluators: [{id: x, type: code, code: y}, {id: x, type: code, code: y}]", "the id 'x' is used twice"),
        ("evaluators: [{id: x, type: preset, preset: similarity, threshold: 3}]", "threshold is 3"),
        ("evaluators: [{id: shor, type: code, code: y}]", "no evaluator 'short'; did you mean 'shor'"),
        ("evaluators: [{id: x, type: kode, code: y}]", "did you mean 'code'?"),
    ],
)
def test_what_cannot_be_meant_is_told_before_the_run(graded, runevals, settings, told):
    graded.write("runevals.yaml", f"{settings}\ntarget: {{type: recorded, path: answers.jsonl}}\n")
    code, _, err = runevals("-q")
    assert code == 2
    assert told in err


COMBINED = """
target: {type: recorded, path: answers.jsonl}
judge: recorded:judge.jsonl
evaluators:
  - {id: both, type: composite, evaluatorIds: [preset-contains, length], aggregation: and, mode: parallel}
  - {id: either, type: composite, evaluatorIds: [both, tone], aggregation: or}
  - id: length
    type: code
    code: "module.exports = (i, o) => ({passed: true, score: 0.85})"
  - {id: tone, type: llm, modelId: gpt-5-mini, prompt: "Polite? {{output}}", scoreRange: {min: 0, max: 10}}
"""


def test_composites_and_llm_evaluators_of_the_settings(graded, runevals):
    """The document's worked example: {passed: true, score: 1.0} and 0.85 make 0.85."""
    graded.write("runevals.yaml", COMBINED)
    graded.write("answers.jsonl", '{"case": "a", "output": "say yes"}\n{"case": "b", "output": "no"}\n')
    lines = [f'{{"case": "{case}", "evaluator": "tone", "score": {score}, "reason": "r"}}' for case, score in
             (("a", 6), ("b", 5))]  # fmt: skip
    graded.write("judge.jsonl", "\n".join(lines))
    rows = [{"id": key, "input": "?", "expected": "yes"} for key in ("a", "b")]
    graded.write("rows.json", {"evaluators": ["both", "tone", "either"], "rows": rows})
    code, out, _ = runevals("rows.json", "-q", "-o", "out.json")
    assert code == 0, out
    found = results(graded)
    assert (found["a", "both"]["outcome"], found["a", "both"]["score"]) == ("passed", 0.85)
    assert (found["b", "both"]["outcome"], found["b", "both"]["score"]) == ("failed", 0.0)
    assert (found["a", "tone"]["outcome"], found["a", "tone"]["score"]) == ("passed", 0.6)
    assert (found["b", "tone"]["outcome"], found["b", "either"]["outcome"]) == ("failed", "failed")
    assert found["b", "either"]["score"] == 0.5
    assert [part["id"] for part in found["a", "both"]["details"]["parts"]] == ["preset-contains", "length"]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("{id: x, type: composite, evaluatorIds: [y]}, {id: y, type: composite, evaluatorIds: [x]}", "x → y → x"),
        ("{id: x, type: composite, evaluatorIds: [preset-containz]}", "did you mean 'preset-contains'?"),
        ("{id: x, type: composite, evaluatorIds: [contains], weights: [1, 2]}", "weights has 2 entries for 1"),
        ("{id: x, type: llm, prompt: '{{answer}}'}", "the template has no variable 'answer'"),
        ("{id: x, type: llm, scoreRange: {min: 3, max: 1}}", "max must be above min"),
    ],
)
def test_combinations_that_cannot_be_meant_are_told(graded, runevals, entry, told):
    graded.write("runevals.yaml", f"evaluators: [{entry}]\ntarget: {{type: recorded, path: answers.jsonl}}\n")
    code, _, err = runevals("-q")
    assert code == 2
    assert told in err
