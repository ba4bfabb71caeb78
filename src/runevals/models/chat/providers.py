"""Providers of chat models by prefix: the address of each API, what it speaks, and its differences."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from runevals.models.http.origin import OPENAI_URL
from runevals.records.errors import InvalidSettings

ProviderName = Literal[
    "openai", "anthropic", "gemini", "azure", "openrouter", "groq", "mistral", "deepseek", "ollama", "bedrock",
]  # fmt: skip
Api = Literal["chat", "responses", "messages"]
_OLLAMA_PORT = 11434
_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d+")


class Provider(Struct, frozen=True, kw_only=True):
    """One provider. Parameters of a target are sent as written; `seed` and `formats` are for those of a judge."""

    key: str  # the environment variable with the key
    api: Api = "chat"  # at its own address
    api_elsewhere: Api = "chat"  # at another one that is called by its name
    url: str | None = None
    located_by: str | None = None  # the environment variable with its address or region, if `url` is not fixed
    needs_key: bool = True
    prices: str | None = None  # its id in genai-prices; None: found by the model's name
    reports_cost: bool = False  # `usage.cost` is what the call cost, in US dollars
    seed: str | None = "seed"  # what it calls this parameter; None: it refuses it
    formats: tuple[str, ...] = ("json_schema", "json_object", "none")  # of JSON output that it accepts, best first


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(url=OPENAI_URL, located_by="OPENAI_BASE_URL", key="OPENAI_API_KEY", api="responses"),
    "anthropic": Provider(
        url="https://api.anthropic.com/v1", located_by="ANTHROPIC_BASE_URL", key="ANTHROPIC_API_KEY",
        prices="anthropic", api="messages", api_elsewhere="messages", seed=None, formats=("json_schema", "none"),
    ),
    # 400: Unknown name "seed"; its schemas know no `const`
    "gemini": Provider(
        url="https://generativelanguage.googleapis.com/v1beta/openai", key="GEMINI_API_KEY", prices="google",
        seed=None, formats=("json_object", "none"),
    ),
    "azure": Provider(located_by="AZURE_AI_OPENAI_ENDPOINT", key="AZURE_AI_API_KEY", prices="azure"),
    "openrouter": Provider(
        url="https://openrouter.ai/api/v1", key="OPENROUTER_API_KEY", prices="openrouter", reports_cost=True
    ),
    "groq": Provider(url="https://api.groq.com/openai/v1", key="GROQ_API_KEY", prices="groq"),
    "mistral": Provider(
        url="https://api.mistral.ai/v1", key="MISTRAL_API_KEY", prices="mistral", seed="random_seed",
    ),
    # 400: This response_format type is unavailable now
    "deepseek": Provider(
        url="https://api.deepseek.com/v1", key="DEEPSEEK_API_KEY", prices="deepseek",
        formats=("json_object", "none"),
    ),
    # its `prices` has none: a model of the same name elsewhere does not cost what this one does
    "ollama": Provider(
        url=f"http://localhost:{_OLLAMA_PORT}/v1", located_by="OLLAMA_HOST", key="OLLAMA_API_KEY", needs_key=False,
        prices="ollama",
    ),
    "bedrock": Provider(located_by="AWS_REGION", key="AWS_BEARER_TOKEN_BEDROCK", prices="aws"),
}  # fmt: skip


def address(name: str, environment: Mapping[str, str], model: str | None = None) -> str:
    """The address at which a provider serves the model. Raises InvalidSettings if its variable is not set."""
    provider = PROVIDERS[name]
    value = environment.get(provider.located_by or "", "")
    if not value and name == "bedrock":
        value = environment.get("AWS_DEFAULT_REGION", "")
    if value:
        return _URL_OF[name](value, model or "") if name in _URL_OF else value
    if provider.url is None:
        raise InvalidSettings(
            f"{name}: the environment variable {provider.located_by} is not set; set it to the address or region"
        )
    return provider.url


def azure_address(
    name: str, base_url: str | None, environment: Mapping[str, str]
) -> tuple[str | None, str | None]:
    """(address, API version) of an Azure resource; other providers keep their address and have no version.

    Without a version in the environment, a resource is asked by its `/openai/v1`, which needs none.
    """
    if name != "azure" or base_url is None or "/openai/v1" in urlsplit(base_url).path:
        return base_url, None
    version = environment.get("AZURE_AI_API_VERSION")
    return (base_url, version) if version else (f"{base_url.rstrip('/')}/openai/v1", None)


def _ollama(value: str, model: str) -> str:  # noqa: ARG001
    """`OLLAMA_HOST` as Ollama reads it: scheme and port are optional."""
    if "://" not in value:
        host = value.rstrip("/")
        value = f"http://{host}" if re.search(r":\d+$", host) else f"http://{host}:{_OLLAMA_PORT}"
    return f"{value.rstrip('/').replace('//0.0.0.0', '//127.0.0.1', 1).removesuffix('/v1')}/v1"


def _bedrock(value: str, model: str) -> str:
    """Claude is served by the Messages API alone, and at an address of its own."""
    if not _REGION.fullmatch(value):
        raise InvalidSettings(f"AWS_REGION: '{value}' is not the name of a region, such as us-east-1")
    if "anthropic." in model:
        return f"https://bedrock-mantle.{value}.api.aws/anthropic/v1"
    return f"https://bedrock-runtime.{value}.amazonaws.com/openai/v1"


_URL_OF: Mapping[str, Callable[[str, str], str]] = {
    # `ANTHROPIC_BASE_URL` as the vendor's own programs read it: without the version.
    "anthropic": lambda value, _: f"{value.rstrip('/').removesuffix('/v1')}/v1",
    "ollama": _ollama,
    "bedrock": _bedrock,
}
