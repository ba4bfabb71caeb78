"""An A2A agent by the SDK, which is asynchronous, behind plain calls. Imported only if an a2a target is used."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.client import Client
from a2a.types.a2a_pb2 import AgentCard, GetTaskRequest, Message, Part, Role, SendMessageRequest, Task, TaskState
from a2a.utils.constants import TransportProtocol
from a2a.utils.errors import A2AError
from google.protobuf.json_format import Error as NoProtocol
from google.protobuf.json_format import MessageToDict
from msgspec import Struct

from runevals.lib.text.secrets import beginning
from runevals.models.http.endpoint import WebSettings
from runevals.models.http.origin import origin_of
from runevals.models.http.throttle import CallFailed, TryAgain, failure_of_status
from runevals.programs.exchange import MAX_OUTPUT_BYTES
from runevals.records import Citation
from runevals.targets.event_loop import LoopThread
from runevals.targets.json_endpoint import MOST_REASON, excerpt
from runevals.targets.program_report import citations, shallow


class AgentReply(Struct, frozen=True, kw_only=True):
    """An agent's reply so far. A plain message is `completed`."""

    state: str
    text: str
    value: object = None  # the JSON value of `text`, if the answer is only JSON
    citations: tuple[Citation, ...] | None = None
    context_id: str | None = None
    task_id: str | None = None


class AgentClient:
    """One agent, shared by all threads. Its calls run in one event loop in a separate thread."""

    def __init__(self, web: WebSettings, headers: Mapping[str, str], timeout_s: float) -> None:
        self._web = web
        self._headers = dict(headers)
        self._timeout_s = timeout_s
        self._loop = LoopThread()
        self._http: _BoundedClient | None = None
        self._client: Client | None = None
        self.card: Mapping[str, object] = {}

    def read_card(self) -> None:
        """Learns who the agent is and how it is reached. Raises CallFailed, TryAgain."""
        self._loop.run(self._read_card())

    def send(self, text: str, ids: Mapping[str, str | None]) -> AgentReply:
        """One message of the user; `ids` are its own, and of context and task. Raises CallFailed, TryAgain."""
        return self._loop.run(self._send(text, ids))

    def task(self, task_id: str) -> AgentReply:
        """How far a task is. Raises CallFailed, TryAgain."""
        return self._loop.run(self._task(task_id))

    def close(self) -> None:
        """Ends running calls."""
        self._loop.close(self._disconnected)

    async def _disconnected(self) -> None:
        if self._http is not None:
            await self._http.aclose()

    async def _read_card(self) -> None:
        if self._http is None:
            self._http = _BoundedClient(self._web, self._headers, self._timeout_s)
        with _protocol_errors():
            card: AgentCard = await A2ACardResolver(self._http, self._web.url).get_agent_card()
        bindings: list[str] = [TransportProtocol.JSONRPC, TransportProtocol.HTTP_JSON]
        config = ClientConfig(streaming=False, httpx_client=self._http, supported_protocol_bindings=bindings)
        try:
            self._client = ClientFactory(config).create(card)
        except ValueError as error:
            raise CallFailed("failed", f"the agent cannot be reached by JSON-RPC or HTTP+JSON: {error}") from error
        self.card = {"agent": card.name[:MOST_REASON], "version": card.version[:MOST_REASON]}

    async def _send(self, text: str, ids: Mapping[str, str | None]) -> AgentReply:
        assert self._client is not None  # noqa: S101 - the card is read first
        with _protocol_errors():
            message = Message(role=Role.ROLE_USER, parts=[Part(text=text)], **ids)
            async for reply in self._client.send_message(SendMessageRequest(message=message)):
                if reply.HasField("task"):
                    return _of_task(reply.task)
                return _reply("completed", [reply.message], context_id=reply.message.context_id, task_id=None)
        raise CallFailed("unparseable", "the agent sent an empty reply")

    async def _task(self, task_id: str) -> AgentReply:
        assert self._client is not None  # noqa: S101 - the card is read first
        with _protocol_errors():
            return _of_task(await self._client.get_task(GetTaskRequest(id=task_id)))


@contextmanager
def _protocol_errors() -> Iterator[None]:
    """Wraps a call of the SDK. Raises CallFailed for replies that violate the protocol."""
    try:
        yield
    except A2AError as error:
        broken = isinstance(error.__cause__, json.JSONDecodeError | NoProtocol)
        raise CallFailed("unparseable" if broken else "failed", beginning(str(error), MOST_REASON)) from error
    except (NoProtocol, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise CallFailed(
            "unparseable", beginning(f"the exchange cannot be read or written: {error!r}", MOST_REASON)
        ) from error


class _BoundedClient(httpx.AsyncClient):
    """Sends keys only to their host, limits size and time, and separates temporary from permanent failures."""

    def __init__(self, web: WebSettings, headers: Mapping[str, str], timeout_s: float) -> None:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        super().__init__(timeout=timeout_s, limits=limits, headers={"User-Agent": "runevals"})
        self.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # cases share no cookies
        self._web = web
        self._sent_headers = dict(headers)
        self._timeout_s = timeout_s

    async def send(self, request: httpx.Request, **_: Any) -> httpx.Response:
        """Raises CallFailed, TryAgain."""
        origin = origin_of(str(request.url))
        if self._web.key_names and origin != self._web.origin:
            message = (
                f"its card leads to {origin}, and the key is for {self._web.origin}; name that address instead"
            )
            raise CallFailed("failed", message, refused=True)
        request.headers.update(self._sent_headers)
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await super().send(request, stream=True, follow_redirects=False)
                content = await _content(reply)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise TryAgain("timeout", f"no answer within {self._timeout_s:g} s") from error
        except httpx.TransportError as error:
            reason = beginning(f"connection failed: {type(error).__name__}: {error}", MOST_REASON)
            raise TryAgain("failed", reason, of_host=True) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise CallFailed("failed", beginning(f"the request cannot be sent: {error}", MOST_REASON)) from error
        if reply.status_code >= 300:
            raise failure_of_status(reply.status_code, excerpt(content), reply.headers)
        kind = {"content-type": reply.headers.get("content-type", "")}
        return httpx.Response(reply.status_code, headers=kind, content=content, request=request)


async def _content(reply: httpx.Response) -> bytes:
    content = bytearray()
    try:
        async for chunk in reply.aiter_bytes():
            content += chunk
            if len(content) > MAX_OUTPUT_BYTES:
                raise CallFailed("unparseable", f"the answer is larger than {MAX_OUTPUT_BYTES // 1024**2} MiB")
    finally:
        await reply.aclose()
    return bytes(content)


def _of_task(task: Task) -> AgentReply:
    """The reply in a task: in its artifacts, otherwise in its status or its last message.

    Raises CallFailed for values that a report cannot hold.
    """
    state = TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()
    last_messages = [message for message in task.history if message.role == Role.ROLE_AGENT][-1:]
    sources: tuple[list[Any], ...] = ([*task.artifacts], [task.status.message], last_messages)
    if state not in ("completed", "submitted", "working"):
        sources = sources[1:2]  # its final message or question, not partial artifacts
    source_messages = next((source for source in sources if any(each.parts for each in source)), [])
    return _reply(state, source_messages, context_id=task.context_id, task_id=task.id)


def _reply(state: str, sources: Iterable[Any], *, context_id: str, task_id: str | None) -> AgentReply:
    """The reply in messages or artifacts, joined."""
    parts = [part for source in sources for part in source.parts]
    text = "\n".join(part.text for part in parts if part.WhichOneof("content") == "text")
    values = [MessageToDict(part.data) for part in parts if part.WhichOneof("content") == "data"]
    value = None if text or not values else values[0] if len(values) == 1 else values
    try:
        value = _plain(shallow(value, "the answer"))
        return AgentReply(
            state=state,
            text=json.dumps(value, ensure_ascii=False) if value is not None else text,
            value=value,
            citations=_citations(sources, parts),
            context_id=context_id or None,
            task_id=task_id,
        )
    except ValueError as error:
        raise CallFailed("unparseable", str(error)) from error


def _plain(value: object) -> object:
    """A protobuf value as plain JSON: whole numbers as integers, keys sorted."""
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _citations(sources: Iterable[Any], parts: Iterable[Any]) -> tuple[Citation, ...] | None:
    """Sources beside the text: `citations` in the metadata, and files by their address."""
    items: list[Citation] = []
    for source in sources:
        items += citations(MessageToDict(source.metadata).get("citations")) or ()
    items += [
        Citation(text=part.filename, source=part.url) for part in parts if part.WhichOneof("content") == "url"
    ]
    return tuple(items) or None
