"""promptfoo's providers as our target and judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from runevals.imports.code import AnswerShape
from runevals.imports.files import PREFIX, Files
from runevals.imports.remarks import Remarks
from runevals.lib.parsing.shapes import entries_of, list_in, object_in, objects_in, text_in
from runevals.lib.text.numbers import phrase
from runevals.records.errors import UsageError
from runevals.suites.dialects.synonyms import is_text

_WIRE = re.compile(r"^(?:chat:|responses:|messages:|converse:)+")  # before the name of a model
_CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")
# promptfoo's names of providers that we ask by the same API → ours
_PROVIDERS = {
    **{
        name: name
        for name in ("openai", "anthropic", "openrouter", "groq", "mistral", "deepseek", "ollama", "bedrock")
    },
    "google": "gemini",
}
# promptfoo's names of coding agents → ours
_AGENTS = {
    **dict.fromkeys(("anthropic:claude-agent-sdk", "anthropic:claude-code"), "claude-code"),
    **dict.fromkeys(("openai:codex-sdk", "openai:codex"), "codex"),
}
_NO_CHAT = (
    "embedding", "assistant", "image", "realtime", "tts", "moderation", "completion:", "claude-agent-sdk",
    "agents:", "chatkit:", "codex", "kb:", "video:",
)  # fmt: skip
_READ = frozenset({"id", "label", "config", "prompts", "transform"})
# What of a provider's config is sent with each request as it stands.
_PARAMETERS = frozenset({
    "temperature", "max_tokens", "max_completion_tokens", "top_p", "frequency_penalty", "presence_penalty", "seed",
    "stop", "response_format", "reasoning_effort", "tools", "tool_choice",
})  # fmt: skip


class Provider(Struct, frozen=True, kw_only=True):
    """One provider; `target` is None if it has no equal here."""

    name: str = ""
    place: str = ""  # as remarks name it
    target: dict[str, Any] | None = None
    config: Mapping[str, Any] = {}
    prompts: frozenset[str] = frozenset()  # labels or files; empty: all of them
    transforms: tuple[str, ...] = ()

    def asks(self, *names: str) -> bool:
        """Whether it is asked the prompt with these names."""
        return not self.prompts or not self.prompts.isdisjoint(names)

    def shape(self, prompt_configs: Sequence[Mapping[str, Any]]) -> AnswerShape:
        """What it makes of an answer, with the config of its prompts."""
        configs = [_with_plain_keys(config) for config in (self.config, *prompt_configs)]
        formats = [config.get("response_format") for config in configs]
        keys = {key for config in configs for key, value in config.items() if value}
        return AnswerShape(
            parsed=any(object_in(one).get("type", one) == "json_schema" for one in formats),
            calls="first" if "functions" in keys else "all" if keys & {"tools", "tool_config"} else None,
        )

    @property
    def functions(self) -> list[dict[str, Any]]:
        """The functions that the model may call, each with a name and a schema of its parameters."""
        entries = [*list_in(self.config.get("tools")), *list_in(self.config.get("functions"))]
        declared = [inner for one in entries for inner in list_in(one.get("functionDeclarations")) or [one]]
        return [
            {"name": one["name"], "parameters": _lower_types(one.get("parameters", one.get("input_schema", {})))}
            for one in objects_in([one.get("function", one) for one in declared])
            if isinstance(one.get("name"), str)
        ]


def read_providers(value: Any, files: Files, remarks: Remarks) -> list[Provider]:
    """The providers of a configuration, with what their configs name in files."""
    return [_provider(place, name, entry, files, remarks) for place, name, entry in _entries(value, remarks)]


def targets_for(
    prompts: Sequence[tuple[str, ...]], providers: Sequence[Provider], remarks: Remarks
) -> list[dict[str, Any] | None]:
    """For each prompt, by its names, the first provider that is asked it and has an equal; others are remarked."""
    able = [provider for provider in providers if provider.target is not None]
    chosen = [next((one for one in able if one.asks(*names)), None) for names in prompts] or able[:1]
    active = [one for one in able if one in chosen]
    converted = {one.name: _configured(one, remarks) for one in active}
    for provider in providers:
        config = ", ".join(sorted(map(str, provider.config)))
        if provider.target is None:
            without = phrase(config, "; its config ({}) is lost with it")
            known = (advice for begins, advice in _ADVICE.items() if provider.name.startswith(begins))
            remarks.not_converted(provider.place, f"{next(known, _USUAL_ADVICE)}{without}")
        elif provider not in chosen:
            way = _way_to_run(provider.target, {object_in(one.target)["type"] for one in active})
            unlike = config * (provider.config not in [one.config for one in active])
            way += phrase(unlike, "; its config ({}) is not that of the target: set it there")
            remarks.not_converted(provider.place, f"a run has one target; {way}")
    return [None if one is None else converted[one.name] for one in chosen[: len(prompts)]]


def _way_to_run(target: Mapping[str, Any], types: set[str]) -> str:
    """`--model` asks the endpoint of the settings' target, so it is the way to models of that provider only."""
    if "model" not in target or types - {target["type"]}:
        model = phrase(target.get("model"), ", model: {}")
        words = f"target: {{type: {target['type']}{model}, …}}"
        return f"run it by a copy of the settings with `{words}`, and --config"
    return f"run it by `runevals --model {target['model']}`"


def parameters_of(config: Mapping[str, Any], location: str, remarks: Remarks) -> dict[str, Any]:
    """The parameters of requests in a config; the rest is remarked."""
    parameters: dict[str, Any] = {}
    for key, value in _with_plain_keys(config).items():
        if text_in(value).startswith(PREFIX):
            continue  # it could not be read, and was remarked
        if key in _PARAMETERS:
            parameters[key] = value
        else:
            remarks.not_converted(location, f"config.{key} has no equivalent in runevals")
    return parameters


def judge_of(raw: Any, remarks: Remarks, location: str) -> dict[str, Any] | None:
    """The grader that tests name."""
    raw = object_in(raw).get("text", raw)
    for _, name, _ in _entries([raw], remarks):
        target = _target(name)
        if target is not None:
            return {key: value for key, value in target.items() if (key, value) != ("type", "openai")}
        remarks.not_converted(
            location, f"the grader {name} has no equivalent in runevals; name a judge in the settings"
        )
    return None


def _entries(value: Any, remarks: Remarks) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(where it stands, its name, the object around its config); a key that is not read is remarked."""
    for item in entries_of(value):
        fields = object_in(item)
        if isinstance(item, str):
            yield f"provider {item}", item, {}
        elif isinstance(fields.get("id"), str):
            place = f"provider {fields['id']}{phrase(fields.get('label'), ' ({})')}"
            for key in sorted(fields.keys() - _READ):
                remarks.not_converted(place, f"'{key}' has no equivalent in runevals")
            yield place, fields["id"], fields
        elif len(fields) == 1:
            name, rest = next(iter(fields.items()))
            yield f"provider {name}", str(name), object_in(rest)
        elif item is not None:
            yield "provider without a name", "without a name", {}


def _provider(place: str, name: str, entry: Mapping[str, Any], files: Files, remarks: Remarks) -> Provider:
    return Provider(
        name=name,
        place=place,
        target={"type": _AGENTS[name]} if name in _AGENTS else _target(name),
        config=with_files(object_in(entry.get("config")), place, files, remarks),
        prompts=frozenset(str(one).removeprefix(PREFIX) for one in list_in(entry.get("prompts"))),
        transforms=tuple(filter(is_text, [entry.get("transform")])),
    )


def with_files(config: Mapping[str, Any], location: str, files: Files, remarks: Remarks) -> dict[str, Any]:
    """A config with its tools, functions and schemas, which may be in files of data; others are remarked."""
    result = dict(config)
    for key, value in config.items():
        if text_in(value).startswith(PREFIX):
            try:
                result[key] = files.value(files.referenced(value)[0])
            except UsageError as reason:
                remarks.not_converted(location, f"config.{key}: {reason}")
    return result


def _target(name: str) -> dict[str, Any] | None:
    kind, _, rest = name.partition(":")
    type_, model = _PROVIDERS.get(kind), _WIRE.sub("", rest)
    return {"type": type_, "model": model} if type_ and model and not rest.startswith(_NO_CHAT) else None


_USUAL_ADVICE = "ask it through an endpoint that speaks OpenAI's chat API: target.base_url or OPENAI_BASE_URL"
_ADVICE = {
    ("exec:", "file://", "python:", "javascript:", "golang:", "package:"): (
        "a program of your own: write it as a command or python target (docs/running.md)"
    ),
    ("http",): "an address of your own: write it as `target: {type: http, url: …, body: …}` (docs/running.md)",
    ("anthropic:claude-agent-sdk", "anthropic:claude-code"): "use the target claude-code (docs/agents.md)",
    ("openai:codex",): "use the target codex (docs/agents.md)",
    (
        "echo",
        "promptfoo:manual-input",
    ): "it answers with the prompt, for trying a configuration; name your own target",
    ("azure:", "azureopenai:", "vertex:"): "name the provider with its account in the target (docs/models.md)",
}


def _configured(provider: Provider, remarks: Remarks) -> dict[str, Any]:
    target = dict(provider.target or {})
    rest = dict(provider.config)
    if provider.name in _AGENTS:
        model = {"model": rest.pop("model")} if isinstance(rest.get("model"), str) else {}
        for key in rest:
            remarks.not_converted(provider.place, f"config.{key} has no equivalent in runevals")
        return target | model
    for key, name in (("apiKeyEnvar", "api_key_env"), ("apiBaseUrl", "base_url")):
        if isinstance(rest.get(key), str):
            target[name] = rest.pop(key)
    if "tools" not in rest and (functions := list_in(rest.get("functions"))):  # the same, in the present form
        rest["tools"] = [{"type": "function", "function": one} for one in functions]
        del rest["functions"]
    parameters = parameters_of(rest, provider.place, remarks)
    return target | ({"parameters": parameters} if parameters else {})


def _with_plain_keys(config: Mapping[str, Any]) -> dict[str, Any]:
    return {_CAPITAL.sub(lambda match: f"_{match[0].lower()}", str(key)): value for key, value in config.items()}


def _lower_types(schema: Any) -> Any:
    """A JSON Schema with types in small letters; Google's are in capitals."""
    if isinstance(schema, list):
        return [_lower_types(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: value.lower() if key == "type" and isinstance(value, str) else _lower_types(value)
        for key, value in schema.items()
    }
