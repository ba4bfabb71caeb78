"""An endpoint behind an address: what it is sent, and which variables go into its headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from runevals.lib.parsing.json_path import Pick
from runevals.models.http.origin import origin_of
from runevals.records.errors import InvalidSettings

Method = Literal["POST", "PUT", "PATCH", "GET", "DELETE"]
_HEADER_VALUE = re.compile(r"[\x21-\x7e\xa0-\xff](?:[\t\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?")
DEFAULT_PICK: Mapping[str, tuple[str, ...]] = {
    "answer": ("$.output", "$.answer", "$.response", "$.text"),
    "tool_calls": ("$.tool_calls", "$.toolCalls"),
    "citations": ("$.citations",),
    "input_tokens": ("$.input_tokens", "$.inputTokens", "$.usage.input_tokens", "$.usage.prompt_tokens"),
    "output_tokens": ("$.output_tokens", "$.outputTokens", "$.usage.output_tokens", "$.usage.completion_tokens"),
    "cost_usd": ("$.cost_usd", "$.costUSD"),
    "turns": ("$.turns", "$.numTurns"),
    "model": ("$.model",),
    "conversation_id": ("$.conversation_id", "$.conversationId"),
}


class Header(Struct, frozen=True, kw_only=True):
    """A header's value: `text`, followed by the value of the environment variable `env`, if set."""

    text: str = ""
    env: str | None = None


class WebSettings(Struct, frozen=True, kw_only=True):
    """An endpoint, settled. `body` and `pick` are those of an http target."""

    url: str
    method: Method = "POST"
    headers: Mapping[str, Header] = {}
    body: object = None
    pick: Pick | None = None

    @property
    def key_names(self) -> tuple[str, ...]:
        """The environment variables whose values are sent."""
        return tuple(header.env for header in self.headers.values() if header.env is not None)

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return origin_of(self.url)

    @property
    def display_url(self) -> str:
        """The address without credentials and query."""
        return f"{self.origin}{urlsplit(self.url).path}"

    def header_values(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The headers to send. Raises InvalidSettings for an unset variable or an invalid header value."""
        return {name: _value(name, header, environment) for name, header in self.headers.items()}


def _value(name: str, header: Header, environment: Mapping[str, str]) -> str:
    value_ = "" if header.env is None else environment.get(header.env, "")
    if header.env is not None and not value_:
        raise InvalidSettings(
            f"target: the environment variable {header.env} is not set; the header {name} needs it"
        )
    value = header.text + value_
    if not _HEADER_VALUE.fullmatch(value):
        origin = "target.headers" if header.env is None else f"the environment variable {header.env}"
        raise InvalidSettings(
            f"{origin}: {name} contains a line break or another character that is not allowed in a header"
        )
    return value
