"""Every block of the pages is what it is shown as: a suite, settings, a workflow, a grader, a program."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from check_jsonschema.builtin_schemas import get_builtin_schema
from jsonschema import Draft7Validator

from runevals.lib.parsing.schema import complaints, schema
from runevals.lib.parsing.source import parse_source
from runevals.records import EvaluatorSpec
from runevals.records.errors import UnrecognisedSuite
from runevals.sandbox import Sandbox
from runevals.suites.dialects import LoadOptions, load
from tests.docs.pages import ACTION, CONTAINER, PAGES, ROOT, Block, blocks, spans

OWN = EvaluatorSpec(name="json_valid")  # stands for an evaluator that the settings declare
ELSEWHERE = ("docs/evaluators.md",)  # whose blocks are parts of files, and run in tests/evaluators


def value_of(block: Block) -> object:
    return parse_source(block.text.encode(), ".yaml" if block.language == "yaml" else ".json", "block").value


def fault_of_a_workflow(value: object) -> str | None:
    steps = value["steps"] if isinstance(value, dict) and "steps" in value else value
    if isinstance(steps, list):
        value = {"on": "push", "jobs": {"job": {"runs-on": "ubuntu-latest", "steps": steps}}}
    elif "on" not in value:
        value = {"on": "push", **value}
    errors = Draft7Validator(get_builtin_schema("vendor.github-workflows")).iter_errors(value)
    told = [error.message for error in errors]
    for job in value["jobs"].values():
        for step in job.get("steps", ()):
            ours = {"runevals/runevals": ACTION, "runevals/runevals/container": CONTAINER}
            action = ours.get(step.get("uses", "").partition("@")[0])
            given = step.get("with", {}) if action else {}
            told += [f"there is no input {name}" for name in given if name not in action["inputs"]]
    scripts = {step.get("id") for job in value["jobs"].values() for step in job.get("steps", ()) if "run" in step}
    used = re.findall(r"steps\.(\w+)\.outputs\.(\w+)", json.dumps(value))
    told += [
        f"there is no output {name}" for of, name in used if name not in ACTION["outputs"] and of not in scripts
    ]
    return "; ".join(told) or None


def fault_of(value: object, block: Block, folder: Path) -> str | None:
    """What is wrong with the file that a block shows; None if nothing is."""
    match value:
        case {"jobs": _} | {"steps": _} | [{"uses": _}, *_]:
            return fault_of_a_workflow(value)
        case {"mcpServers": _}:
            return _complaints("runevals.suites.urls", "mcp-1", value)
        case {"json.schemas": _}:
            return None  # tests/cli/test_schema.py follows it
        case [{"expires": _}, *_]:
            return _complaints("runevals.suites", "quarantine-1", value)
        case (
            {"messages": _}
            | {"samples": _}
            | {"schemaVersion": _}
            | {"skill": _}
            | {"skill_name": _}
            | [{"query": _}, *_]
        ):
            path = folder / ("block.prompt.yml" if "messages" in value else f"block.{block.language}")
            path.write_text(block.text, encoding="utf-8")
            try:
                suite = load(path, "block", LoadOptions(definitions={"short-answer": OWN, "polite": OWN}))
            except UnrecognisedSuite as error:
                return str(error)
            return "; ".join(map(str, suite.errors)) or None
        case {**_keys}:
            return _complaints("runevals.settings", "settings-1", value)
    return "nobody knows what it is"


def _complaints(package: str, name: str, value: object) -> str | None:
    return "; ".join(f"{one.json_path}: {one.message}" for one in complaints(package, name, value)) or None


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE])
def test_blocks_are_files_that_we_read(page, tmp_path):
    for block in blocks(page, "yaml", "json"):
        if block.language == "json" and block.text.startswith('{"input"'):
            for line in block.text.splitlines():
                assert _complaints("runevals.suites.dialects", "gold", [json.loads(line)]) is None
            continue
        fault = fault_of(value_of(block), block, tmp_path)
        assert fault is None, f"{page}:{block.line}: {fault}"


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "workflows").iterdir()), ids=lambda path: path.name)
def test_workflows_give_the_action_what_it_takes(path):
    assert fault_of_a_workflow(parse_source(path.read_bytes(), ".yaml", path.name).value) is None


def test_the_graders_that_are_shown_grade():
    [first] = blocks("docs/graders.md", "python")
    [script] = blocks("docs/graders.md", "javascript")
    given = {"input": "Hi", "output": "red green", "expected": None, "metadata": {"keywords": ["red", "blue"]}}
    with Sandbox(workers=1) as sandbox:
        for block, passed in ((first, True), (script, False)):
            answer = sandbox.call(
                code=block.text,
                filename="grader",
                language=block.language,
                kind="evaluator",
                arguments=given,
                timeout_s=5,
                memory_bytes=128 * 1024**2,
            )
            assert (answer.error, answer.passed) == (None, passed)
    [of_python] = [block for block in blocks("docs/python.md", "python") if "Sandbox" in block.text]
    names: dict[str, object] = {}
    exec(of_python.text, names)
    assert names["answer"].passed


@pytest.mark.parametrize("page", PAGES)
def test_settings_within_sentences_are_settings(page):
    properties = schema("runevals.settings", "settings-1")["properties"]
    for span in spans(page):
        if re.match(r"[a-z_]+: \S", span) and "…" not in span and "{{" not in span:
            value = parse_source(span.encode(), ".yaml", "span").value
            assert isinstance(value, dict)
            if set(value) <= set(properties) - {"category"}:
                assert _complaints("runevals.settings", "settings-1", value) is None, span
