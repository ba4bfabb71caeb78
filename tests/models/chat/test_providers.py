"""Each provider's OpenAI-compatible API, as it is documented: address, key, what it refuses and how it says so."""

from __future__ import annotations

import json

import pytest

from runevals.judge.model import ModelJudge
from runevals.models.chat.chat import Chat, ChatFailed, Endpoint, ParameterRefused
from runevals.models.chat.prices import Prices
from runevals.models.chat.providers import PROVIDERS, address, azure_address
from runevals.models.http.throttle import Throttle
from runevals.records.errors import InvalidSettings
from tests.chat_server import Reply, chat_server
from tests.judge.replies import QUESTION, verdict

ASKED = [{"role": "user", "content": "Why?"}]


def chat_with(server, name, model="some-model", **environment):
    base_url, version = azure_address(name, server.base_url, environment)
    endpoint = Endpoint(
        model=model,
        api_key="key-1",
        base_url=base_url,
        provider=PROVIDERS[name],
        azure_api_version=version,
    )
    return Chat(endpoint, Throttle(first_delay_s=0.01))


@pytest.mark.parametrize(
    ("name", "environment", "place"),
    [
        ("openai", {}, "https://api.openai.com/v1"),
        ("openai", {"OPENAI_BASE_URL": "http://localhost:8000/v1"}, "http://localhost:8000/v1"),
        ("anthropic", {"OPENAI_BASE_URL": "https://elsewhere.example/v1"}, "https://api.anthropic.com/v1"),
        ("gemini", {}, "https://generativelanguage.googleapis.com/v1beta/openai"),
        ("azure", {"AZURE_AI_OPENAI_ENDPOINT": "https://x.openai.azure.com"}, "https://x.openai.azure.com"),
        ("openrouter", {}, "https://openrouter.ai/api/v1"),
        ("groq", {}, "https://api.groq.com/openai/v1"),
        ("mistral", {}, "https://api.mistral.ai/v1"),
        ("deepseek", {}, "https://api.deepseek.com/v1"),
        ("ollama", {}, "http://localhost:11434/v1"),
        ("ollama", {"OLLAMA_HOST": "ollama"}, "http://ollama:11434/v1"),
        ("ollama", {"OLLAMA_HOST": "0.0.0.0:8080"}, "http://127.0.0.1:8080/v1"),
        ("ollama", {"OLLAMA_HOST": "https://ollama.example/"}, "https://ollama.example/v1"),
        ("anthropic", {"ANTHROPIC_BASE_URL": "http://localhost:9/"}, "http://localhost:9/v1"),
        ("anthropic", {"ANTHROPIC_BASE_URL": "http://localhost:9/v1"}, "http://localhost:9/v1"),
        ("bedrock", {"AWS_REGION": "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1"),
        (
            "bedrock",
            {"AWS_DEFAULT_REGION": "us-gov-west-1"},
            "https://bedrock-runtime.us-gov-west-1.amazonaws.com/openai/v1",
        ),
    ],
)
def test_the_base_url_of_each_provider(name, environment, place):
    assert address(name, environment) == place


@pytest.mark.parametrize(
    ("name", "environment", "told"),
    [
        ("azure", {}, "azure: the environment variable AZURE_AI_OPENAI_ENDPOINT is not set"),
        ("bedrock", {}, "bedrock: the environment variable AWS_REGION is not set"),
        ("bedrock", {"AWS_REGION": "evil.example/#"}, "'evil.example/#' is not the name of a region"),
    ],
)
def test_a_provider_located_by_the_environment_needs_its_variable(name, environment, told):
    with pytest.raises(InvalidSettings, match=told):
        address(name, environment)


def refusal(name, body):
    """What the provider answers to what it does not take, None where it takes the request."""
    form = body.get("response_format", {}).get("type")
    if name == "anthropic" and "temperature" in body:
        told = {"type": "invalid_request_error", "message": "`temperature` is deprecated for this model."}
        return Reply(status=400, error=told)
    if name == "gemini" and "seed" in body:
        told = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
        return Reply(status=400, raw=json.dumps([{"error": {"code": 400, "message": told}}]))
    if name == "gemini" and form == "json_schema" and "const" in json.dumps(body):
        return Reply(status=400, raw=json.dumps([{"error": {"code": 400, "message": "const is not supported"}}]))
    if name == "groq" and form == "json_schema":
        told = {
            "message": "This model does not support response format `json_schema`.",
            "param": "response_format",
        }
        return Reply(status=400, error=told)
    if name == "mistral" and "seed" in body:
        detail = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}
        return Reply(status=422, raw=json.dumps({"object": "error", "message": {"detail": [detail]}}))
    if name == "deepseek" and form == "json_schema":
        return Reply(status=400, error={"message": "This response_format type is unavailable now", "param": None})
    return None


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("openai", 1),
        ("anthropic", 2),  # which of its models take a temperature is not known before
        ("gemini", 1),
        ("azure", 1),
        ("openrouter", 1),
        ("groq", 2),  # nor which of these a schema
        ("mistral", 1),
        ("deepseek", 1),
        ("ollama", 1),
        ("bedrock", 1),
    ],
)
def test_each_provider_can_judge(name, calls):
    with chat_server(lambda body, n: refusal(name, body) or Reply(verdict(body, 4))) as server:
        judge = ModelJudge(chat_with(server, name), {}, seed=7)
        found = judge.ask(QUESTION, case="c", turn=1, attempt=1)
    assert (found.score, found.problem) == (4.0, None)
    assert len(server.requests) == calls
    last = server.requests[-1]
    assert {key: last[key] for key in ("seed", "random_seed") if key in last} == (
        {} if name in ("anthropic", "gemini") else {"random_seed" if name == "mistral" else "seed": 7}
    )


def test_mistral_refuses_a_seed_under_its_usual_name():
    """A target's parameters are sent as they are written; what is wrong with one says which."""
    answer, why = lambda body, n: refusal("mistral", body) or Reply(), "Extra inputs are not permitted"
    with chat_server(answer) as server, pytest.raises(ParameterRefused, match=why) as refused:
        chat_with(server, "mistral").ask(ASKED, {"seed": 1, "stop": ["x"]})
    assert refused.value.parameter == "seed"


def test_azure_is_called_by_its_v1_address_like_other_providers_and_with_a_version_by_deployment():
    with chat_server(lambda body, n: Reply()) as server:
        chat_with(server, "azure", AZURE_AI_API_VERSION="2024-10-21").ask(ASKED, {})
    assert (server.headers[0]["api-key"], server.keys[0]) == ("key-1", None)
    with chat_server(lambda body, n: Reply()) as server:
        chat_with(server, "azure").ask(ASKED, {})
    assert server.keys[0] == "Bearer key-1"


@pytest.mark.parametrize(
    ("place", "environment", "address_and_version"),
    [
        ("https://r.openai.azure.com", {}, ("https://r.openai.azure.com/openai/v1", None)),
        ("https://r.openai.azure.com/", {}, ("https://r.openai.azure.com/openai/v1", None)),
        ("https://r.openai.azure.com/openai/v1/", {}, ("https://r.openai.azure.com/openai/v1/", None)),
        ("https://r.openai.azure.com", {"AZURE_AI_API_VERSION": "v"}, ("https://r.openai.azure.com", "v")),
    ],
)
def test_azure_needs_no_version(place, environment, address_and_version):
    assert azure_address("azure", place, environment) == address_and_version


def cost(name, model, **reply):
    with chat_server(lambda body, n: Reply(model=model, **reply)) as server:
        chat = chat_with(server, name, model)
        return chat.spent([chat.ask(ASKED, {})], Prices())["cost_usd"]


MILLION = {"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000}


def test_tokens_from_the_providers_cache_cost_less():
    whole = cost("openai", "gpt-5-mini", usage=MILLION)
    half = {"prompt_tokens_details": {"cached_tokens": 500_000}}
    assert (whole, cost("openai", "gpt-5-mini", usage={**MILLION, **half})) == (0.25, 0.125 + 0.0125)
    hit = cost("deepseek", "deepseek-chat", usage={**MILLION, "prompt_cache_hit_tokens": 1_000_000})
    assert hit < cost("deepseek", "deepseek-chat", usage=MILLION)


def test_reasoning_tokens_that_are_only_in_the_total_cost_as_output():
    """Gemini's `completion_tokens` are those of the answer alone."""
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115}
    with chat_server(lambda body, n: Reply(usage=usage)) as server:
        reply = chat_with(server, "gemini").ask(ASKED, {})
    assert (reply.input_tokens, reply.output_tokens) == (10, 105)


def test_the_cost_that_openrouter_reports_is_used():
    assert cost("openrouter", "some/new-model", usage={"cost": 0.25}) == 0.25
    assert cost("openai", "some/new-model", usage={"cost": 0.25}) is None


def test_a_local_model_does_not_have_the_price_of_a_hosted_model_of_that_name():
    assert cost("ollama", "gpt-4o") is None


def test_an_error_body_with_status_200_is_an_error():
    upstream = json.dumps({"error": {"code": 502, "message": "the provider behind it is down"}})
    with chat_server(lambda body, n: Reply(raw=upstream) if n == 0 else Reply("Hi")) as server:
        assert chat_with(server, "openrouter").ask(ASKED, {}).text == "Hi"
    refused = json.dumps({"error": {"code": 402, "message": "no credits"}})
    with chat_server(lambda body, n: Reply(raw=refused)) as server, pytest.raises(ChatFailed, match="no credits"):
        chat_with(server, "openrouter").ask(ASKED, {})


@pytest.mark.parametrize(
    ("choice", "calls", "says"),
    [
        ({"error": {"code": 502, "message": "the provider went away"}}, 2, None),
        ({"error": {"code": 400, "message": "too long"}}, 1, "400: too long"),
        ({"finish_reason": "error"}, 1, "the provider ended its answer with an error"),
        ({"finish_reason": "insufficient_system_resource"}, 2, None),
    ],
)
def test_an_answer_in_which_the_provider_failed_is_an_error(choice, calls, says):
    """OpenRouter and DeepSeek give what came so far, or an empty text."""
    broken = {"finish_reason": "error", "message": {"role": "assistant", "content": "The capital is"}, **choice}
    upstream = json.dumps({"id": "gen-1", "model": "m", "choices": [broken]})
    with chat_server(lambda body, n: Reply(raw=upstream) if n == 0 else Reply("Hi")) as server:
        chat = chat_with(server, "openrouter")
        if says is None:
            assert chat.ask(ASKED, {}).text == "Hi"
        else:
            with pytest.raises(ChatFailed, match=says):
                chat.ask(ASKED, {})
    assert len(server.requests) == calls


def test_claude_on_bedrock_has_an_address_of_its_own():
    place = address("bedrock", {"AWS_REGION": "eu-west-1"}, "anthropic.claude-sonnet-5")
    assert place == "https://bedrock-mantle.eu-west-1.api.aws/anthropic/v1"
