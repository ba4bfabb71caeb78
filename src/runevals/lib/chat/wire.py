"""The two APIs of OpenAI's kind: where a request goes, its body, and how its reply is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from runevals.lib.chat import responses
from runevals.lib.chat.reply import ChatReply, read_completion
from runevals.lib.http.origin import OPENAI_URL

Api = Literal["chat", "responses"]
Message = Mapping[str, object]


class Wire(Struct, frozen=True, kw_only=True):
    """One API. Messages and parameters are those of chat completions; `body` translates them.

    `names` are the parameters that it calls otherwise, `without` those that it does not have.
    """

    path: str
    body: Callable[[Sequence[Message], Mapping[str, Any]], dict[str, object]]
    read: Callable[..., ChatReply]
    names: Mapping[str, str] = {}
    without: frozenset[str] = frozenset()


def _completion(messages: Sequence[Message], parameters: Mapping[str, Any]) -> dict[str, object]:
    return {"messages": [_plain(message) for message in messages], **parameters}


def _plain(message: Message) -> Message:
    return {key: value for key, value in message.items() if key != "items"} if "items" in message else message


WIRES: Mapping[Api, Wire] = {
    "chat": Wire(path="/chat/completions", body=_completion, read=read_completion),
    "responses": Wire(
        path="/responses",
        body=responses.body,
        read=responses.read,
        names=responses.NAMES,
        without=responses.WITHOUT,
    ),
}


def api_of(provider: str, base_url: str | None, parameters: Iterable[str]) -> Api:
    """What is spoken if the settings do not say it: OpenAI itself takes tools of its models by Responses alone.

    Parameters that only chat completions have choose those.
    """
    of_openai = provider == "openai" and base_url in (None, OPENAI_URL)
    return "responses" if of_openai and responses.WITHOUT.isdisjoint(parameters) else "chat"
