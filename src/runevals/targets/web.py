"""The settings of targets behind an address: the request, and the keys that may be sent there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, get_args
from urllib.parse import urlsplit

from msgspec.structs import replace

from runevals.lib.parsing.json_path import Pick
from runevals.lib.parsing.json_template import placeholders
from runevals.lib.text.suggest import did_you_mean
from runevals.models.http.endpoint import DEFAULT_PICK, Header, Method, WebSettings
from runevals.models.http.network import unreachable
from runevals.models.http.origin import origin_of
from runevals.records.diagnosis import Diagnosis, good, missing
from runevals.records.errors import COULD_NOT_MEASURE, InvalidSettings
from runevals.targets.kind import Section, TargetSettings
from runevals.targets.reach import AUTHORIZATION, URL_VARIABLE, Reach, Written, rules

_WITHOUT_BODY = ("GET", "DELETE")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
_CASE_FIELDS = ("suite", "key", "attempt", "turn", "thread", "metadata")
_FIELDS = ("prompt", "messages", "model", "system", "conversation_id", "case")

DEFAULT_BODY: Mapping[str, object] = {
    name: f"{{{{{name}}}}}" for name in ("model", "system", "prompt", "messages", "conversation_id")
}


def _keys(written: Written) -> Iterator[Reach]:
    values = written.values
    place = written.environment.get(URL_VARIABLE) or values.get("url", "")
    headers = values.get("headers", {}).items()
    names = {(value["env"], name.lower()) for name, value in headers if isinstance(value, Mapping)}
    names |= {(values["api_key_env"], AUTHORIZATION)} if "api_key_env" in values else set()
    yield from written.keys_at(place, names)


class WebTargetSettings(TargetSettings, frozen=True, kw_only=True):
    """A target behind an address, as it is deployed."""

    web: WebSettings

    one_message: ClassVar[str]  # why it is sent a prompt without messages before it
    has_template: ClassVar[bool]  # of its requests: an address and a body with placeholders
    word = "url"
    form = "URL"
    alone = False
    reaches = rules("url", "base_url", "headers", "api_key_env", "auth", "type", of=_keys)

    @classmethod
    def words(cls, kind: str, rest: str) -> dict[str, Any]:
        """`http:URL`, `a2a:URL`; a plain address is an http target's."""
        return {"type": "http", "url": f"{kind}:{rest}"} if rest.startswith("//") else {"type": kind, "url": rest}

    @classmethod
    def own_fields(cls, section: Section) -> dict[str, Any]:
        """Its endpoint. Raises InvalidSettings."""
        values, kind = section.values, section.kind
        url = section.environment.get(URL_VARIABLE) or values.get("url")
        if not url:
            raise InvalidSettings(
                f"the {kind} target has no address; give target.url, {kind}:URL or {URL_VARIABLE}"
            )
        method, methods = values.get("method", "POST").upper(), get_args(Method)
        if method not in methods:
            hint = did_you_mean(method, methods)
            raise InvalidSettings(f"target.method: '{method}' must be one of {', '.join(methods)}{hint}")
        body = values.get("body", None if method in _WITHOUT_BODY else DEFAULT_BODY)
        pick = values.get("pick", DEFAULT_PICK).items()
        places = {name: [place] if isinstance(place, str) else place for name, place in pick}
        web = WebSettings(
            url=_checked_url(url, templated=cls.has_template),
            method=method,
            headers=_headers(values),
            body=body if cls.has_template else None,
            pick=Pick(places, "target.pick") if cls.has_template else None,
        )
        _check_placeholders("target.url", placeholders(web.url))
        _check_placeholders("target.body", placeholders(web.body))
        return {"web": web, "api_key_env": ""}

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables of its headers."""
        return self.web.key_names

    @property
    def takes_one_message(self) -> str | None:
        """Its requests may have a place for more."""
        names = (*placeholders(self.web.url), *placeholders(self.web.body))
        return None if "messages" in names else self.one_message

    @property
    def address(self) -> str | None:
        """Where it is asked."""
        return self.web.url

    def is_deployed_as(self, other: TargetSettings | None) -> bool:
        """Whether the requests are the same, whatever is read of the replies."""
        return isinstance(other, WebTargetSettings) and self._request == other._request

    @property
    def _request(self) -> tuple[object, ...]:
        messages = None if self.prompt is None else self.prompt.messages
        return self.type, self.model, self.system_prompt, messages, replace(self.web, pick=None)

    def diagnosis(self, environment: Mapping[str, str]) -> Diagnosis:  # noqa: ARG002
        """Whether anything answers there; the rest of the address may have placeholders, and keys."""
        origin = origin_of(self.web.url)
        if (problem := unreachable(origin)) is not None:
            fix = "start what answers there before a run, or check the address"
            return missing("target", f"{self.type} {origin}: {problem}", fix, COULD_NOT_MEASURE)
        return good("target", f"{self.type} {origin} answers")


def _checked_url(url: str, *, templated: bool) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port  # read here: it raises if it is not a number
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidSettings(f"target.url: '{url}' is not an http or https address")
    if parts.username is not None or parts.password is not None:
        raise InvalidSettings("target.url holds a user name or password; send it with target.headers instead")
    if "{{" in parts.netloc or ("{{" in url and not templated):
        raise InvalidSettings("target.url: a placeholder may stand in an http target's path and query only")
    if not templated and (parts.query or parts.fragment):
        raise InvalidSettings("target.url: an a2a target's address has no query; its card is behind the path")
    return url


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


def _check_placeholders(what: str, names: Iterable[str]) -> None:
    for name in names:
        first, *rest = name.split(".")
        if first not in _FIELDS:
            raise InvalidSettings(f"{what}: there is no placeholder '{name}'{did_you_mean(first, _FIELDS)}")
        if rest and (first != "case" or rest[0] not in _CASE_FIELDS):
            hint = did_you_mean(rest[0], _CASE_FIELDS) if first == "case" else ""
            raise InvalidSettings(f"{what}: there is nothing behind '{name}'{hint}")
