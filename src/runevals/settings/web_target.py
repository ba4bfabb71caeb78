"""Targets behind an address: where they are, what they are sent, and which keys may go there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args
from urllib.parse import SplitResult, urlsplit

from runevals.lib.parsing.json_path import Pick
from runevals.lib.parsing.json_template import placeholders
from runevals.lib.text.suggest import did_you_mean
from runevals.records.errors import InvalidSettings
from runevals.settings.github_models import sendable

URL_VARIABLE = "RUNEVALS_TARGET_URL"
OPENAI_URL = "https://api.openai.com/v1"  # where calls to chat models go that name no address
Method = Literal["POST", "PUT", "PATCH", "GET", "DELETE"]
_WITHOUT_BODY = ("GET", "DELETE")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
_HEADER_VALUE = re.compile(r"[\x21-\x7e\xa0-\xff](?:[\t\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?")
_CASE_FIELDS = ("suite", "key", "attempt", "turn", "thread", "metadata")
_FIELDS = ("prompt", "messages", "model", "system", "conversation_id", "case")

DEFAULT_BODY: Mapping[str, object] = {
    name: f"{{{{{name}}}}}" for name in ("model", "system", "prompt", "messages", "conversation_id")
}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A header's value: `text`, and after it the value of the variable `env` where that is named."""

    text: str = ""
    env: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """An endpoint, settled. `body` and `pick` are those of an http target."""

    url: str
    method: Method = "POST"
    headers: Mapping[str, Header] = field(default_factory=dict)
    body: object = None
    pick: Pick | None = None

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables whose values are sent."""
        return tuple(header.env for header in self.headers.values() if header.env is not None)

    @property
    def origin(self) -> str:
        """Whom the address belongs to: scheme, host and port."""
        return origin_of(self.url)

    @property
    def shown(self) -> str:
        """The address without what may be secret in it."""
        return f"{self.origin}{urlsplit(self.url).path}"

    def header_values(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The headers as they are sent. Raises InvalidSettings for a variable that is not set or no header."""
        return {name: _value(name, header, environment) for name, header in self.headers.items()}


def web_settings(
    told: Mapping[str, Any], environment: Mapping[str, str], *, from_file: bool, base_told: object
) -> WebSettings:
    """The endpoint of an http or a2a target. `base_told` is the target in the settings that decide over a change.

    Raises InvalidSettings.
    """
    kind: str = told["type"]
    named_outside = environment.get(URL_VARIABLE) or None
    url = named_outside or told.get("url")
    if not url:
        raise InvalidSettings(f"the {kind} target has no address; give target.url, {kind}:URL or {URL_VARIABLE}")
    method = told.get("method", "POST").upper()
    if method not in get_args(Method):
        hint = did_you_mean(method, get_args(Method))
        raise InvalidSettings(f"target.method: '{method}' must be one of {', '.join(get_args(Method))}{hint}")
    body = told.get("body", None if method in _WITHOUT_BODY else DEFAULT_BODY)
    settled = WebSettings(
        url=_checked_url(url, templated=kind == "http"),
        method=method,
        headers=_headers(told),
        body=body if kind == "http" else None,
        pick=Pick(_places(told.get("pick")), "target.pick") if kind == "http" else None,
    )
    _check_placeholders("target.url", placeholders(settled.url))
    _check_placeholders("target.body", placeholders(settled.body))
    outside = not from_file or named_outside is not None
    if settled.key_names and environment.get("CI") and not outside and not _is_of_base(settled, base_told):
        raise InvalidSettings(
            f"target.url stands in the settings file, which a pull request may change, and would be sent "
            f"{', '.join(settled.key_names)}; in CI, name it in the workflow ({URL_VARIABLE}={settled.shown}) "
            "or merge it into the base branch's settings first"
        )
    return settled


def web_words(kind: str, rest: str) -> dict[str, Any]:
    """`http:URL`, `a2a:URL`; a plain address is an http target's."""
    return {"type": "http", "url": f"{kind}:{rest}"} if rest.startswith("//") else {"type": kind, "url": rest}


def origin_of(url: str) -> str:
    """Scheme, host and port of an address, the port left out where it is the usual one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    usual = parts.port in (None, {"http": 80, "https": 443}.get(parts.scheme))
    return f"{parts.scheme}://{shown}" if usual else f"{parts.scheme}://{shown}:{parts.port}"


def _is_of_base(web: WebSettings, base_told: object) -> bool:
    """Whether the base's own settings send these keys to this host."""
    if not isinstance(base_told, Mapping) or "url" not in base_told:
        return False
    try:
        same = origin_of(base_told["url"]) == web.origin
    except ValueError:
        return False
    return same and set(web.key_names) <= {header.env for header in _headers(base_told).values()}


def _checked_url(url: str, *, templated: bool) -> str:
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidSettings(f"target.url: '{url}' is no http or https address")
    if parts.username is not None or parts.password is not None:
        raise InvalidSettings("target.url holds a user name or password; send it with target.headers instead")
    if "{{" in parts.netloc or ("{{" in url and not templated):
        raise InvalidSettings("target.url: a placeholder may stand in an http target's path and query only")
    if not templated and (parts.query or parts.fragment):
        raise InvalidSettings("target.url: an a2a target's address has no query; its card is behind the path")
    return url


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # read here: it raises where it is no number
    except ValueError:
        return None
    return parts


def _headers(told: Mapping[str, Any]) -> dict[str, Header]:
    written: dict[str, Any] = dict(told.get("headers", {}))
    if "api_key_env" in told:
        if "authorization" in map(str.lower, written):
            raise InvalidSettings("target.headers: Authorization is what api_key_env sends; leave one of them out")
        written["Authorization"] = {"env": told["api_key_env"], "prefix": "Bearer "}
    return {name: _header(name, value) for name, value in written.items()}


def _header(name: str, value: Any) -> Header:
    if not _HEADER_NAME.fullmatch(name):
        raise InvalidSettings(f"target.headers: '{name}' is no name of a header")
    if isinstance(value, Mapping):
        return Header(text=value.get("prefix", ""), env=sendable(value["env"], f"target: the header {name}"))
    if _SECRET_HEADER.search(name):
        raise InvalidSettings(f"target.headers: {name} holds a secret; name its variable instead: {{env: NAME}}")
    return Header(text=value)


def _value(name: str, header: Header, environment: Mapping[str, str]) -> str:
    held = "" if header.env is None else environment.get(header.env, "")
    if header.env is not None and not held:
        raise InvalidSettings(
            f"target: the environment variable {header.env} is not set; the header {name} needs it"
        )
    value = header.text + held
    if not _HEADER_VALUE.fullmatch(value):
        held_by = "target.headers" if header.env is None else f"the environment variable {header.env}"
        raise InvalidSettings(f"{held_by}: {name} would hold a line break or another character that no header can")
    return value


def _places(written: Mapping[str, str | list[str]] | None) -> Mapping[str, tuple[str, ...]]:
    if written is None:
        return DEFAULT_PICK
    return {name: (place,) if isinstance(place, str) else tuple(place) for name, place in written.items()}


def _check_placeholders(what: str, names: Iterable[str]) -> None:
    for name in names:
        first, *rest = name.split(".")
        if first not in _FIELDS:
            raise InvalidSettings(f"{what}: there is no placeholder '{name}'{did_you_mean(first, _FIELDS)}")
        if rest and (first != "case" or rest[0] not in _CASE_FIELDS):
            hint = did_you_mean(rest[0], _CASE_FIELDS) if first == "case" else ""
            raise InvalidSettings(f"{what}: there is nothing behind '{name}'{hint}")
