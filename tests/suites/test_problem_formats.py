"""`validate --format`: every problem, for people, for the runner, and for programs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.ending import ended

# OASIS, SARIF 2.1.0 errata 01.
SARIF = json.loads((Path(__file__).parent / "sarif-2.1.0.schema.json").read_text(encoding="utf-8"))
BROKEN = """samples:
  - sample_id: a
    prompt: Hi
    tagz: [x]
    assertions: [{type: containz, value: x}, {type: contains}]
  - sample_id: a
    prompt: Hi
"""
SOUND = {"sample_id": "a", "prompt": "Hi", "assertions": [{"type": "contains", "value": "x"}]}
HOSTILE = "evals\n::error::owned/a,b:c%.json"


def validated(runevals, *arguments):
    code, out, err = runevals("validate", *arguments)
    return code, json.loads(out), err


def test_json_has_every_problem_with_location_rule_and_level(project, runevals):
    project.write("cases.yaml", BROKEN)
    code, found, _ = validated(runevals, "cases.yaml", "--format", "json")
    assert (code, found["errors"], found["suites"]) == (2, 3, [])
    assert [
        (p["file"], p["line"], p["column"], p["pointer"], p["rule"], p["level"]) for p in found["problems"]
    ] == [
        ("cases.yaml", 4, 5, "/samples/0/tagz", "unknown-key", "warning"),
        ("cases.yaml", 5, 25, "/samples/0/assertions/0/type", "unknown-evaluator", "error"),
        ("cases.yaml", 5, 46, "/samples/0/assertions/1", "meaning", "error"),
        ("cases.yaml", 6, 5, "/samples/1", "duplicate-case", "error"),
    ]
    assert "did you mean 'contains'" in found["problems"][1]["message"]


def test_json_of_a_valid_suite_has_its_counts(project, runevals):
    project.write("rows.json", {"evaluators": ["preset-contains"], "rows": [{"input": "a", "expected": "b"}]})
    code, found, _ = validated(runevals, "rows.json", "--format", "json")
    assert (code, found) == (
        0,
        {
            "errors": 0,
            "suites": [{"path": "rows.json", "dialect": "rows", "cases": 1, "checks": 1}],
            "problems": [],
        },
    )


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("a.json", "{", "unreadable"),
        ("a.json", '{"rows": [], "rows": []}', "unreadable"),
        ("a.json", '{"x": 1}', "unknown-format"),
        ("a.jsonl", '{"a": 1}', "unknown-format"),
        ("a.json", '{"evaluators": ["preset-contains"], "rows": [{"input": 5}]}', "schema"),
        ("a.json", '{"evaluators": ["nope"], "rows": [{"input": "a"}]}', "unknown-evaluator"),
        ("a.json", '[{"sample_id": "a", "prompt": "p", "assertions": [{"type": "min_length", "value": "x"}]}]',
         "evaluator-options"),
        ("a.json", '[{"sample_id": "a", "prompt": "p", "assertions": [{"type": "regex", "pattern": "("}]}]',
         "evaluator-unusable"),
        ("runevals.yaml", "suitez: []", "unknown-key"),
    ],
)  # fmt: skip
def test_each_kind_of_problem_has_its_rule(project, runevals, name, content, rule):
    project.write(name, content)
    code, found, _ = validated(runevals, "a.json" if name == "runevals.yaml" else name, "--format", "json")
    assert (code, [problem["rule"] for problem in found["problems"]]) == (2, [rule])


def test_sarif_is_valid_and_points_at_the_file(project, runevals):
    project.write("two words/ä.yaml", BROKEN)
    code, log, _ = validated(runevals, "two words/ä.yaml", "--format", "sarif")
    jsonschema.Draft4Validator(SARIF, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER).validate(log)
    run = log["runs"][0]
    assert (code, [result["level"] for result in run["results"]]) == (2, ["warning", "error", "error", "error"])
    result = run["results"][1]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "unknown-evaluator"
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "two%20words/%C3%A4.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 5, "startColumn": 25},
    }


def test_a_name_that_is_not_utf_8_is_written_in_sarif_byte_by_byte(project, runevals):
    name = "evals/" + os.fsdecode(b"\xff.json")
    project.write(name, {"items": [{"promptt": "x"}]})
    code, log, _ = validated(runevals, name, "--format", "sarif")
    locations = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    assert (code, {location["artifactLocation"]["uri"] for location in locations}) == (2, {"evals/%FF.json"})


def test_a_hint_is_a_note_in_sarif(project, runevals):
    project.write("evals.json", [SOUND, {"sample_id": "b", "prompt": "Ho", "assertions": []}])
    code, log, _ = validated(runevals, "evals.json", "--health", "--format", "sarif")
    jsonschema.Draft4Validator(SARIF).validate(log)
    results = log["runs"][0]["results"]
    found = [("no-checks", "warning"), ("health/no-checks", "note")]
    assert (code, [(r["ruleId"], r["level"]) for r in results]) == (0, found)


def test_a_valid_suite_is_an_empty_sarif_run(project, runevals):
    project.write("evals.json", [SOUND])
    code, log, _ = validated(runevals, "evals.json", "--format", "sarif")
    jsonschema.Draft4Validator(SARIF).validate(log)
    assert (code, log["runs"][0]["results"]) == (0, [])


def test_each_problem_is_an_annotation(project, runevals):
    project.write("cases.yaml", BROKEN)
    code, out, _ = runevals("validate", "cases.yaml", "--format", "github")
    lines = out.splitlines()
    assert code == 2
    assert lines[1] == (
        "::error file=cases.yaml,line=5,col=25,title=unknown-evaluator::"
        "/samples/0/assertions/0/type there is no assertion type 'containz'; did you mean 'contains'?"
    )
    assert [line.split(" ")[0] for line in lines] == ["::warning", "::error", "::error", "::error"]


def test_in_a_workflow_annotations_are_the_default_format(project, runevals, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    project.write("evals.json", [{**SOUND, "tagz": ["x"]}])
    project.write("evals/evals.json", [])
    code, out, err = runevals("validate")
    assert (code, err) == (0, "")
    assert [line[:20] for line in out.splitlines()] == [
        "::warning file=evals", "⚠ evals.json: 1 case", "also found, not run:",
    ]  # fmt: skip


def test_text_of_a_suite_cannot_become_a_workflow_command(project, runevals):
    prompt = "x\n::error::owned\r::stop-commands::a%0A\u2028::set-output"
    sample = {"sample_id": prompt, "prompt": "Hi", "assertions": [{"type": "a\n::error::b %0A::c", "value": "x"}]}
    project.write(HOSTILE, [sample, sample])
    code, out, _ = runevals("validate", HOSTILE, "--format", "github")
    assert code == 2
    assert all(line.startswith("::error file=evals %3A%3Aerror%3A%3Aowned/a%2Cb%3Ac%25.json,line=") for line in
               out.splitlines())  # fmt: skip
    assert len(out.splitlines()) == 3


def test_no_problem_format_contains_a_secret(project, runevals, monkeypatch):
    monkeypatch.setenv("TEAM_TOKEN", "s3cr3t-value-42")
    project.write("a.json", [{"sample_id": "a", "prompt": "p", "assertions": [{"type": "s3cr3t-value-42"}]}])
    for form in ("text", "github", "json", "sarif"):
        code, out, err = runevals("validate", "a.json", "--format", form)
        ended(code, 2, out + err, without=["s3cr3t"])


def test_the_hook_for_pre_commit_runs_validate():
    hooks = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [(hook["id"], hook["entry"], hook["language"]) for hook in hooks] == [
        ("runevals-validate", "runevals validate", "python")
    ]
