"""GitHub's own description of its API: what it says of an exchange, and answers that it would call complete."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from openapi_core.exceptions import OpenAPIError
from werkzeug.datastructures import Headers, ImmutableMultiDict

DESCRIPTION = json.loads(Path(__file__, "..", "openapi", "api.github.com.json").resolve().read_text("utf-8"))
UNDESCRIBED = frozenset({401, 403, 404, 410, 422, 429, 500, 502, 503})  # any operation may end so
SERVER = DESCRIPTION["servers"][0]["url"]
Pairs = tuple[tuple[str, str], ...]


@cache
def _validators() -> OpenAPI:
    return OpenAPI.from_dict(DESCRIPTION)


class _Request:
    def __init__(self, method: str, target: str, headers: Pairs, body: bytes) -> None:
        parts = urlsplit(target)
        self.host_url, self.path, self.method = SERVER, parts.path, method.lower()
        self.content_type = dict(headers).get("Content-Type", "")
        self.body = body or None
        query = ImmutableMultiDict(parse_qsl(parts.query, keep_blank_values=True))
        self.parameters = RequestParameters(query=query, header=Headers(dict(headers)))


class _Response:
    def __init__(self, status: int, headers: Pairs, body: bytes) -> None:
        self.status_code, self.headers, self.data = status, Headers(dict(headers)), body
        self.content_type = dict(headers).get("Content-Type", "")


def complaints(
    request: tuple[str, str, Mapping[str, str], bytes], response: tuple[int, Mapping[str, str], bytes]
) -> list[str]:
    """What is wrong with an exchange: a request GitHub would not know, an answer it would not give."""
    asked, answered = ((*words, tuple(headers.items()), body) for *words, headers, body in (request, response))
    return _complaints(asked, answered)


@cache  # most exchanges of one test are those of another
def _complaints(request: tuple[Any, ...], response: tuple[Any, ...]) -> list[str]:
    asked, answered = _Request(*request), _Response(*response)
    shown, found = f"{request[0]} {request[1]} → {response[0]}", []
    checks = [lambda: _validators().validate_request(asked)]
    operation = _operation(asked.method, asked.path)
    if str(response[0]) in operation.get("responses", {}):
        checks.append(lambda: _validators().validate_response(asked, answered))
    elif response[0] not in UNDESCRIBED:
        found.append(f"{shown}: no such answer")
    for check in checks:
        try:
            check()
        except OpenAPIError as error:
            found.append(f"{shown}: {error!r} {error.__cause__!r}")
    declared = {_resolved(parameter)["name"] for parameter in operation.get("parameters", ())}
    found += [f"{shown}: {key} is no query key" for key in asked.parameters.query if key not in declared]
    return found


def _operation(method: str, path: str) -> dict[str, Any]:
    words = path.strip("/").split("/")
    for template, operations in DESCRIPTION["paths"].items():
        parts = template.strip("/").split("/")
        if len(parts) == len(words) and all(
            part.startswith("{") or part == word for part, word in zip(parts, words, strict=True)
        ):
            return operations.get(method, {})
    return {}


def _resolved(value: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in value:
        _, _, kind, name = value["$ref"].split("/")
        value = DESCRIPTION["components"][kind][name]
    return value


def complete(schema_name: str, **given: Any) -> Any:
    """An answer by this schema: what is `given`, and something allowed for all else that is required."""
    return _filled(DESCRIPTION["components"]["schemas"][schema_name], given)


def _filled(schema: dict[str, Any], given: Any) -> Any:
    schema = _resolved(schema)
    for combination in ("allOf", "anyOf", "oneOf"):
        if combination in schema:
            return _filled(schema[combination][0], given)
    if schema.get("properties"):
        given = given if isinstance(given, dict) else {}
        names = {*schema.get("required", ()), *given}
        known = schema["properties"]
        return {name: _filled(known[name], given.get(name)) if name in known else given[name] for name in names}
    if given is not None or schema.get("nullable"):
        return given
    if "enum" in schema:
        return schema["enum"][0]
    formats = {"date-time": "2026-11-20T12:00:00Z", "uri": "https://github.com/o/r", "email": "a@example.com"}
    simple = {"integer": 1, "number": 1.0, "boolean": False, "array": [], "object": {}}
    return simple.get(schema.get("type", "object"), formats.get(schema.get("format", ""), "text"))
