"""What a document is, and what to do with one that is no suite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runevals.records.errors import InvalidSuite, OtherFormat
from runevals.suites.dialects import LoadOptions, load
from runevals.suites.dialects.signatures import SIGNATURES, other_format

OTHERS = [
    ({"prompts": ["{{q}}"], "providers": ["openai:m"]}, "a promptfoo configuration"),
    ({"prompts": ["{{q}}"], "tests": "tests.csv"}, "a promptfoo configuration"),
    ({"targets": ["openai:m"], "tests": [{"vars": {"q": "x"}}]}, "a promptfoo configuration"),
    ([{"vars": {"q": "x"}, "assert": []}], "tests of promptfoo"),
    ([{"vars": {"q": "x"}}], "tests of promptfoo"),
    ({"tests": [{"id": "a", "input": "x", "criteria": "y"}]}, "an eval of agentv"),
    ({"evalcases": [{"id": "a", "input_messages": []}]}, "an eval of agentv"),
    ({"prompts": {"a": "b"}, "tests": [{"input": "x", "assert": []}]}, "an eval of agentv"),
    (
        {"name": "n", "providers": ["llm"], "prompts": ["{{ input }}"], "tests": [{"id": "a", "vars": {}}]},
        "an eval of agentv",
    ),
    ([{"id": "a", "vars": {"input": "x"}, "assert": ["Answers"]}], "an eval of agentv"),
    ([{"input": "x", "__expected": "contains: y"}], "tests of promptfoo"),
    ({"testsuites": {}}, "JUnit XML"),
    ([{"user_input": "x", "response": "y", "reference": "z", "faithfulness": 1.0}], "results of Ragas"),
    ({"data": [{}], "evaluators": ["builtin.coherence"], "data_mapping": {}}, "a data set of ai-agent-evals"),
    ([{"scenario": "x", "turns": "[]", "expected_outcome": "y"}], "conversations of DeepEval"),
    ({"skill": "s", "tasks": ["tasks/*.yaml"], "graders": []}, "an eval of waza"),
    ({"executor": "mock", "tasks": [{"prompt": "x", "validators": []}]}, "an eval of waza"),
    ({"skill": "s", "should_trigger_prompts": [{"prompt": "x"}]}, "an eval of waza"),
    ({"inputs": {"prompt": "x"}, "expected": {}}, "a task of waza"),
    ({"version": 1, "tests": [{"input": {"prompt": "x"}, "expected": {"type": "t"}}]}, "an eval of assay"),
    (
        {"version": "1.0", "skill": "s", "execution": {}, "dataset": {"path": "x"}, "judges": []},
        "an eval of agent-eval-harness",
    ),
    ([{"question_id": 81, "category": "writing", "turns": ["Compose", "Rewrite"]}], "conversations"),
    ({"dataset": {"local_uri": "x.jsonl"}, "evaluators": ["builtin.a"]}, "an evaluation of Microsoft Foundry"),
    ([{"query": "hi", "expected_tool_use": [], "reference": "Hello"}], "a test of Google's ADK"),
    ([{"name": "n", "data": [{"query": "hi"}], "initial_session": {}}], "a test of Google's ADK"),
    ({"eval_set_id": "e", "eval_cases": [{"conversation": []}]}, "an eval set of Google's ADK"),
    ({"version": "1", "defaults": {}, "tasks": [{"name": "t", "instruction": "x"}]}, "an eval of skillgrade"),
    ({"scenarios": [{"name": "s", "prompt": "x", "rubric": ["y"]}]}, "an eval of skill-validator"),
    ({"m": {"id": "m.v0"}, "m.v0": {"class": "evals:Match", "args": {}}}, "a registry of OpenAI Evals"),
    (
        {"a.v0": {"class": "ModelBasedClassify", "args": {"modelgraded_spec": "fact"}}},
        "a registry of OpenAI Evals that a model grades",
    ),
    ({"object": "list", "data": [{"testing_criteria": [], "data_source_config": {}}]}, "an eval of OpenAI Evals"),
    ({"name": "n", "evals": ["./eval.yaml"], "variants": {"a": {}}}, "an experiment of Vally"),
    ({"openapi": "3.1.0", "info": {}, "paths": {}}, "an OpenAPI document"),
    ({"paths": {"evals": ["evals"]}, "suites": {"pr": {}}}, "settings of Vally"),
    ({"cases": [{"inputs": "x", "expected_output": "y"}]}, "a dataset of pydantic-evals"),
    ([{"instruction": "x", "input": "", "output": "y"}], "a dataset with instruction and input"),
    ({"results": {"results": []}, "config": {}}, "a result of promptfoo"),
    ({"tasks": [], "summary": {}, "eval_id": "e"}, "results of waza"),
    (
        {"tasks": [{"status": "passed"}], "summary": {}, "eval_id": "e", "skill": "s", "config": {}},
        "results of waza",
    ),
    ({"title": "T", "group": "Safety", "tasks": [{"name": "t"}]}, "a listing of Inspect's evals"),
    (
        {"evaluation_framework": "inspect-ai", "tasks": [{"id": "t", "scorers": [{"name": "match"}]}]},
        "a listing of Inspect's evals",
    ),
    ({"task": "t", "dataset_path": "d", "metric_list": []}, "a task of lm-evaluation-harness"),
    ([{"test_id": "a", "score": 1.0, "input": "x"}], "results of agentv"),
    ({"testCases": [], "metricsScores": []}, "results of DeepEval"),
    ({"version": 2, "status": "success", "eval": {}}, "a log of Inspect"),
    ({"format_version": 1, "tool": {}, "cases": []}, "results of runevals"),
    ({"version": 1, "suites": ["evals.json"]}, "settings of runevals"),
    ([{"type": "user", "sessionId": "s", "message": {"role": "user"}}], "a transcript of Claude Code"),
    ({"resourceSpans": [{"scopeSpans": []}]}, "traces of OpenTelemetry"),
]


@pytest.mark.parametrize(("document", "name"), OTHERS)
def test_a_document_of_another_tool_is_known_and_has_a_next_step(document, name):
    signature = other_format(document)
    assert signature is not None
    assert signature.name == name
    assert "`" in signature.advice(document, "f.json") or "column" in signature.next


PROMPTFOO = {"providers": ["llm"], "prompts": ["{{ q }}"]}
CONTAINS = {"type": "contains", "value": "x"}
MARKS = [
    ({}, ["Answers politely"]),
    ({}, [{"type": "script", "command": ["uv", "run", "check.py"]}]),
    ({}, [CONTAINS, "Answers politely"]),
    ({"assert": [{"type": "field-accuracy", "fields": []}]}, [CONTAINS]),
    ({"environment": {"type": "host"}}, [CONTAINS]),
    ({"name": "n"}, [CONTAINS]),
]


@pytest.mark.parametrize("variables", ["q", "input"])
@pytest.mark.parametrize(("root", "checks"), MARKS)
def test_an_eval_of_agentv_is_told_from_a_promptfoo_configuration(root, checks, variables):
    """A name is not what tells them apart: an id and checks that promptfoo does not have are."""
    test = {"id": "a", "vars": {variables: "x"}, "assert": checks}
    for left_out in (None, "providers"):
        document = {key: value for key, value in PROMPTFOO.items() if key != left_out} | root
        assert other_format({**document, "tests": [test]}).name == "an eval of agentv"
        plain = {**document, "tests": [{"id": "a", "vars": {variables: "x"}, "assert": [CONTAINS]}]}
        plain = {key: value for key, value in plain.items() if key not in root}
        assert other_format(plain).name == "a promptfoo configuration"


@pytest.mark.parametrize("document", [{"name": "n", "tests": "./cases/"}, {"assert": [], "tests": ["file://c"]}])
def test_a_file_that_is_called_as_agentvs_is_one_of_its_evals(document):
    for name in ("EVAL.yaml", "a.eval.yaml"):
        signature = other_format(document, name)
        assert signature.name == "an eval of agentv"
        assert f"({'EVAL.yaml' if name[0] == 'E' else '*.eval.yaml'}, tests, " in signature.advice(document, name)
    assert other_format(document, "a.yaml") is None


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("test_a.py", "is a program (*.py), not a suite: run it with its own tool (pytest, Inspect, DeepEval, …)"),
        ("promptfooconfig.mts", "is a program of promptfoo (promptfooconfig.*[jt]s), not a suite: "),
        ("config.ts", "is a program (*.ts), not a suite: "),
        ("chat.prompty", "is a prompt (*.prompty), not a suite: name it as `target.prompt_file`"),
        ("chat.prompt", "is a prompt (*.prompt), not a suite: name it as `target.prompt_file`"),
        ("pyproject.toml", "is a file of settings (*.toml), not a suite: a suite is JSON, YAML"),
        ("README.md", "is a text (*.md), not a suite: "),
        (
            "2026_popularity.eval",
            "is a log of Inspect (*.eval), not a suite: results are compared by `runevals gate",
        ),
        ("cases.xlsx", "is a spreadsheet (*.xlsx), not a suite: save it as CSV"),
        ("openapi.yaml", "is an OpenAPI document (openapi.*), not a suite: "),
    ],
)
def test_a_file_that_is_no_suite_by_its_ending_is_called_what_it_is(tmp_path, name, told):
    """Nothing is said of JSON, which it is not meant to be; a file that is missing is missing."""
    with pytest.raises(InvalidSuite, match="there is no such file"):
        load(tmp_path / name, name, LoadOptions())
    (tmp_path / name).write_bytes(b"PK\xff" if name.endswith(("eval", "xlsx")) else b"# a: 1\na: 2\na: 3\n")
    with pytest.raises(OtherFormat) as caught:
        load(tmp_path / name, name, LoadOptions())
    assert f"{name}:1:1: {told}" in str(caught.value)


@pytest.mark.parametrize(
    "document",
    [
        {"prompts": ["a"], "expected_responses": ["b"]},
        {"prompts": ["a"]},
        {"name": "n", "stimuli": [{"name": "a", "prompt": "x"}]},
        {"schemaVersion": "1.2.0", "items": [{"prompt": "x"}]},
        {"skill_name": "s", "tests": [{"input": "x", "expected_output": "y"}]},
        [{"input": "x", "output": "y", "instruction": "z", "expected": "y"}],
        {"x": 1},
        {"version": "1.0.0", "suites": [{"name": "a"}]},
        [],
        None,
        "text",
    ],
)
def test_a_document_that_may_be_a_suite_is_of_no_other_tool(document):
    assert other_format(document) is None


def test_the_one_with_the_most_keys_is_what_a_document_is():
    """Each key of another tool that is added to a suite of ours makes it less certain, until it is that tool's."""
    suite = {"prompts": ["a"], "expected_responses": ["b"]}
    assert other_format({**suite, "tests": []}) is None
    assert other_format({**suite, "tests": [], "providers": []}).name == "a promptfoo configuration"


CASES = {
    "version": "1.11",
    "testCases": [
        {"id": "a", "query": "What is it?", "mode": "m"},
        {"id": "b", "expected_tools": ["t"], "reference": "r"},
    ],
}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        # What the file has stands beside the way on: which of it are cases, its author knows.
        (
            "t.json",
            json.dumps(CASES),
            "it has version, testCases (of id, query, mode, expected_tools, reference); if these are",
        ),
        (
            "t.json",
            json.dumps({"items": [{"query": "x", "misses": []}]}),
            "it has items (of query, misses); if these",
        ),
        ("t.json", '[{"name": "x", "kind": "agent"}]', "it has name, kind; if these are cases"),
        ("t.yaml", "a: 1\nb: 2\n", "it has a, b; if these are cases, make them rows with 'input' and 'expected'"),
        ("t.yaml", "a: !function utils.f\n", "the tag !function is not read here; a file of another tool is run"),
        ("t.jsonl", '{\n  "input": "x"\n}\n', "1:1: is one JSON document, not one on each line: call it *.json"),
        (
            "t.jsonl",
            '{"input": "x", "expected": {"a": 1, "b": 2}}\n',
            "but is an object; write text, or let a grader of your own",
        ),
        ("t.jsonl", '{"input": [{"image": "a.png"}, 1]}\n', "but is a list; what is sent is text"),
        ("t.jsonl", '{"input_dta": "x"}\n', "`columns: {prompt: …, expected: …}`; did you mean 'input_dta'?"),
        (
            "t.json",
            '{"rows": [{"input": "x", "history": {"a": 1}}]}',
            "is not read in this format; move it, or take it out",
        ),
    ],
)
def test_what_cannot_be_read_is_said_with_the_way_on(tmp_path, name, text, told):
    (tmp_path / name).write_text(text, encoding="utf-8")
    options = LoadOptions(evaluators={} if "rows" in text else {"ExactMatch": {}})
    with pytest.raises(InvalidSuite) as caught:
        raise InvalidSuite(load(tmp_path / name, name, options).errors)
    assert told in str(caught.value)


@pytest.mark.parametrize("prompt", ["prompts/a.md", "./prompts/../prompts/a.md"])
def test_a_prompt_that_is_the_name_of_a_file_is_told_of(tmp_path, prompt):
    """Nothing is told of files outside of the suite's folder, which a change must not learn of."""
    (tmp_path / "evals/prompts").mkdir(parents=True)
    suite = tmp_path / "evals/t.jsonl"
    for path, word in ((tmp_path / "b.md", "Outside"), (tmp_path / "evals/prompts/a.md", "What is it?")):
        path.write_text(word, encoding="utf-8")
    rows = [prompt, "prompts/none.md", "../b.md", str(tmp_path / "b.md"), "See prompts/a.md", "prompts"]
    suite.write_text("".join(json.dumps({"input": row, "expected": "x"}) + "\n" for row in rows), encoding="utf-8")
    problems = load(suite, "t.jsonl", LoadOptions(evaluators={"ExactMatch": {}})).problems
    assert [str(one).partition("warning: ")[2] for one in problems] == [
        "this case has a file's name as prompt, which is sent as it is; write what is in the file"
    ]


def test_the_table_says_of_every_other_tool_what_to_do():
    assert all(signature.keys and signature.name for signature in SIGNATURES)
    assert len({signature.keys for signature in SIGNATURES}) == len(SIGNATURES)


RESULTS = Path(__file__).parents[2] / "imports"
READ = [
    *RESULTS.glob("results/*/valid/*.json"),
    *RESULTS.glob("results/*/valid/*.jsonl"),
    *RESULTS.glob("results/*/valid/*.xml"),
    *RESULTS.glob("promptfoo/*/promptfooconfig.yaml"),
]
STRICT = [
    path for path in READ if path.parts[-3] != "rows" and "NaN" not in path.read_text(encoding="utf-8")
]  # which is not JSON


@pytest.mark.parametrize("path", sorted(STRICT), ids=lambda path: f"{path.parents[1].name}/{path.name}")
def test_what_gate_and_import_read_is_told_apart_from_suites(path):
    with pytest.raises(OtherFormat, match=r"runevals (gate|import)"):
        load(path, path.name, LoadOptions(evaluators={"ExactMatch": {}}))


@pytest.mark.parametrize("name", ["promptfooconfig.yaml", "my evals.json"])
def test_a_configuration_of_another_tool_is_no_suite_and_the_message_has_the_command(project, runevals, name):
    document = {"prompts": ["{{q}}"], "providers": ["openai:m"], "tests": [{"vars": {"q": "x"}}]}
    project.write(name, json.dumps(document))
    quoted = f"'{name}'" if " " in name else name
    for command in (["validate", name], ["plan", name], ["run", name, "--target", "openai:m"]):
        code, out, err = runevals(*command)
        assert (code, "✓" in out + err) == (2, False)
        assert "is a promptfoo configuration (prompts, providers, tests), not a suite: " in err
        assert f"`runevals import promptfoo {quoted}`" in err
    code, _, err = runevals("plan")
    assert code == 2
    assert f"import promptfoo {quoted}" in err
