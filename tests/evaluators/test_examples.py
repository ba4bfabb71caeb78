"""The page of evaluators is in step, and its examples are true: each is put into a file of its format and run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from runevals.cli.evaluators_page import page
from runevals.evaluators import catalogue, format_names
from runevals.evaluators.describe import describe
from runevals.evaluators.kinds import Judged
from tests.ending import ended

DOCS = Path(__file__).parents[2] / "docs"
ALL = {name: describe(cls) for name, cls in catalogue.catalogue().items()}
NOT_RUN = {"dimensions", "mock_hit"}  # ask a judge; needs a target whose tools we answer
ASSERTION = "export default function (output) { return output.includes('SQL') }"


def test_the_evaluators_page_is_the_output_of_the_command(runevals, golden):
    code, out, _ = runevals("evaluators", "--markdown")
    assert code == 0
    golden(DOCS / "evaluators.md", out)


def test_the_evaluators_page_has_the_names_of_other_formats():
    assert "`not_contains` in eval documents and samples, inverted" in page()
    assert "`contains` in skill cases" in page()
    assert "`contains` in rows" in page()


def test_the_evaluators_page_has_every_name_that_a_suite_can_use():
    words = set(re.findall(r"`?([\w-]+)`?", page()))
    assert {*catalogue.names(), *format_names.TYPES} <= words


def files_of(example: str) -> dict[str, object]:
    """The suite and settings that a docstring's example is a part of."""
    if example.startswith("evaluators:"):
        named = yaml.safe_load(example)["evaluators"][-1]["id"]
        item = {"testId": "x", "prompt": "?", "evaluators": {named: {}}, "evaluators_mode": "replace"}
        return {"evals.json": {"schemaVersion": "1.2.0", "items": [item]}, "runevals.yaml": example}
    told = json.loads(example if example.startswith("{") else f"{{{example}}}")
    if "rows" in told:
        return {"evals.json": {**told, "rows": [{"id": "x", **row} for row in told["rows"]]}}
    if "type" in told:
        told = {"assertions": [told]}
    if {"assertions", "rubric", "dimensions"} & told.keys():
        return {"evals.json": [{"sample_id": "x", "prompt": "?", "context": "A context.", **told}]}
    if isinstance(told.get("expected"), dict):
        return {"evals.json": {"id": "x", "skill": "s", "input": {}, **told}}
    item = {"testId": "x", "prompt": "?", **told, "evaluators_mode": "replace"}
    return {"evals.json": {"schemaVersion": "1.2.0", "items": [item]}}


def recorded(answer: str) -> str:
    is_row = answer.startswith(('{"output"', '{"value"'))
    return json.dumps({"case": "x", **(json.loads(answer) if is_row else {"output": answer})})


@pytest.mark.parametrize("name", ALL)
def test_every_example_is_valid_in_its_format(project, runevals, name):
    for path, content in files_of(ALL[name].example).items():
        project.write(path, content)
    project.write("assertions/mentions-sql.mjs", ASSERTION)
    code, out, err = runevals("validate", "evals.json")
    ended(code, 0, out + err, "1 case, 1 check")


@pytest.mark.parametrize("name", [name for name, one in ALL.items() if one.answers])
def test_every_example_gives_its_documented_verdicts(project, runevals, name):
    for path, content in files_of(ALL[name].example).items():
        project.write(path, content)
    project.write("assertions/mentions-sql.mjs", ASSERTION)
    found = []
    for _, answer in ALL[name].answers:
        project.write("answers.jsonl", recorded(answer))
        runevals("evals.json", "--target", "recorded:answers.jsonl", "-o", "out.json")
        found.append(project.document()["cases"][0]["status"])
    assert found == ["passed", "failed"]


@pytest.mark.parametrize("name", ALL)
def test_every_evaluator_without_a_judge_documents_verdicts(name):
    cls = catalogue.catalogue()[name]
    shows = [verdict for verdict, _ in ALL[name].answers]
    assert shows == ([] if issubclass(cls, Judged) or name in NOT_RUN else ["passes", "fails"])
