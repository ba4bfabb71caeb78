"""The `openai` SDK as we call it: an answer is read only so far and for so long. Half a second to import."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any
from weakref import finalize

import openai

MAX_ANSWER_BYTES = 16 * 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024  # of the text beside a refusal

# The SDK's own HTTP library: httpx, later httpx2. They differ in name only.
httpx: Any = sys.modules[type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0]]


class TooLarge(Exception):
    """An answer that nobody will read."""


class ChatClient:
    """One endpoint's completions as bytes, which cost half of what the SDK's objects do."""

    def __init__(
        self, *, base_url: str | None, api_key: str, azure_api_version: str | None, timeout_s: float
    ) -> None:
        """With `azure_api_version`, `base_url` is an Azure OpenAI resource. Raises ValueError for no address."""
        self._timeout_s = timeout_s
        told: dict[str, Any] = {"api_key": api_key, "timeout": timeout_s, "max_retries": 0}
        if azure_api_version is None:
            self._sdk: Any = partial(openai.OpenAI, base_url=base_url, **told)
        else:
            azure = {"azure_endpoint": base_url or "", "api_version": azure_api_version}
            self._sdk = partial(openai.AzureOpenAI, **azure, **told)
        self._certificates = httpx.create_ssl_context()
        self._connections: list[Any] = []
        finalize(self, _close, self._connections).atexit = False
        self._idle = [self._another()]

    def completion(self, body: Mapping[str, object]) -> bytes:
        """The answer's body. Raises what the SDK raises, and TooLarge."""
        deadline = time.monotonic() + self._timeout_s
        sdk = self._borrowed()
        try:
            reply = sdk.post(
                "/chat/completions", body=body, cast_to=httpx.Response, stream=True, stream_cls=openai.Stream[Any]
            )
            with closing(reply):
                return _whole(reply, deadline)
        except httpx.TimeoutException as error:
            raise openai.APITimeoutError(request=error.request) from error
        except httpx.RequestError as error:
            raise openai.APIConnectionError(request=error.request) from error
        finally:
            self._idle.append(sdk)

    def _borrowed(self) -> Any:
        """A client that no other call uses: one for all would look at every connection for each call."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._another()

    def _another(self) -> Any:
        connection = openai.DefaultHttpxClient(
            timeout=self._timeout_s,
            verify=self._certificates,
            event_hooks={"response": [partial(_shorten, timeout_s=self._timeout_s)]},
        )
        self._connections.append(connection)
        return self._sdk(http_client=connection)


def _close(connections: list[Any]) -> None:
    for connection in connections:
        connection.close()


def _whole(reply: Any, deadline: float) -> bytes:
    """The body: each read has the client's time limit, all of them together the deadline."""
    content = bytearray()
    for chunk in reply.iter_bytes():
        content += chunk
        if len(content) > MAX_ANSWER_BYTES:
            raise TooLarge(f"the answer is larger than {MAX_ANSWER_BYTES // 1024**2} MiB")
        if time.monotonic() > deadline:
            raise openai.APITimeoutError(request=reply.request)
    return bytes(content)


def _shorten(reply: Any, *, timeout_s: float) -> None:
    """What comes with an error, the SDK reads to its end: there is one now."""
    if reply.status_code >= 300:
        reply.stream = _Beginning(reply.stream, time.monotonic() + timeout_s)


class _Beginning(httpx.SyncByteStream):  # type: ignore[misc]
    """What comes of a body until a time, and at most so much of it."""

    def __init__(self, stream: Any, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        left = MAX_ERROR_BYTES
        for chunk in self._stream:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0 or time.monotonic() > self._deadline:
                return

    def close(self) -> None:
        self._stream.close()
