"""The SDK's asynchronous client behind plain calls. Imported only if an a2a target is used."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.client import Client
from a2a.types.a2a_pb2 import AgentCard, GetTaskRequest, Message, Part, Role, SendMessageRequest
from a2a.utils.constants import TransportProtocol
from a2a.utils.errors import A2AError
from google.protobuf.json_format import Error as NoProtocol

from runevals.lib.text.secrets import beginning
from runevals.models.http.endpoint import WebSettings
from runevals.models.http.origin import origin_of
from runevals.models.http.throttle import CallFailed, TryAgain, failure_of_status
from runevals.programs.exchange import MAX_OUTPUT_BYTES
from runevals.targets.a2a_reply import AgentReply, of_message, of_task
from runevals.targets.event_loop import LoopThread
from runevals.targets.json_endpoint import MOST_REASON, excerpt


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
                return of_task(reply.task) if reply.HasField("task") else of_message(reply.message)
        raise CallFailed("unparseable", "the agent sent an empty reply")

    async def _task(self, task_id: str) -> AgentReply:
        assert self._client is not None  # noqa: S101 - the card is read first
        with _protocol_errors():
            return of_task(await self._client.get_task(GetTaskRequest(id=task_id)))


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
