"""OpenAI's evals and runs as prompts, cases and checks; what has no equal is said to be lost."""

from __future__ import annotations

import json

import pytest

from runevals.imports.openai_evals import configuration
from runevals.records.errors import UsageError
from tests.ending import ended

ANSWER = "{{ sample.output_text }}"
CRITERIA = [
    {
        "type": "string_check",
        "name": "ideal",
        "operation": "ilike",
        "input": ANSWER,
        "reference": "{{item.ideal}}",
    },
    {"type": "string_check", "name": "of the item", "operation": "eq", "input": "{{item.kind}}", "reference": "x"},
    {
        "type": "text_similarity",
        "name": "near",
        "evaluation_metric": "fuzzy_match",
        "input": ANSWER,
        "reference": "x",
    },
    {
        "type": "label_model",
        "name": "kind",
        "input": [{"role": "developer", "content": "Is it kind?"}, {"role": "user", "content": ANSWER}],
        "labels": ["kind", "rude"],
        "passing_labels": ["kind"],
    },
    {"type": "python", "name": "code", "source": "def grade(sample, item): return 1.0"},
]
EVAL = {
    "object": "eval",
    "id": "e",
    "name": "Support",
    "data_source_config": {"type": "custom"},
    "testing_criteria": CRITERIA,
}
TEMPLATE = [
    {"role": "developer", "content": {"type": "input_text", "text": "You are support."}},
    {"role": "user", "content": {"type": "input_text", "text": "{{ item.question }}"}},
]
RUN = {
    "object": "eval.run",
    "data_source": {
        "type": "responses",
        "model": "gpt-6.1-terra",
        "sampling_params": {"temperature": 0.2, "max_completions_tokens": 200},
        "input_messages": {"type": "template", "template": TEMPLATE},
        "source": {"type": "file_content", "content": [{"item": {"question": "Refund?", "ideal": "30 days"}}]},
    },
}
ITEM = {
    "object": "eval.run.output_item",
    "datasource_item": {"question": "Hours?", "ideal": "9 to 5"},
    "results": [],
}


def written(folder, *objects, name="evals.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in objects))
    return path


def test_an_eval_with_a_run_becomes_prompt_target_cases_and_checks(tmp_path):
    config = configuration(written(tmp_path, EVAL, RUN, ITEM, ITEM))
    [prompt], [provider] = config["prompts"], config["providers"]
    assert json.loads(prompt) == [
        {"role": "system", "content": "You are support."},
        {"role": "user", "content": "{{question}}"},
    ]
    assert provider == {
        "id": "openai:responses:gpt-6.1-terra",
        "config": {"temperature": 0.2, "max_completion_tokens": 200},
    }
    assert [test["vars"]["question"] for test in config["tests"]] == ["Refund?", "Hours?"]
    assert [(one["type"], one.get("value")) for one in config["defaultTest"]["assert"]] == [
        ("icontains", "{{ideal}}"),
        ("string_check grader of the item", None),
        ("text_similarity:fuzzy_match", "x"),
        (
            "llm-rubric",
            "Is it kind?\n\n(the answer)\n\nOf the labels kind, rude, the answer must deserve one of: kind.",
        ),
        ("python grader code", None),
    ]


def test_what_has_no_equal_is_listed_and_the_rest_is_a_valid_suite(project, runevals, monkeypatch):
    monkeypatch.chdir(project.path)
    written(project.path, {**EVAL, "testing_criteria": CRITERIA[:4]}, RUN)
    code, out, err = runevals("import", "openai-evals", "evals.jsonl")
    ended(
        code, 0, out + err, "openai-evals: 1 case, 2 checks (2 of 4 assertions kept)", "fuzzy_match", "of the item"
    )
    ended(runevals("validate")[0], 0, "")


@pytest.mark.parametrize(
    ("objects", "name", "prompts"),
    [
        ([{"object": "list", "data": [EVAL, {"item": {"question": "?"}}]}], "page.json", ["{{question}}"]),
        ([[EVAL, RUN]], "list.json", None),
        ([EVAL, {"item": {"input": "?"}}], "data.jsonl", ["{{input}}"]),
    ],
    ids=["a page of the API", "a list", "lines of a data file"],
)
def test_objects_may_be_lines_a_list_or_a_page(objects, name, prompts, tmp_path):
    config = configuration(written(tmp_path, *objects, name=name))
    assert len(config["tests"]) == 1
    assert prompts in (None, config["prompts"])


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([EVAL, {"object": "eval.run"}], "has no items"),
        ([RUN, RUN], "has no testing criteria"),
        ([EVAL, {"item": {"x": 1}}], "says no prompt"),
    ],
)
def test_what_is_missing_is_named(objects, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        configuration(written(tmp_path, *objects))
