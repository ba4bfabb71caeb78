"""What tokens cost, and when that is not known."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from runevals.models.chat.prices import Price, Prices, is_deprecated


@pytest.mark.parametrize(
    ("model", "cost"),
    [
        ("gpt-5-mini", 0.25 + 1.0),
        ("gpt-5-mini-2025-08-07", 0.25 + 1.0),  # a dated name is its model's
        ("gpt-5-mini-2026-09", 0.25 + 1.0),
        ("gpt-5-minimal", None),
        ("own", 2.0 + 1.5),
        ("own-2026-09", 2.0 + 1.5),
        ("gpt-4o", 7.0 + 0.5),  # the settings go before the library
        (None, None),
    ],
)
def test_the_price_of_a_million_input_and_half_a_million_output_tokens(model, cost):
    prices = Prices({"own": Price(2.0, 3.0), "gpt-4o": Price(7.0, 1.0)})
    found = prices.cost_usd(model, 1_000_000, 500_000)
    assert found == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        (None, "gpt-5.4-mini"),
        ("anthropic", "claude-sonnet-5"),
        ("anthropic", "claude-opus-4-7"),
        ("google", "gemini-3.5-flash"),
        ("azure", "gpt-5-mini"),
        ("aws", "openai.gpt-oss-20b-1:0"),
        ("groq", "llama-3.3-70b-versatile"),
        ("mistral", "mistral-large-latest"),
        ("deepseek", "deepseek-chat"),
        ("openrouter", "anthropic/claude-sonnet-4.5"),
    ],
)
def test_models_of_today_have_a_price(provider, model):
    assert Prices().cost_usd(model, 1000, 100, provider=provider) > 0


@pytest.mark.parametrize("tokens", [(None, 5), (5, None)])
def test_an_unknown_number_of_tokens_has_an_unknown_cost(tokens):
    assert Prices().cost_usd("gpt-5", *tokens) is None


def test_more_cached_tokens_than_prompt_tokens_count_as_all_prompt_tokens():
    prices = Prices()
    assert prices.cost_usd("gpt-5", 10, 0, cached_tokens=99) == prices.cost_usd("gpt-5", 10, 0, cached_tokens=10)


def test_a_model_costs_the_same_by_any_spelling_of_its_name():
    assert Prices().cost_usd("GPT-5-mini", 10, 10) == Prices().cost_usd("gpt-5-mini", 10, 10)


def test_the_price_list_is_named_with_the_release_of_its_library():
    release = f"genai-prices {version('genai-prices')}"
    assert Prices().source == release
    assert Prices({"own": Price(1.0, 1.0)}).source == f"the settings, then {release}"


@pytest.mark.parametrize(
    ("model", "provider", "deprecated"),
    [
        ("gemini-2.0-flash", "google", True),
        ("gemini-2.5-flash", "google", False),
        ("gemini-2.0-flash", "openai", False),  # of another provider
        ("llama3.1-8b", "ollama", False),  # of an unknown one
        ("no-such-model", "google", False),
        (None, "google", False),
    ],
)
def test_a_model_is_deprecated_only_if_the_library_says_so_of_its_provider(model, provider, deprecated):
    assert is_deprecated(model, provider) is deprecated
