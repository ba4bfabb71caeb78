"""Which API an endpoint speaks, and what chat completions get."""

from __future__ import annotations

import pytest

from runevals.models.chat.wire import WIRES, api_of
from runevals.models.http.origin import OPENAI_URL


@pytest.mark.parametrize(
    ("provider", "base_url", "parameters", "api"),
    [
        ("openai", None, ("seed",), "chat"),
        ("openai", None, ("temperature", "max_tokens"), "responses"),
        ("openai", None, (), "responses"),
        ("openai", OPENAI_URL, (), "responses"),
        ("openai", "http://localhost:8000/v1", (), "chat"),
        ("azure", "https://r.openai.azure.com/openai/v1", (), "chat"),
        ("anthropic", None, (), "messages"),
        ("anthropic", "https://gateway.example/v1", ("max_tokens",), "messages"),
        ("anthropic", None, ("temperature",), "chat"),
        ("bedrock", "https://bedrock-mantle.eu-west-1.api.aws/anthropic/v1", (), "messages"),
        ("bedrock", "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1", (), "chat"),
        ("openai", "https://anthropic.example/v1", (), "chat"),
        ("openrouter", None, (), "chat"),
        ("ollama", None, (), "chat"),
    ],
)
def test_each_provider_is_asked_by_the_api_that_it_takes_these_parameters_by(provider, base_url, parameters, api):
    assert api_of(provider, base_url, parameters) == api


def test_chat_completions_get_no_items_of_the_other_api():
    turn = {"role": "assistant", "content": "Hi", "tool_calls": [], "items": [{"type": "reasoning"}]}
    sent = WIRES["chat"].body([turn], {"seed": 1})
    assert sent == {"messages": [{"role": "assistant", "content": "Hi", "tool_calls": []}], "seed": 1}
