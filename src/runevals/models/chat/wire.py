"""The APIs of chat models: where a request goes, its body, and how its reply is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from runevals.lib.nullable import without
from runevals.models.chat import messages, responses
from runevals.models.chat.providers import PROVIDERS, Api
from runevals.models.chat.reply import ChatReply, completion_reply
from runevals.models.http.throttle import CallFailed

Message = Mapping[str, object]
_OURS = frozenset(("items", "fixed"))  # keys of a message that chat completions do not have


class Wire(Struct, frozen=True, kw_only=True):
    """One API. Messages and parameters are those of chat completions; `body` translates them.

    `sdk` is the module that sends its requests. `names` are the parameters that it calls otherwise, `without`
    those that it does not have.
    """

    title: str
    sdk: str = "openai"
    path: str
    body: Callable[[Sequence[Message], Mapping[str, Any]], dict[str, object]]
    what: str  # an answer, for messages
    reply: Callable[..., ChatReply]
    names: Mapping[str, str] = {}
    without: frozenset[str] = frozenset()

    def read(self, content: bytes, latency_s: float, *, from_cache: bool) -> ChatReply:
        """The reply in a body. Raises CallFailed, or TryAgain for a temporary error that came with status 200."""
        try:
            return self.reply(json.loads(content), latency_s, from_cache=from_cache)
        except KeyError as error:
            raise CallFailed("unparseable", f"the answer is not {self.what} (it has no {error})") from None
        except (AttributeError, IndexError, TypeError, ValueError, RecursionError) as error:
            raise CallFailed("unparseable", f"the answer is not {self.what} ({error})") from None


WIRES: Mapping[Api, Wire] = {
    "chat": Wire(
        title="chat completions API",
        path="/chat/completions",
        body=lambda messages, parameters: {"messages": [without(one, _OURS) for one in messages], **parameters},
        what="a chat completion",
        reply=completion_reply,
    ),
    "responses": Wire(
        title="Responses API",
        path="/responses",
        body=responses.body,
        what="one of the Responses API",
        reply=responses.reply,
        names=responses.NAMES,
        without=responses.WITHOUT,
    ),
    "messages": Wire(
        title="Messages API",
        sdk="anthropic",
        path="/messages",
        body=messages.body,
        what="one of the Messages API",
        reply=messages.reply,
        names=messages.NAMES,
        without=messages.WITHOUT,
    ),
}


def api_of(provider: str, base_url: str | None, parameters: Iterable[str]) -> Api:
    """What is spoken if the settings do not say it: what the provider speaks at its address, else what most do.

    An address of Anthropic's API says so in its path. Parameters that only chat completions have choose those.
    """
    own = PROVIDERS[provider]
    elsewhere: Api = "messages" if "/anthropic" in (base_url or "").partition("://")[2] else own.api_elsewhere
    api = own.api if base_url in (None, own.url) else elsewhere
    return api if WIRES[api].without.isdisjoint(parameters) else "chat"
