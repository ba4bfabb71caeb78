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


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32))
@example(9510)  # `expected` in a sample, beside assertions and a rubric
def test_a_file_of_mixed_keys_loses_nothing_or_is_refused_or_warns(tmp_path_factory, seed):
    suffix, text = MIXED["generated"](random.Random(seed))
    assert not MIXED["lost"](suffix, text, tmp_path_factory.getbasetemp()), text


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
