"""A target that settings name → the target itself; also on another machine, with the environment there."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from runevals.lib.chat.chat import Chat, Endpoint
from runevals.lib.chat.prices import Prices
from runevals.lib.chat.providers import PROVIDERS
from runevals.lib.http.origin import OPENAI_URL, origin_of
from runevals.lib.http.throttle import Throttles
from runevals.records.errors import InvalidSettings
from runevals.settings.target import JudgeSettings, TargetSettings, api_key
from runevals.targets import Target, plugin_target
from runevals.targets.a2a import A2ATarget
from runevals.targets.agents import AGENTS
from runevals.targets.agents.target import AgentTarget
from runevals.targets.agents.wrapper import wrapper_of
from runevals.targets.conversation_ids import ConversationIds
from runevals.targets.environment import bare, cleaned
from runevals.targets.http import HttpTarget
from runevals.targets.json_endpoint import JsonEndpoint
from runevals.targets.mcp_tools import McpTools
from runevals.targets.openai import OpenAITarget
from runevals.targets.python import PythonTarget
from runevals.targets.traced import TracedTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSpec:
    """All that a live target is made of but the environment: it holds no secret, only names of variables."""

    told: TargetSettings
    prices: Prices
    not_from: Path | None = None  # the checkout whose code must not run as this one's


def bounds_itself(told: TargetSettings) -> bool:
    """Whether a target keeps to `at_once` itself: what it does before and after a call then needs no place."""
    return told.type in PROVIDERS


def made(
    recipe: TargetSpec,
    environment: Mapping[str, str],
    throttles: Throttles,
    threads: ConversationIds,
    *,
    at_once: int | None = None,
) -> Target:
    """The target; conversation ids that endpoints give are kept in `threads`.

    Raises InvalidSettings for what the environment lacks, and for targets that only answer from files.
    """
    target = _untraced(recipe, environment, throttles, threads, at_once)
    return target if recipe.told.trace is None else TracedTarget(target, recipe.prices, environment)


def _untraced(
    recipe: TargetSpec,
    environment: Mapping[str, str],
    throttles: Throttles,
    threads: ConversationIds,
    at_once: int | None,
) -> Target:
    told = recipe.told
    match told.type:
        case "http" | "a2a":
            return _behind_address(recipe, environment, throttles, threads)
        case "command":
            return wrapper_of(told.output or "")(
                told.command,
                cwd=told.base,
                env=cleaned(environment),
                timeout_s=told.timeout_s,
                deterministic=told.deterministic,
                request={"model": told.model, "system": told.system_prompt},
            )
        case "claude-code" | "codex" | "copilot" | "gemini-cli":
            assert told.agent is not None  # noqa: S101 - settled with it
            return AgentTarget(
                AGENTS[told.type],
                told.agent,
                environment=environment,
                prices=recipe.prices,
                sessions=threads,
            )
        case "plugin":
            return plugin_target(told.plugin or "", told.options, base=told.base, timeout_s=told.timeout_s)
        case "python":
            return PythonTarget(
                told.function or "",
                cwd=told.base,
                env=cleaned(environment),
                timeout_s=told.timeout_s,
                deterministic=told.deterministic,
                not_from=recipe.not_from,
                interpreter=told.interpreter or environment.get("RUNEVALS_PYTHON") or None,
                system_prompt=told.system_prompt,
            )
        case "recorded" | "skill":
            raise InvalidSettings(f"a {told.type} target is made where its files are")
        case _:
            chat = chat_of(told, environment, throttles, what="target", at_once=at_once)
            threading.Thread(target=chat.warm_up, daemon=True).start()
            return OpenAITarget(
                chat,
                system_prompt=told.system_prompt,
                parameters=told.parameters,
                prices=recipe.prices,
                name=told.type,
                server_tools=server_tools_of(told, environment),
            )


def server_tools_of(told: TargetSettings, environment: Mapping[str, str]) -> McpTools | None:
    """The tools of the MCP servers under test, which get no key of the job; None without servers."""
    home = {"HOME": environment["HOME"]} if "HOME" in environment else {}  # where npx and uvx keep packages
    plain = {**bare(environment), **home}
    servers = [replace(server, env={**plain, **server.env}) for server in told.servers]
    return McpTools(servers, timeout_s=told.timeout_s) if servers else None


def _behind_address(
    recipe: TargetSpec, environment: Mapping[str, str], throttles: Throttles, threads: ConversationIds
) -> Target:
    told, web = recipe.told, recipe.told.web
    assert web is not None  # noqa: S101 - settled with an address
    headers = web.header_values(environment)
    throttle = throttles[_host(web.url)]
    if told.type == "a2a":
        return A2ATarget(
            web, headers, throttle, threads, timeout_s=told.timeout_s, deterministic=told.deterministic
        )
    return HttpTarget(
        JsonEndpoint(web, headers, throttle, timeout_s=told.timeout_s),
        threads,
        deterministic=told.deterministic,
        request={"model": told.model, "system": told.system_prompt},
        prices=recipe.prices,
    )


def chat_of(
    told: TargetSettings | JudgeSettings,
    environment: Mapping[str, str],
    throttles: Throttles,
    *,
    what: str,
    at_once: int | None = None,
) -> Chat:
    """A chat model. Raises InvalidSettings where it needs a key and there is none."""
    endpoint = Endpoint(
        model=told.model or "",
        api_key=api_key(told, environment, what),
        base_url=told.base_url,
        azure_api_version=told.azure_api_version,
        timeout_s=told.timeout_s,
        provider=PROVIDERS[told.type],
        model_source=f"`{what}:` in runevals.yaml, or "
        f"{'--judge-model' if what == 'judge' else '--target or --model'}",
    )
    return Chat(endpoint, throttles[_host(told.base_url)], at_once=at_once)


def _host(url: str | None) -> str:
    """Who is called, in the words of an address: name and port. Raises InvalidSettings for what is none."""
    url = OPENAI_URL if url is None else url
    try:
        return origin_of(url).partition("://")[2] or url
    except ValueError as error:
        told = f"the address of a model cannot be read: {error}"
        raise InvalidSettings(f"{told}; mend base_url in the settings, or OPENAI_BASE_URL") from None
