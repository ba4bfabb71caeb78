"""Providers of models in the settings: how each is named, and which key goes to which address."""

from __future__ import annotations

import json
import re
from typing import get_args

import pytest

from runevals.lib.parsing.schema import schema
from runevals.models.chat.providers import PROVIDERS, ProviderName
from runevals.records.errors import InvalidSettings, InvalidSuite, UsageError
from runevals.settings.judge import JudgeType
from runevals.settings.resolve import RawSettings, resolve
from runevals.targets.kinds import KINDS

PLACED = {"AZURE_AI_OPENAI_ENDPOINT": "https://x.openai.azure.com", "AWS_REGION": "us-east-1"}


@pytest.fixture
def settle(project):
    def settled(text="", environment=None, **flags):
        if text:
            project.write("runevals.yaml", text)
        return resolve(RawSettings(flags=flags, cwd=project.path, environment=environment or {}))

    return settled


def test_every_provider_is_a_target_and_a_judge_and_stands_in_the_schema():
    assert get_args(ProviderName) == tuple(PROVIDERS)
    settings = schema("runevals.settings", "settings-1")
    target = settings["properties"]["target"]["then"]["properties"]["type"]["enum"]
    judge = settings["$defs"]["judge"]["then"]["properties"]["type"]["enum"]
    assert (set(target), tuple(judge)) == (set(KINDS), get_args(JudgeType))


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("{type: claude-code, system_prompt: Be kind.}", "system_prompt: the claude-code target does not take it"),
        ("{type: codex, base_url: 'http://127.0.0.1:1'}", "base_url: the codex target does not take it"),
        ("{type: command, command: a, mcp: {}}", "mcp: the command target does not take it; leave it out"),
        (
            "{type: openai, model: m, trace: otlp}",
            "trace: the openai target is not a program that is started here",
        ),
        ("{type: plugin, plugin: p, system_prompt: Be kind.}", "system_prompt: the plugin target is not sent one"),
    ],
)
def test_what_a_kind_does_not_take_is_refused(settle, written, reason):
    with pytest.raises(InvalidSettings, match=re.escape(f"target.{reason}")):
        settle(f"target: {written}")


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_is_named_on_the_command_line_and_in_the_file(settle, name):
    flags = settle(target=f"{name}:a/model:8b", judge=f"{name}:other", environment=PLACED)
    file = settle(f"target: {{type: {name}, model: 'a/model:8b'}}\njudge: '{name}:other'", environment=PLACED)
    for settled in (flags, file):
        target, judge = settled.target, settled.judges[0]
        assert (target.type, target.model, target.api_key_env) == (name, "a/model:8b", PROVIDERS[name].key)
        assert (judge.type, judge.model, judge.api_key_env) == (name, "other", PROVIDERS[name].key)
        assert judge.base_url == target.base_url


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (
            {"target": "anthropc:claude"},
            "no target 'anthropc:claude'; it is one of openai:MODEL, anthropic:",
        ),
        ({"target": "anthropc:claude"}, r"plugin:NAME; did you mean 'anthropic'\?"),
        ({"judge": "gemni:x"}, r"there is no judge 'gemni:x'; .*did you mean 'gemini'\?"),
        ({"judge": "llama3:8b"}, r"or MODEL without a colon \(openai:llama3:8b\)"),
    ],
)
def test_an_unknown_prefix_lists_those_there_are(settle, flags, told):
    with pytest.raises(InvalidSettings, match=told):
        settle(**flags)


def test_so_does_an_unknown_type_in_the_file_with_its_place(settle):
    with pytest.raises(InvalidSuite, match=r"(?s)runevals.yaml:1.*anthropic.*did you mean 'anthropic'\?"):
        settle("target: {type: anthropc, model: m}")


def test_a_server_meant_for_openai_does_not_get_another_providers_key(settle):
    environment = {"OPENAI_BASE_URL": "https://elsewhere.example/v1", "CI": "true", "GROQ_API_KEY": "key-2"}
    assert settle(target="groq:m", environment=environment).target.base_url == "https://api.groq.com/openai/v1"
    text = "target: {type: groq, model: m, base_url: 'https://elsewhere.example/v1'}"
    with pytest.raises(
        InvalidSettings,
        match=r"sends GROQ_API_KEY to https://elsewhere\.example/v1 .* workflow: .*API_KEY_ENV=GROQ",
    ):
        settle(text, environment=environment)
    assert settle(text).target.base_url == "https://elsewhere.example/v1"


def test_in_ci_the_file_may_not_send_a_provider_another_key(settle):
    text = "judge: {type: groq, model: m, api_key_env: OPENAI_API_KEY}"
    keys = {"OPENAI_API_KEY": "key-1", "GROQ_API_KEY": "key-2"}
    assert settle(text, environment=keys).judges[0].api_key_env == "OPENAI_API_KEY"
    with pytest.raises(
        InvalidSettings,
        match=r"sends OPENAI_API_KEY to https://api.groq.com.* first, or .*: RUNEVALS_API_KEY_ENV=OPENAI_API_KEY",
    ):
        settle(text, environment={"CI": "true", **keys})
    named = {"CI": "true", "RUNEVALS_API_KEY_ENV": "OPENAI_API_KEY", **keys}
    assert settle(text, environment=named).judges[0].api_key_env == "OPENAI_API_KEY"
    assert settle("judge: groq:m", environment={"CI": "true", **keys}).judges[0].api_key_env == "GROQ_API_KEY"


@pytest.mark.parametrize(
    "text",
    [
        "target: {type: openai, model: m, api_key_env: GITHUB_TOKEN}",
        "target: {type: openai, model: m, api_key_env: INPUT_GITHUB_TOKEN}",
        "target: {type: openai, model: m, api_key_env: GITLAB_TOKEN}",
        "target: {type: openai, model: m, api_key_env: CI_JOB_TOKEN}",
        "target: {type: openai, model: m, api_key_env: SYSTEM_ACCESSTOKEN}",
        "target: {type: groq, model: m, api_key_env: GITHUB_TOKEN}",
        "judge: {model: m, api_key_env: GH_TOKEN}",
        "judge: {model: m, api_key_env: ACTIONS_RUNTIME_TOKEN}",
        "target: {type: http, url: 'https://a.example', api_key_env: GITHUB_TOKEN}",
        "target: {type: http, url: 'https://a.example', headers: {X: {env: INPUT_GITHUB_TOKEN}}}",
    ],
)
def test_no_target_or_judge_gets_a_token_of_the_job(settle, text):
    with pytest.raises(InvalidSettings, match="no target or judge gets"):
        settle(text)


@pytest.mark.parametrize("name", ["", "A B", "A }}\\n      - run: evil", "${{ secrets.X }}", "1A", "\u00dcA"])
@pytest.mark.parametrize(
    "text",
    [
        "target: {type: openai, model: m, api_key_env: %s}",
        "target: {type: http, url: 'https://a.example', headers: {X: {env: %s}}}",
    ],
)
def test_a_key_is_named_by_a_variable_not_by_lines_of_a_workflow(settle, text, name):
    """`init --github` writes the name into a workflow."""
    with pytest.raises(UsageError):
        settle(text % f'"{name}"')


def test_a_model_is_named_by_the_settings_or_by_the_suite(project, runevals, monkeypatch):
    monkeypatch.setenv("GROQ_API_KEY", "key-1")
    items = [{"prompt": "p", "expected_response": "x"}]
    suite = {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}, "items": items}
    project.write("evals.json", json.dumps(suite))
    project.write("runevals.yaml", "target: {type: groq}\n")
    code, _, err = runevals()
    assert code == 2
    assert "the groq target has no model" in err


@pytest.mark.parametrize(
    "target", ["type: a2a, url: 'http://127.0.0.1:1'", "type: skill", "type: plugin, plugin: x"]
)
def test_a_system_prompt_that_nothing_would_be_sent_is_refused(settle, target):
    with pytest.raises(InvalidSettings, match=r"target\.system_prompt: the \w+ target is not sent one"):
        settle(f"target: {{{target}, system_prompt: Be kind.}}")


def test_the_workflow_can_name_another_address_for_the_judge_than_for_the_target(settle):
    environment = {"OPENAI_BASE_URL": "https://vllm.example/v1", "CI": "true", "OPENAI_API_KEY": "key-1"}
    text = "target: openai:m\njudge: {model: j, base_url: 'https://judge.example/v1'}"
    with pytest.raises(InvalidSettings, match=r"RUNEVALS_JUDGE_URL=https://judge\.example"):
        settle(text, environment=environment)
    settled = settle(text, environment={**environment, "RUNEVALS_JUDGE_URL": "https://judge.example/v1"})
    assert settled.target.base_url == "https://vllm.example/v1"
    assert settled.judges[0].base_url == "https://judge.example/v1"
