"""GitHub Models in the settings: which address it is asked at, and that the job's token goes nowhere else."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.settings.resolve import Told, resolve
from tests.ending import ended

TARGET = "github-models:openai/gpt-4.1-mini"


@pytest.fixture
def settle(project):
    def settled(text="", environment=None, **flags):
        if text:
            project.write("runevals.yaml", text)
        return resolve(Told(flags=flags, cwd=project.path, environment=environment or {}))

    return settled


def test_both_are_named_on_the_command_line_and_in_the_file(settle):
    settled = settle("judge: {type: github-models, model: openai/gpt-4.1}", target=TARGET)
    for told, model in ((settled.target, "openai/gpt-4.1-mini"), (settled.judges[0], "openai/gpt-4.1")):
        assert (told.type, told.model) == ("github-models", model)
        assert (told.base_url, told.api_key_env) == ("https://models.github.ai/inference", "GITHUB_TOKEN")
    assert settle(judge=TARGET).judges[0].model == "openai/gpt-4.1-mini"


def test_a_server_meant_for_openai_does_not_get_the_token(settle):
    environment = {"OPENAI_BASE_URL": "https://elsewhere.example/v1", "CI": "true"}
    assert settle(target=TARGET, environment=environment).target.base_url == "https://models.github.ai/inference"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "target: {type: github-models, model: m, base_url: 'https://evil.example'}",
            "target.base_url: github-models has an address and a token of its own",
        ),
        ("judge: {type: github-models, model: m, api_key_env: OTHER}", "judge.api_key_env: github-models has"),
        ("target: {type: openai, model: m, api_key_env: GITHUB_TOKEN}", "goes to GitHub only"),
        ("target: {type: openai, model: m, api_key_env: INPUT_GITHUB_TOKEN}", "goes to GitHub only"),
        ("judge: {model: m, api_key_env: GH_TOKEN}", "goes to GitHub only"),
        ("judge: {model: m, api_key_env: ACTIONS_RUNTIME_TOKEN}", "goes to GitHub only"),
        ("target: {type: http, url: 'https://a.example', api_key_env: GITHUB_TOKEN}", "goes to GitHub only"),
        (
            "target: {type: http, url: 'https://a.example', headers: {X: {env: INPUT_GITHUB_TOKEN}}}",
            "goes to GitHub only",
        ),
    ],
)
def test_the_token_goes_to_github_only(settle, text, told):
    with pytest.raises(InvalidSettings, match=told):
        settle(text)


def test_a_model_is_named_by_the_settings_or_by_the_suite(project, runevals, monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", "a-token-of-the-job")
    items = [{"prompt": "p", "expected_response": "x"}]
    suite = {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}, "items": items}
    project.write("evals.json", suite)
    project.write("runevals.yaml", "target: {type: github-models}\n")
    code, _, err = runevals()
    ended(code, 2, err, "the github-models target has no model")
