"""Settings of a target → the target; also on another machine, with its environment."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from runevals.models.chat.chat import Chat, Endpoint
from runevals.models.chat.prices import Prices
from runevals.models.chat.providers import PROVIDERS
from runevals.models.chat.wire import WIRES
from runevals.models.http.identity import job_identity
from runevals.models.http.key import Key
from runevals.models.http.origin import OPENAI_URL, origin_of
from runevals.models.http.throttle import Throttles
from runevals.records.errors import InvalidSettings
from runevals.settings.target import JudgeSettings, TargetSettings, api_key
from runevals.targets import Target, plugin_target
from runevals.targets.conversation_ids import ConversationIds
from runevals.targets.environment import bare, cleaned
from runevals.targets.openai import OpenAITarget

if TYPE_CHECKING:
    from runevals.targets.mcp_tools import McpTools


class TargetSpec(Struct, frozen=True, kw_only=True):
    """The specification of a live target without its environment: it has names of variables, but no secrets."""

    settings: TargetSettings
    prices: Prices
    not_from: Path | None = None  # the checkout whose code must not run as this one's


def bounds_itself(settings: TargetSettings) -> bool:
    """Whether a target enforces `at_once` itself, so that its work around a call needs no slot."""
    return settings.type in PROVIDERS


def build_target(
    recipe: TargetSpec,
    environment: Mapping[str, str],
    throttles: Throttles,
    threads: ConversationIds,
    *,
    at_once: int | None = None,
) -> Target:
    """The target; conversation ids of endpoints are stored in `threads`.

    Raises InvalidSettings for what the environment lacks, and for targets that only answer from files.
    """
    target = _untraced(recipe, environment, throttles, threads, at_once)
    if recipe.settings.trace is None:
        return target
    from runevals.targets.traced import TracedTarget

    return TracedTarget(target, recipe.prices, environment)


def _untraced(
    recipe: TargetSpec,
    environment: Mapping[str, str],
    throttles: Throttles,
    threads: ConversationIds,
    at_once: int | None,
) -> Target:
    settings = recipe.settings
    match settings.type:
        case "http" | "a2a":
            return _behind_address(recipe, environment, throttles, threads)
        case "command":
            from runevals.targets.agents.wrapper import wrapper_of

            return wrapper_of(settings.output or "")(
                settings.command,
                cwd=settings.base,
                env=cleaned(environment, settings.variables),
                timeout_s=settings.timeout_s,
                deterministic=settings.deterministic,
                request={"model": settings.model, "system": settings.system_prompt},
            )
        case "claude-code" | "codex" | "copilot" | "gemini-cli":
            from runevals.targets.agents import AGENTS
            from runevals.targets.agents.target import AgentTarget

            assert settings.agent is not None  # noqa: S101 - settled with it
            return AgentTarget(
                AGENTS[settings.type],
                settings.agent,
                environment=environment,
                prices=recipe.prices,
                sessions=threads,
            )
        case "plugin":
            return plugin_target(
                settings.plugin or "", settings.options, base=settings.base, timeout_s=settings.timeout_s
            )
        case "python":
            from runevals.targets.python import PythonTarget

            return PythonTarget(
                settings.function or "",
                cwd=settings.base,
                env=cleaned(environment, settings.variables),
                timeout_s=settings.timeout_s,
                deterministic=settings.deterministic,
                not_from=recipe.not_from,
                interpreter=settings.interpreter or environment.get("RUNEVALS_PYTHON") or None,
                system_prompt=settings.system_prompt,
            )
        case "recorded" | "skill":
            raise InvalidSettings(f"a {settings.type} target is made where its files are")
        case _:
            chat = chat_of(settings, environment, throttles, what="target", at_once=at_once)
            threading.Thread(target=chat.warm_up, daemon=True).start()
            return OpenAITarget(
                chat,
                system_prompt=settings.system_prompt,
                parameters=settings.parameters,
                prices=recipe.prices,
                name=settings.type,
                server_tools=server_tools_of(settings, environment),
            )


def server_tools_of(settings: TargetSettings, environment: Mapping[str, str]) -> McpTools | None:
    """The tools of the MCP servers under test, which get no key of the job; None without servers."""
    if not settings.servers:
        return None
    from runevals.programs.mcp_servers import StdioServer
    from runevals.targets.mcp_tools import McpTools

    home = {"HOME": environment["HOME"]} if "HOME" in environment else {}  # where npx and uvx keep packages
    plain = {**bare(environment), **home}
    servers = [
        replace(server, env={**plain, **server.env}) if isinstance(server, StdioServer) else server
        for server in settings.servers
    ]
    return McpTools(servers, timeout_s=settings.timeout_s)


def _behind_address(
    recipe: TargetSpec, environment: Mapping[str, str], throttles: Throttles, threads: ConversationIds
) -> Target:
    settings, web = recipe.settings, recipe.settings.web
    assert web is not None  # noqa: S101 - settled with an address
    headers = web.header_values(environment)
    throttle = throttles[_host(web.url)]
    if settings.type == "a2a":
        from runevals.targets.a2a import A2ATarget

        return A2ATarget(
            web, headers, throttle, threads, timeout_s=settings.timeout_s, deterministic=settings.deterministic
        )
    from runevals.targets.http import HttpTarget
    from runevals.targets.json_endpoint import JsonEndpoint

    return HttpTarget(
        JsonEndpoint(web, headers, throttle, timeout_s=settings.timeout_s),
        threads,
        deterministic=settings.deterministic,
        request={"model": settings.model, "system": settings.system_prompt},
        prices=recipe.prices,
    )


def chat_of(
    settings: TargetSettings | JudgeSettings,
    environment: Mapping[str, str],
    throttles: Throttles,
    *,
    what: str,
    at_once: int | None = None,
) -> Chat:
    """A chat model. Raises InvalidSettings without a key that it needs, or the SDK that speaks its API."""
    api = settings.spoken_api
    sdk = WIRES[api].sdk
    if find_spec(sdk) is None:
        raise InvalidSettings(
            f"{what}: {settings.type} speaks the {WIRES[api].title} by the package {sdk}, which is not installed: "
            f"pip install 'runevals[{sdk}]' (or set `api: chat`, if it speaks chat completions too)"
        )
    endpoint = Endpoint(
        model=settings.model or "",
        api_key=api_key(settings, environment, what),
        identity=None if settings.auth is None else _identity(settings, environment, what),
        base_url=settings.base_url,
        azure_api_version=settings.azure_api_version,
        timeout_s=settings.timeout_s,
        provider=PROVIDERS[settings.type],
        api=api,
        api_is_set=settings.api is not None,
        model_source=f"`{what}:` in runevals.yaml, or "
        f"{'--judge-model' if what == 'judge' else '--target or --model'}",
        key_source=_key_source(settings, environment),
    )
    return Chat(endpoint, throttles[_host(settings.base_url)], at_once=at_once)


def _identity(settings: TargetSettings | JudgeSettings, environment: Mapping[str, str], what: str) -> Key:
    if settings.azure_api_version is not None:
        raise InvalidSettings(
            f"{what}.auth: AZURE_AI_API_VERSION asks for the older API, which takes a key; unset it"
        )
    return job_identity(settings.type, settings.base_url or OPENAI_URL, environment, what=what)


def _key_source(settings: TargetSettings | JudgeSettings, environment: Mapping[str, str]) -> str:
    if settings.auth is not None:
        return "the identity of this job"
    name = settings.api_key_env
    return f"the key in {name}" if environment.get(name) else f"no key: {name} is not set"


def _host(url: str | None) -> str:
    """Name and port of the host that is called. Raises InvalidSettings for an invalid address."""
    url = OPENAI_URL if url is None else url
    try:
        return origin_of(url).partition("://")[2] or url
    except ValueError as error:
        reason = f"the address of a model cannot be read: {error}"
        raise InvalidSettings(f"{reason}; fix base_url in the settings, or OPENAI_BASE_URL") from None
