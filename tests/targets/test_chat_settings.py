"""How settings say that a chat model is called."""

from __future__ import annotations

import pytest

from runevals.models.http.throttle import Throttles
from runevals.records.errors import InvalidSettings
from runevals.targets.chat_settings import ModelSettings, chat_of, diagnosis_of, model_fields

ELSEWHERE = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("settings", "needs_key"),
    [
        ({"type": "openai"}, True),
        ({"type": "openai", "base_url": ELSEWHERE}, False),
        ({"type": "anthropic", "base_url": ELSEWHERE}, True),
        ({"type": "openai", "auth": "github"}, False),
        ({"type": "ollama"}, False),
        ({"type": "recorded"}, False),
    ],
)
def test_a_server_of_ones_own_needs_no_key(settings, needs_key):
    assert ModelSettings(**settings).needs_key is needs_key


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        ({"type": "openai", "base_url": "ftp://a.example"}, "target.base_url: 'ftp://a.example' must begin with"),
        ({"type": "groq", "auth": "github"}, "target.auth: groq takes no identity of a job"),
        ({"type": "openai", "auth": "github", "api_key_env": "KEY"}, "leave out api_key_env"),
        ({"type": "azure"}, "AZURE_AI_OPENAI_ENDPOINT is not set"),
    ],
)
def test_what_cannot_be_called_is_a_usage_error(section, reason):
    with pytest.raises(InvalidSettings, match=reason):
        model_fields(section, {}, what="target")


@pytest.mark.parametrize("key", ["", "a\nb"])
def test_a_key_that_is_missing_or_cannot_be_sent_is_named(key):
    with pytest.raises(InvalidSettings, match="OPENAI_API_KEY"):
        chat_of(ModelSettings(type="openai", model="m"), {"OPENAI_API_KEY": key}, Throttles(), what="target")


def test_doctor_asks_for_the_key_in_the_workflow_if_this_is_a_job():
    settings = ModelSettings(type="openai", model="m")
    here, in_job = (diagnosis_of("judge", settings, environment) for environment in ({}, {"CI": "true"}))
    assert (here.exit_code, in_job.exit_code) == (2, 2)
    assert "export OPENAI_API_KEY=…" in here.fix
    assert "${{ secrets.OPENAI_API_KEY }}" in in_job.fix
