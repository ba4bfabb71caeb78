"""Any OpenAI-compatible chat API, by the `openai` SDK."""

from __future__ import annotations

import hashlib
import shlex
import threading
from collections.abc import Iterator, Mapping
from math import fsum
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from runevals.lib.nullable import whole_total, without_none
from runevals.lib.parsing.json_forms import json_in
from runevals.lib.record_from import record_from
from runevals.models.chat.chat import Chat, ChatFailed, ParameterRefused
from runevals.models.chat.prices import Prices
from runevals.models.chat.providers import PROVIDERS, address
from runevals.models.chat.reply import ChatReply
from runevals.programs.mcp_servers import Server, ServerFailed, StdioServer
from runevals.records import AND, Conversation, Delivery, ModelIdentity, Problem, Response, ToolCall
from runevals.records.diagnosis import Diagnosis
from runevals.records.traits import Traits
from runevals.targets import Target
from runevals.targets.chat_settings import base_url, chat_of, diagnosis_of, unanswered
from runevals.targets.environment import bare
from runevals.targets.kind import NOT_STARTED, Making, Section, TargetSettings
from runevals.targets.mcp_tools import McpTools
from runevals.targets.mocks import Mocks, mocks_of
from runevals.targets.program_report import failed
from runevals.targets.reach import AUTHORIZATION, IDENTITY, Reach, Written, plain, rules
from runevals.targets.servers_under_test import servers_under_test

MOST_TURNS = 20
# Finish reasons, in lower case: watsonx and TGI have `eos_token`, gateways of Gemini `STOP`.
ENDED_BY_MODEL = ("", "stop", "eos", "eos_token", "end", "end_turn", "stop_sequence")


class OpenAITarget:
    """Sends the system prompt, the conversation so far and the prompt."""

    def __init__(
        self,
        chat: Chat,
        *,
        system_prompt: str | None,
        parameters: Mapping[str, object],
        prices: Prices = Prices(),  # noqa: B008 - a frozen record
        name: str = "openai",
        server_tools: McpTools | None = None,
    ) -> None:
        """`server_tools` are called if no mock of the case answers."""
        self._name = name
        self.server_tools = server_tools
        self._chat = chat
        self._prices = prices
        self._system_prompt = system_prompt
        self._parameters = dict(parameters)
        self._models: set[str] = set()
        self._suite_models: set[str] = set()  # the models that suites name
        self._lock = threading.Lock()

    @property
    def secret(self) -> bytes:
        """The API key, which signs cached answers."""
        return self._chat.endpoint.api_key.encode()

    def sent_for(self, conversation: Conversation) -> object:
        """Everything an answer depends on, as JSON: endpoint, model, parameters, messages and mocks."""
        end = self._chat.endpoint
        messages = [[message.role, message.content] for message in conversation.messages]
        mocks = [conversation.metadata.get(name) for name in ("mocks", "mocksStrict")]
        sent = [end.base_url, end.model, self._parameters_for(conversation), self._system_prompt, messages, mocks]
        return sent if end.api == "chat" else [*sent, end.api]

    def answer(self, conversation: Conversation) -> Response:
        """The model's final answer; its tool calls are answered by the mocks of the case."""
        messages: list[Mapping[str, object]] = [
            {"role": m.role, "content": m.content} for m in conversation.messages
        ]
        if self._system_prompt is not None:
            messages.insert(0, {"role": "system", "content": self._system_prompt, "fixed": True})
        try:
            return self._converse(messages, conversation)
        except ParameterRefused as error:
            return failed("target_failed", f"the endpoint refuses the parameter '{error.parameter}': {error}")
        except ChatFailed as error:
            return unanswered(error)

    def _converse(self, messages: list[Mapping[str, object]], conversation: Conversation) -> Response:
        """Completions until the model calls no more tools. Raises ChatFailed, ParameterRefused."""
        mocks = mocks_of(conversation)
        parameters = self._with_tools(self._parameters_for(conversation), mocks)
        replies: list[ChatReply] = []
        calls: list[ToolCall] = []
        while True:
            reply = self._chat.ask(messages, parameters)
            replies.append(reply)
            if reply.model is not None:
                with self._lock:
                    self._models.add(reply.model)
            if not reply.tool_calls or "tools" not in parameters or len(replies) == MOST_TURNS:
                break
            messages.append(reply.as_message())
            for call in reply.tool_calls:
                try:
                    result = self._called(mocks, call.name, json_in(call.arguments))
                except (ServerFailed, ValueError) as error:
                    spent = self._chat.spent(replies, self._prices)
                    return _no_answer(str(error), reply, spent, code="target_failed")
                calls.append(result)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result.output or ""})
        last, spent = replies[-1], self._chat.spent(replies, self._prices)
        if last.tool_calls and "tools" in parameters and not last.text:
            return _no_answer(f"the model still calls tools after {MOST_TURNS} turns", last, spent)
        calls += [ToolCall(name=call.name, input=json_in(call.arguments)) for call in last.tool_calls]
        if _has_no_answer(last):
            message = last.refusal or f"the model gave no text (finish_reason: {last.finish_reason})"
            return _no_answer(message, last, spent)
        delivery = record_from(Delivery, last, cut=last.cut)
        return Response(
            **spent,
            text=last.text or "",
            tool_calls=tuple(calls),
            latency_s=fsum(reply.latency_s for reply in replies),
            turns=len(replies),
            reasoning_tokens=whole_total(reply.reasoning_tokens for reply in replies),
            model=last.model,
            delivery=None if delivery == Delivery() else delivery,
        )

    def _called(self, mocks: Mocks, name: str, value: object) -> ToolCall:
        """A tool call with the answer of a mock, else of a server under test. Raises ServerFailed, ValueError."""
        result = mocks.answer_call(name, value)
        tools = self.server_tools
        if tools is None or result.mock is not None or mocks.strict or name not in tools.tools:
            return result
        return tools.call(name, value)

    def _parameters_for(self, conversation: Conversation) -> dict[str, object]:
        """The target's parameters; if it has no model, they override the model and parameters of the suite."""
        if self._chat.endpoint.model or conversation.model is None:
            return self._parameters
        with self._lock:
            self._suite_models.add(conversation.model)
        return {**conversation.parameters, "model": conversation.model, **self._parameters}

    def _with_tools(self, parameters: dict[str, object], mocks: Mocks) -> dict[str, object]:
        """`parameters`, with the tools of servers, and a plain declaration of every other tool that is mocked."""
        of_servers = {} if self.server_tools is None else self.server_tools.tools
        own: Any = parameters.get("tools", [])
        own_names = {tool.get("function", {}).get("name") for tool in own}
        declared = [*own, *(tool.declaration for name, tool in of_servers.items() if name not in own_names)]
        names = own_names | of_servers.keys()
        additional = [
            {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
            for name in mocks.tools
            if name not in names
        ]
        tools = [*declared, *additional]
        return {**parameters, "tools": tools} if tools else parameters

    def identity(self) -> ModelIdentity:
        """The requested model, and the models that answered."""
        prompt = None if self._system_prompt is None else self._system_prompt.encode()
        return ModelIdentity(
            type=self._name,
            model=self._chat.endpoint.model or AND.join(sorted(self._suite_models)) or None,
            reported=tuple(sorted(self._models)),
            prompt_hash=None if prompt is None else hashlib.sha256(prompt).hexdigest(),
            detail=without_none(
                parameters=self._parameters or None, mcp=self.server_tools and self.server_tools.identity
            ),
        )

    def close(self) -> None:
        """Stops the servers."""
        if self.server_tools is not None:
            self.server_tools.close()


def _has_no_answer(last: ChatReply) -> bool:
    """Whether there is neither text nor a tool call; an empty text is an answer if the model ended it itself."""
    if last.tool_calls or (last.text or "").strip():
        return False
    return last.text is None or bool(last.refusal) or (last.finish_reason or "").lower() not in ENDED_BY_MODEL


def _no_answer(message: str, last: ChatReply, spent: Mapping[str, Any], code: str = "empty_response") -> Response:
    """No answer, which was paid for all the same."""
    return Response(**spent, problem=Problem(code=code, message=message), model=last.model)


def keys_of_model(written: Written) -> Iterator[Reach]:
    """The key at the provider's address, or at the one that the settings name."""
    values = written.values
    place = values.get("base_url") or address(written.kind, written.environment, values.get("model"))
    key = IDENTITY if "auth" in values else values.get("api_key_env", PROVIDERS[written.kind].key)
    yield from written.keys_at(place, {(key, AUTHORIZATION)})


def _servers(written: Written) -> Iterator[Reach]:
    """Servers under test are bare programs."""
    for _, server in written.servers():
        if "url" in server:
            yield Reach("host", "", plain(str(server["url"])))
        else:
            yield Reach("program", shlex.join(map(str, [server.get("command", ""), *server.get("args", ())])))


class ModelTargetSettings(TargetSettings, frozen=True, kw_only=True):
    """A chat model of any provider."""

    servers: tuple[Server, ...] = ()  # MCP servers under test, which it calls

    traits = Traits(
        reports_skills=False, answers_tool_calls=True, is_paid=True, bounds_itself=True, sends_only_prompts=True
    )
    form = "MODEL"
    refuses = dict.fromkeys(("trace",), NOT_STARTED)
    reaches = rules("base_url", "url", "headers", "api_key_env", "auth", "type", of=keys_of_model, mcp=_servers)

    @classmethod
    def own_fields(cls, section: Section) -> dict[str, Any]:
        """Its parameters, tools and servers. Raises InvalidSettings."""
        values, source = section.values, section.values.get("mcp", ())
        started_in = (section.base / values.get("cwd", ".")).resolve()
        servers = servers_under_test(source, started_in, section.repository)
        return {
            "parameters": {**values.get("parameters", {}), **without_none(tools=values.get("tools"))},
            "servers": servers,
            "reads_other_files": bool(servers),
            "files": (started_in / source,) if isinstance(source, str) else (),
        }

    def build(self, making: Making) -> Target:
        """Raises InvalidSettings without a key that it needs, or the SDK that speaks its API."""
        chat = chat_of(self, making.environment, making.throttles, what="target", at_once=making.at_once)
        threading.Thread(target=chat.warm_up, daemon=True).start()
        return OpenAITarget(
            chat,
            system_prompt=self.system_prompt,
            parameters=self.parameters,
            prices=making.prices,
            name=self.type,
            server_tools=self.server_tools(making.environment),
        )

    def server_tools(self, environment: Mapping[str, str]) -> McpTools | None:
        """The tools of the MCP servers under test, which get no key of the job; None without servers."""
        home = {"HOME": environment["HOME"]} if "HOME" in environment else {}  # where npx and uvx keep packages
        plain_env = {**bare(environment), **home}
        servers = [
            replace(server, env={**plain_env, **server.env}) if isinstance(server, StdioServer) else server
            for server in self.servers
        ]
        return McpTools(servers, timeout_s=self.timeout_s) if servers else None

    def named_files(self) -> Iterator[Path]:
        """Words of its servers."""
        yield from (self.base / word for server in self.servers for word in server.place)

    def stays_here_for(self) -> str | None:
        """Its servers run here."""
        return "target.mcp: servers are started on this machine" if self.servers else None

    def diagnosis(self, environment: Mapping[str, str]) -> Diagnosis:
        """Key and host; no key is sent."""
        return diagnosis_of("target", self, environment)


def model_target(base: Path, environment: Mapping[str, str]) -> ModelTargetSettings:
    """The chat models that the suites themselves name."""
    place = base_url({"type": "openai"}, environment, what="target")
    return ModelTargetSettings(type="openai", base=base, base_url=place, reads_other_files=False)
