"""promptfoo's providers as our target and judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from runevals.suites.importing.remarks import Remarks

_CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")
# promptfoo's names of providers that we ask by the same API → ours
_PROVIDERS = {
    **{name: name for name in ("anthropic", "openrouter", "groq", "mistral", "deepseek", "ollama")},
    "google": "gemini",
}
_NO_CHAT = ("embedding", "assistant", "image", "realtime", "tts", "moderation", "completion:", "claude-agent-sdk")
_READ = frozenset({"id", "label", "config"})
# What of a provider's config is sent with each request as it stands.
_PARAMETERS = frozenset(
    (
        *("temperature", "max_tokens", "max_completion_tokens", "top_p", "frequency_penalty", "presence_penalty"),
        *("seed", "stop", "response_format", "reasoning_effort", "tools", "tool_choice"),
    )
)


def target_of(value: Any, remarks: Remarks) -> dict[str, Any] | None:
    """The first provider that is a chat model we can ask; the others are remarked."""
    result: dict[str, Any] | None = None
    for name, config in _entries(value, remarks):
        target = _target(name)
        if target is None:
            without = f"; its config ({', '.join(sorted(map(str, config)))}) is lost with it" if config else ""
            remarks.not_converted(f"provider {name}", f"{_advice(name)}{without}")
        elif result is not None:
            model = target["model"]
            remarks.not_converted(
                f"provider {name}", f"a run has one target; run it by `runevals --model {model}`"
            )
        else:
            result = {**target, **_configured(name, config, remarks)}
    return result


def judge_of(raw: Any, remarks: Remarks, location: str) -> dict[str, Any] | None:
    """The grader that tests name."""
    if isinstance(raw, Mapping) and "text" in raw:
        raw = raw["text"]
    for name, _ in _entries([raw], remarks):
        target = _target(name)
        if target is not None:
            return {key: value for key, value in target.items() if (key, value) != ("type", "openai")}
        remarks.not_converted(
            location, f"the grader {name} has no equivalent in runevals; name a judge in the settings"
        )
    return None


def _entries(value: Any, remarks: Remarks) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            yield item, {}
        elif isinstance(item, Mapping) and isinstance(item.get("id"), str):
            for key in sorted(item.keys() - _READ):
                remarks.not_converted(f"provider {item['id']}", f"'{key}' has no equivalent in runevals")
            own = item.get("config")
            yield item["id"], own if isinstance(own, Mapping) else {}
        elif isinstance(item, Mapping) and len(item) == 1:
            name, rest = next(iter(item.items()))
            config = rest.get("config") if isinstance(rest, Mapping) else None
            yield str(name), config if isinstance(config, Mapping) else {}
        elif item is not None:
            yield "without a name", {}


def _target(name: str) -> dict[str, Any] | None:
    kind, _, rest = name.partition(":")
    model = rest.removeprefix("chat:").removeprefix("responses:").removeprefix("messages:")
    if not model or rest.startswith(_NO_CHAT):
        return None
    if kind == "openai":
        return {"type": kind, "model": model}
    return {"type": _PROVIDERS[kind], "model": model} if kind in _PROVIDERS else None


def _advice(name: str) -> str:
    if name.startswith(("exec:", "file://", "python:", "javascript:", "http:", "https:")):
        return "a program or address of your own: write it as a command, python or http target (docs/running.md)"
    return "ask it through an endpoint that speaks OpenAI's chat API: target.base_url or OPENAI_BASE_URL"


def _configured(name: str, config: Mapping[str, Any], remarks: Remarks) -> dict[str, Any]:
    target: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    for key, value in config.items():
        plain = _CAPITAL.sub(lambda match: f"_{match[0].lower()}", key)
        if plain in _PARAMETERS and not (isinstance(value, str) and value.startswith("file://")):
            parameters[plain] = value
        elif key == "apiKeyEnvar" and isinstance(value, str):
            target["api_key_env"] = value
        elif key == "apiBaseUrl" and isinstance(value, str):
            target["base_url"] = value
        else:
            remarks.not_converted(f"provider {name}", f"config.{key} has no equivalent in runevals")
    return target | ({"parameters": parameters} if parameters else {})
