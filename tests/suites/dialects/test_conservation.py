"""No suite is valid while a prompt or check of its file is lost."""

from __future__ import annotations

import json
import random
import runpy
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runevals.suites.dialects.conservation import content_in_case, content_of

MIXED = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "mixed_keys.py"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of their own: those of other tests would be searched for each of the files."""
    return tmp_path_factory.mktemp("mixed")


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32))
@example(9510)  # `expected` in a sample, beside assertions and a rubric
def test_a_file_of_mixed_keys_loses_nothing_or_is_refused_or_warns(folder, seed):
    suffix, text = MIXED["generated"](random.Random(seed))
    assert not MIXED["lost"](suffix, text, folder), text


@pytest.mark.parametrize(
    ("key", "value", "in_file", "in_case"),
    [
        ("tests", [{"input": "x"}], "cases", ""),
        ("scenarios", [["x"]], "cases", ""),
        ("setup", {"more": {"prompt": "x"}}, "cases", ""),
        ("steps", ["write it", "shorten it"], "texts", ""),
        ("models", ["gpt", "claude"], "", ""),
        ("assert", [{"type": "x"}], "checks", "checks"),
        ("rubric", "It is short", "checks", "checks"),
        ("rubric", "", "", ""),
        ("turns", [{"prompt": "x"}], "prompts", "prompts"),
        ("tags", ["a long tag"], "", ""),
        ("x-anchors", [{"prompt": "x"}], "", ""),
        ("threshold", 0.9, "", ""),
        ("ground_truth", "30 days", "checks", "checks"),
        ("history", [{"role": "user", "content": "x"}], "prompts", "prompts"),
        ("item", {"input": "x", "ideal": "y"}, "a case", "a case"),
        ("metadata", {"input": "x", "expected": "y"}, "", ""),
    ],
)
def test_what_a_key_holds_that_is_not_read(key, value, in_file, in_case):
    assert (content_of(key, value), content_in_case(key, value)) == (in_file, in_case)


def test_a_second_expected_text_is_named_unless_a_template_of_the_file_reads_it(project, runevals):
    row = {"input": "x", "expected": "y", "ground_truth": "z"}
    project.write("d.jsonl", json.dumps(row))
    assert "'ground_truth' is a variable here, and no check reads it" in runevals("validate", "d.jsonl")[2]
    project.write("d.jsonl", json.dumps({**row, "input": "Is it {{ground_truth}}?"}))
    assert "ground_truth" not in runevals("validate", "d.jsonl")[2]


def test_a_column_that_nothing_reads_is_named_and_one_that_decides_takes_the_mark(project, runevals):
    row = {"question": "x", "reference_answer": "y", "must_contain": ["z"], "format": ["short"], "difficulty": 3}
    project.write("d.jsonl", "\n".join(json.dumps({**row, "id": str(number)}) for number in range(40)))
    code, out, err = runevals("validate", "d.jsonl", "--evaluators", "preset-contains")
    assert (code, out) == (0, "⚠ d.jsonl: 40 cases, 40 checks (rows); 1 key not read\n")
    assert "'must_contain' is a variable here, and no check reads it (in 40 cases)" in err
    assert "no check or prompt reads difficulty, format; kept as variables" in err
    reading = "def evaluate(input, output, expected, metadata):\n    return {'passed': metadata['must_contain']}"
    own = {"id": "own", "type": "code", "language": "python", "code": reading}
    columns = {"category": "difficulty"}
    settings = {"evaluators": [own], "suites": [{"path": "d.jsonl", "evaluators": ["own"], "columns": columns}]}
    project.write("runevals.yaml", json.dumps(settings))
    code, out, err = runevals("validate")
    assert (code, out) == (0, "✓ d.jsonl: 40 cases, 40 checks (rows)\n")
    assert "no check or prompt reads format; kept" in err
    project.write("d.csv", "question,expected,\nHours?,9 to 5,x\n")
    err = runevals("validate", "d.csv", "--evaluators", "preset-contains")[2]
    assert "no check or prompt reads (no name); kept" in err


def test_evaluators_that_a_run_names_make_rows_of_a_list_of_prompts_and_are_said_where_they_are_not_used(
    project, runevals
):
    project.write("h.json", json.dumps([{"prompt": "x", "entry_point": "f"}]))
    assert runevals("validate", "h.json", "--evaluators", "Relevance")[1] == "✓ h.json: 1 case, 1 check (rows)\n"
    project.write("e.json", json.dumps([{"prompt": "x", "expected_response": "y"}]))
    out, err = runevals("validate", "e.json", "--evaluators", "preset-contains")[1:]
    assert "(eval-document)" in out
    assert "e.json:1:1: notice: has checks of its own: preset-contains would be for rows, and is not used" in err


def test_keys_that_are_not_read_are_all_named_where_their_problems_are_one_line(project, runevals):
    item = {"prompt": "x", "expected_response": "y", "entry_point": "f", "proof": "g", "stop": "h"}
    project.write("e.json", json.dumps([{**item, "testId": str(number)} for number in range(20)]))
    assert (
        "unknown key 'entry_point' (60 problems of this kind in this file; also 'proof', 'stop'; the first"
        in (runevals("validate", "e.json")[2])
    )


def test_a_key_that_is_not_read_takes_the_mark_from_the_first_line(project, runevals):
    sample = {"sample_id": "a", "prompt": "p", "assertions": [{"type": "contains", "value": "x"}]}
    project.write("s.json", json.dumps({"samples": [sample], "threshold": 0.9, "owner": "me"}))
    code, out, err = runevals("validate", "s.json")
    assert (code, out) == (0, "⚠ s.json: 1 case, 1 check (eval-samples); 1 key not read\n")
    assert "'threshold' is not read" in err


def test_a_check_that_is_not_read_takes_the_mark_from_the_first_line(project, runevals):
    checks = [{"kind_of_check": "x", "than": 3}, {"check": {"contains_any": ["a"], "sounds_like": "b"}}]
    project.write("e.json", json.dumps({"skill_name": "x", "evals": [{"prompt": "p", "assertions": checks}]}))
    code, out, err = runevals("validate", "e.json")
    assert (code, out.splitlines()[0]) == (0, "⚠ e.json: 1 case, 1 check (agent-skills); 2 checks lost")
    assert "is not read (keys: kind_of_check, than)" in err
    assert "'check' has 'sounds_like', which is not read" in err
