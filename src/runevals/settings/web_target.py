"""Settings of http and a2a targets: address, request and the keys that may be sent there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args
from urllib.parse import SplitResult, urlsplit

from runevals.lib.parsing.json_path import Pick
from runevals.lib.parsing.json_template import placeholders
from runevals.lib.text.suggest import did_you_mean
from runevals.models.http.endpoint import DEFAULT_PICK, Header, Method, WebSettings
from runevals.records.errors import InvalidSettings

URL_VARIABLE = "RUNEVALS_TARGET_URL"
_WITHOUT_BODY = ("GET", "DELETE")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
_CASE_FIELDS = ("suite", "key", "attempt", "turn", "thread", "metadata")
_FIELDS = ("prompt", "messages", "model", "system", "conversation_id", "case")

DEFAULT_BODY: Mapping[str, object] = {
    name: f"{{{{{name}}}}}" for name in ("model", "system", "prompt", "messages", "conversation_id")
}


def web_settings(section: Mapping[str, Any], environment: Mapping[str, str]) -> WebSettings:
    """The endpoint of an http or a2a target. Raises InvalidSettings."""
    kind: str = section["type"]
    url = environment.get(URL_VARIABLE) or section.get("url")
    if not url:
        raise InvalidSettings(f"the {kind} target has no address; give target.url, {kind}:URL or {URL_VARIABLE}")
    method = section.get("method", "POST").upper()
    if method not in get_args(Method):
        hint = did_you_mean(method, get_args(Method))
        raise InvalidSettings(f"target.method: '{method}' must be one of {', '.join(get_args(Method))}{hint}")
    body = section.get("body", None if method in _WITHOUT_BODY else DEFAULT_BODY)
    web = WebSettings(
        url=_checked_url(url, templated=kind == "http"),
        method=method,
        headers=_headers(section),
        body=body if kind == "http" else None,
        pick=Pick(_places(section.get("pick")), "target.pick") if kind == "http" else None,
    )
    _check_placeholders("target.url", placeholders(web.url))
    _check_placeholders("target.body", placeholders(web.body))
    return web


def web_words(kind: str, rest: str) -> dict[str, Any]:
    """`http:URL`, `a2a:URL`; a plain address is an http target's."""
    return {"type": "http", "url": f"{kind}:{rest}"} if rest.startswith("//") else {"type": kind, "url": rest}


def sends_messages(web: WebSettings) -> bool:
    """Whether requests contain the whole conversation, not only its last prompt."""
    return "messages" in (*placeholders(web.url), *placeholders(web.body))


def _checked_url(url: str, *, templated: bool) -> str:
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidSettings(f"target.url: '{url}' is not an http or https address")
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
        _ = parts.port  # read here: it raises if it is not a number
    except ValueError:
        return None
    return parts


def _headers(section: Mapping[str, Any]) -> dict[str, Header]:
    written: dict[str, Any] = dict(section.get("headers", {}))
    if "api_key_env" in section:
        if "authorization" in map(str.lower, written):
            raise InvalidSettings("target.headers: Authorization is what api_key_env sends; leave one of them out")
        written["Authorization"] = {"env": section["api_key_env"], "prefix": "Bearer "}
    return {name: _header(name, value) for name, value in written.items()}


def _header(name: str, value: Any) -> Header:
    if not _HEADER_NAME.fullmatch(name):
        raise InvalidSettings(f"target.headers: '{name}' is not a valid header name")
    if isinstance(value, Mapping):
        return Header(text=value.get("prefix", ""), env=value["env"])
    if _SECRET_HEADER.search(name):
        raise InvalidSettings(f"target.headers: {name} holds a secret; name its variable instead: {{env: NAME}}")
    return Header(text=value)


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
