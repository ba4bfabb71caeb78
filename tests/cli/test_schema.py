"""`runevals schema`, and what editors make of it: they accept every file that we read, and we accept `$schema`."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from runevals.cli.schema import NAMES
from runevals.evaluators import catalogue
from runevals.suites.dialects import DIALECTS, read
from tests.ending import ended
from tests.sample_suites import suite_files

ROOT = Path(__file__).parents[2]


@pytest.fixture
def printed(runevals):
    """The schema that the command prints, as editors get it."""

    def get(name: str) -> Draft202012Validator:
        code, out, _ = runevals("schema", name)
        assert code == 0
        return Draft202012Validator(json.loads(out))

    return get


def test_every_format_has_a_schema():
    assert {dialect.NAME for dialect in DIALECTS} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_its_id_is_where_the_released_file_lies(printed, name):
    address = printed(name).schema["$id"]
    path = ROOT / address.removeprefix("https://raw.githubusercontent.com/runevals/runevals/v0/")
    assert path.is_relative_to(ROOT / "src")
    assert json.loads(path.read_text(encoding="utf-8"))["$id"] == address


def test_an_editor_completes_evaluators_and_their_options(printed):
    evaluators = printed("eval-document").schema["$defs"]["evaluators"]["properties"]
    assert set(evaluators) == set(catalogue.catalogue())
    assert evaluators["ExactMatch"]["properties"]["mode"]["enum"] == ["contains", "equals"]
    assert "token_set" in evaluators["PartialMatch"]["properties"]["algorithm"]["enum"]
    assert {"threshold", "weight"} <= set(evaluators["Relevance"]["properties"])
    assertion = printed("eval-samples").schema["$defs"]["assertion"]["properties"]
    assert "levenshtein_max" in assertion["type"]["examples"]


def without_remark(path: Path) -> bool:
    told = json.loads(path.with_name(f"{path.name}.cases.json").read_text(encoding="utf-8"))
    return path.suffix not in (".csv", ".jsonl", ".tsv") and told["problems"] == []


@pytest.mark.parametrize("path", [one for one in suite_files("valid") if without_remark(one.values[0])])
def test_what_we_read_without_a_remark_has_no_fault_in_an_editor(printed, path):
    validator = printed(path.parent.parent.name)
    assert [error.message for error in validator.iter_errors(read(path, path.name).value)] == []


ITEM = {"schemaVersion": "1.2.0", "items": [{"prompt": "?"}]}


@pytest.mark.parametrize(
    ("dialect", "content"),
    [
        ("eval-document", {"items": []}),
        ("eval-document", ITEM | {"default_evaluators": {"PartialMatch": {"algoritm": "f1"}}}),
        ("eval-document", ITEM | {"default_evaluators": {"ExactMatch": {"mode": "like"}}}),
        ("eval-samples", {"samples": [{"sample_id": "x"}]}),
        ("eval-samples", [{"sample_id": "x"}]),
        ("agent-skills", {"evals": "many"}),
        ("agent-skills", [{"prompt": ["a"]}]),
        ("skill-cases", {"id": "x", "skill": "s", "input": {}}),
        ("rows", [{"expected": "x"}]),
        ("prompt-yml", {"messages": []}),
        ("settings", {"repeat": "often"}),
        ("quarantine", [{"key": "x"}]),
    ],
)
def test_what_we_refuse_has_a_fault_in_an_editor(printed, dialect, content):
    assert not printed(dialect).is_valid(content)


REPLACED = '"evaluators": {"contains": {"value": "x"}}, "evaluators_mode": "replace"'
ASSERTED = '"prompt": "a", "assertions": [{"type": "contains", "value": "x"}]'
EVALUATED = "evaluators: [{name: n, string: {contains: x}}]"
SUITES = {
    "evals.json": f'{{"$schema": "s", "schemaVersion": "1.2.0", "items": [{{"prompt": "a", {REPLACED}}}]}}',
    "item.json": f'{{"$schema": "s", "prompt": "a", {REPLACED}}}',
    "eval-samples.json": f'{{"$schema": "s", "samples": [{{"sample_id": "a", {ASSERTED}}}]}}',
    "both.json": f'{{"sample_id": "all", "samples": [{{"sample_id": "a", {ASSERTED}}}]}}',
    "sample.json": f'{{"$schema": "s", "sample_id": "a", {ASSERTED}}}',
    "samples.yaml": f'# yaml-language-server: $schema=s\n$schema: s\nsamples: [{{"sample_id": a, {ASSERTED}}}]\n',
    "replay/case.json": '{"$schema": "s", "id": "a", "skill": "s", "input": {}, '
    '"expected": {"type": "exact", "value": 1}}',
    "rows.json": '{"$schema": "s", "evaluators": ["preset-contains"], "rows": [{"input": "a", "expected": "x"}]}',
    "evals/evals.json": '{"$schema": "s", "skill_name": "n", "evals": [{"prompt": "a", "expected_output": "b"}]}',
    "a.prompt.yml": '$schema: s\nmessages: [{role: user, content: "{{a}}"}]\ntestData: [{a: b}]\n' + EVALUATED,
}


@pytest.mark.parametrize("name", SUITES)
def test_a_schema_may_be_named_in_the_file(project, runevals, name):
    project.write("runevals.yaml", "# yaml-language-server: $schema=s\n$schema: s\nversion: 1\n")
    project.write(name, SUITES[name])
    code, out, err = runevals("validate", name)
    ended(code, 0, out, "1 case, 1 check")
    assert "$schema" not in out + err


def test_all_of_them_are_written_into_a_folder(project, runevals):
    code, out, _ = runevals("schema", "--write", ".vscode/schemas")
    assert (code, out.split()) == (0, [f".vscode/schemas/{name}.schema.json" for name in NAMES])
    for name in NAMES:
        assert project.document(f".vscode/schemas/{name}.schema.json")["title"]
    assert runevals("schema", "settings", "--write", "one")[1].split() == ["one/settings.schema.json"]
    assert runevals("schema", "setings", "--write", "one")[0] == 2


def test_the_documented_settings_of_an_editor_find_each_file(project, runevals):
    """docs/writing.md: every association leads to a schema that `--write` writes, and fits the files it is for."""
    page = (ROOT / "docs" / "writing.md").read_text(encoding="utf-8")
    told = json.loads(re.search(r"`\.vscode/settings\.json`.*?```json\n(.*?)```", page, re.S)[1])
    pairs = [(one["url"], name) for one in told["json.schemas"] for name in one["fileMatch"] if name[0] != "!"]
    left_out = {
        (one["url"], name[1:]) for one in told["json.schemas"] for name in one["fileMatch"] if name[0] == "!"
    }
    pairs += [(url, pattern) for url, patterns in told["yaml.schemas"].items() for pattern in patterns]
    runevals("schema", "--write", ".vscode/schemas")
    for url, _ in pairs:
        assert (project.path / url).is_file(), url
    found = 0
    for path in sorted((ROOT / "examples").rglob("*")):
        for url, pattern in pairs:
            if any(one == url and fnmatch(path.as_posix(), name.replace("**", "*")) for one, name in left_out):
                continue
            if fnmatch(path.as_posix(), "*/" + pattern.removeprefix("/").removeprefix("**/")):
                found += 1
                validator = Draft202012Validator(project.document(url))
                value = read(path, path.name).value
                assert [error.message for error in validator.iter_errors(value)] == [], path
    assert found >= 10


def keys_without_description(node, path=""):
    if isinstance(node, dict):
        for name, one in node.get("properties", {}).items():
            if not one.get("description"):
                yield f"{path}/{name}"
        for name, one in node.items():
            yield from keys_without_description(one, f"{path}/{name}")
    elif isinstance(node, list):
        for index, one in enumerate(node):
            yield from keys_without_description(one, f"{path}/{index}")


@pytest.mark.parametrize("name", NAMES)
def test_an_editor_explains_every_key(printed, name):
    assert list(keys_without_description(printed(name).schema)) == []
