"""Talking to a chat model through its vendor's SDK: retries, pauses, plain errors."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from runevals.lib.nullable import if_known, total, whole_total
from runevals.lib.text.numbers import phrase
from runevals.lib.text.secrets import beginning
from runevals.models.chat.prices import Prices
from runevals.models.chat.providers import PROVIDERS, Api, Provider
from runevals.models.chat.reply import MOST_WORDS, ChatReply
from runevals.models.chat.wire import WIRES, Wire
from runevals.models.http.key import FixedKey, Key
from runevals.models.http.network import certificate_fault, route
from runevals.models.http.origin import OPENAI_URL, without_credentials
from runevals.models.http.pace import Slot
from runevals.models.http.reading import TooLarge
from runevals.models.http.throttle import CallFailed, Throttle, TryAgain, failure_of_status, final_failure
from runevals.records.quiet import Quiet

if TYPE_CHECKING:
    from runevals.models.chat.transport import ChatClient

ChatFailed = CallFailed


class ParameterRefused(Exception):
    """The endpoint does not take a parameter of the request."""

    def __init__(self, parameter: str, message: str) -> None:
        self.parameter = parameter
        super().__init__(message)


class _SendAgain(Exception):
    """The endpoint takes this request by its other API, or with a new token, which are used from now on."""


class Endpoint(Quiet, frozen=True, kw_only=True):
    """Where to reach a chat model. The key stays out of `repr`."""

    hidden = frozenset({"api_key"})

    model: str
    api_key: str
    identity: Key | None = None  # in place of the key
    base_url: str | None = None
    azure_api_version: str | None = None  # set: `base_url` is an Azure OpenAI resource
    timeout_s: float = 120.0
    provider: Provider = PROVIDERS["openai"]
    api: Api = "chat"
    api_is_set: bool = False  # by the settings, so that a provider's advice does not change it
    model_source: str = ""  # the setting that names its model, for messages
    key_source: str = ""  # "the key in NAME", for messages

    @property
    def key(self) -> Key:
        """What it is sent to know the caller."""
        return self.identity or FixedKey(self.api_key)

    @property
    def display_url(self) -> str:
        """Its address without credentials."""
        return without_credentials(self.base_url or OPENAI_URL)


class Chat:
    """One endpoint, shared by all threads. The SDK is imported and the client made at the first call."""

    def __init__(self, endpoint: Endpoint, throttle: Throttle, *, at_once: int | None = None) -> None:
        """At most `at_once` calls run at the same time; None: no limit."""
        self.endpoint = endpoint
        self._throttle = throttle
        self._slots = if_known(threading.BoundedSemaphore, at_once)
        self._lock = threading.Lock()
        self._open_client: ChatClient | None = None
        self._api = endpoint.api

    def warm_up(self) -> None:
        """Imports the SDK and creates the client; takes half a second, so call it in the background."""
        with suppress(ChatFailed):  # the first call says it
            self._client()

    def ask(self, messages: Sequence[Mapping[str, object]], parameters: Mapping[str, object]) -> ChatReply:
        """One completion. Raises ChatFailed, or ParameterRefused for a 400 that names a request parameter."""
        for may_change in (True, True, False):  # another API, another token
            send = partial(self._send, messages, parameters, may_change=may_change)
            with suppress(_SendAgain):
                return self._throttle.call_in_slot(send, final_failure, self._slots)
        raise AssertionError("unreachable: the last request changes nothing")

    def shutdown_date(self) -> str | None:
        """The day on which the provider says that it ends the model; None if it names none, or cannot be asked."""
        return self._client().shutdown_date(self.endpoint.model)

    def spent(self, replies: Sequence[ChatReply], prices: Prices) -> dict[str, Any]:
        """Cost and tokens of `replies`, None if one of them does not report it.

        Each is at the price of its model, otherwise of the requested model.
        """
        return {
            "cost_usd": total(self._cost_usd(reply, prices) for reply in replies),
            "input_tokens": whole_total(reply.input_tokens for reply in replies),
            "output_tokens": whole_total(reply.output_tokens for reply in replies),
        }

    def _cost_usd(self, reply: ChatReply, prices: Prices) -> float | None:
        provider = self.endpoint.provider
        if provider.reports_cost and reply.cost_usd is not None:
            return reply.cost_usd
        return prices.cost_usd(
            reply.model or self.endpoint.model,
            reply.input_tokens,
            reply.output_tokens,
            cached_tokens=reply.cached_tokens,
            written_tokens=reply.written_tokens,
            provider=provider.prices,
        )

    def _send(
        self,
        messages: Sequence[Mapping[str, object]],
        parameters: Mapping[str, object],
        slot: Slot,
        *,
        may_change: bool,
    ) -> ChatReply:
        client = self._client()
        from runevals.models.chat.transport import MAX_ANSWER_BYTES

        sdk, wire = client.sdk, WIRES[self._api]
        for name in sorted(wire.without.intersection(parameters)):
            raise ParameterRefused(name, f"the {wire.title} has none; `api: chat` speaks chat completions")
        body = {"model": self.endpoint.model, **wire.body(messages, parameters)}
        try:
            content, latency_s, from_cache = client.post(wire.path, body, slot)
        except sdk.APITimeoutError as error:
            raise TryAgain("timeout", f"no answer within {self.endpoint.timeout_s:g} s") from error
        except sdk.APIConnectionError as error:
            cause, url = beginning(str(error.__cause__), MOST_WORDS), self.endpoint.display_url
            if (fault := certificate_fault(error)) is not None:
                raise ChatFailed("failed", f"{url}: {fault}", refused=True) from error
            message = f"no answer from {url}{route(url)} ({cause}); run `runevals doctor` for details"
            raise TryAgain("failed", message, of_host=True) from error
        except sdk.APIStatusError as error:
            if may_change and (self._is_sent_to_responses(error) or self._has_new_key(error)):
                raise _SendAgain from error
            raise _error_of(error, parameters, self.endpoint, wire) from error
        except TooLarge as error:
            message = f"the answer is larger than {MAX_ANSWER_BYTES // 1024**2} MiB"
            raise ChatFailed("unparseable", message) from error
        except (sdk.APIError, ValueError) as error:
            raise ChatFailed("unparseable", f"the answer cannot be read: {error}") from error
        if content.lstrip()[:1] == b"<":
            message = f"{self.endpoint.display_url} answers with a web page: it is not the API of a model"
            raise ChatFailed("unparseable", f"{message} (does the address lack a /v1 at its end?)")
        return wire.read(content, latency_s, from_cache=from_cache)

    def _has_new_key(self, error: Any) -> bool:
        """Whether the token expired that was sent, and there is another one."""
        sent = str(error.request.headers.get("authorization", "")).removeprefix("Bearer ")
        return error.status_code == 401 and self.endpoint.key.renew(sent)

    def _is_sent_to_responses(self, error: Any) -> bool:
        """Whether a provider takes this only by the Responses API, which is then spoken from now on."""
        advised = (
            error.status_code == 400
            and "/chat/" in str(error.request.url)
            and "/v1/responses" in _message(error, _body(error))
        )
        if self.endpoint.api_is_set or not advised:
            return False
        self._api = "responses"
        return True

    def _client(self) -> ChatClient:
        with self._lock:
            if self._open_client is None:
                self._open_client = self._new_client()
            return self._open_client

    def _new_client(self) -> ChatClient:
        from runevals.models.chat.transport import ChatClient

        end = self.endpoint
        try:
            return ChatClient(
                WIRES[self._api].sdk,
                base_url=end.base_url,
                key=end.key,
                azure_api_version=end.azure_api_version,
                timeout_s=end.timeout_s,
            )
        except (ValueError, ImportError) as error:  # an invalid address, proxy or file of authorities
            raise ChatFailed("failed", f"{end.display_url}: {error}", refused=True) from error


def _error_of(error: Any, parameters: Mapping[str, object], endpoint: Endpoint, wire: Wire) -> Exception:
    status, body = error.status_code, _body(error)
    message = _message(error, body)
    place = ", asked with ".join(filter(None, (endpoint.display_url, endpoint.key_source)))
    if status == 429 and body.get("code") in ("insufficient_quota", "billing_hard_limit_reached"):
        return ChatFailed("rate_limited", f"429: {message} ({place})", refused=True)
    if status in (401, 403):
        return ChatFailed("auth", f"{status}: {message} ({place})", refused=True)
    is_of_model = body.get("code") == "model_not_found" or endpoint.model in message  # else of the address
    if status == 404 and endpoint.model and "model" not in parameters and is_of_model:
        origin = phrase(endpoint.model_source, "; the model comes from {}")
        return ChatFailed(
            "failed", f"{endpoint.display_url} has no model {endpoint.model} ({message}){origin}", refused=True
        )
    if status in (400, 422):
        refused = str(body.get("param") or "")
        for parameter in parameters:
            names = (parameter, wire.names.get(parameter, parameter))
            if any(f"{refused}.".startswith(f"{name}.") or _is_about(name, message) for name in names):
                return ParameterRefused(parameter, message)
    return failure_of_status(status, message, error.response.headers)


def _is_about(parameter: str, message: str) -> bool:
    """Whether the text of a 400 names a parameter: quoted, first in the text, or with an underscore."""
    quoted = re.search(rf"""["'`\\]{re.escape(parameter)}["'`\\]""", message)
    first = re.match(rf"{re.escape(parameter)}\b", message)
    return bool(quoted or first or ("_" in parameter and re.search(rf"\b{re.escape(parameter)}\b", message)))


def _body(error: Any) -> Mapping[str, Any]:
    """The body of an error; Gemini wraps it into a list."""
    body = error.body[0] if isinstance(error.body, list) and error.body else error.body
    if not isinstance(body, Mapping):
        return {}
    return body["error"] if isinstance(body.get("error"), Mapping) else body


def _message(error: Any, body: Mapping[str, Any]) -> str:
    """The words of an error; Mistral has an object there."""
    text = body.get("message")
    if isinstance(text, Mapping | list):
        text = json.dumps(text, ensure_ascii=False)
    return beginning(text if isinstance(text, str) else error.message, MOST_WORDS)
