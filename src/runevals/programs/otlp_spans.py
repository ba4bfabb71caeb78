"""OpenTelemetry traces as programs export them (OTLP, protobuf or JSON) → spans."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

PROTOBUF, JSON = "application/x-protobuf", "application/json"
FAILED = 2  # the code of a status
MOST_SPANS = 20_000  # of one export, and of all with one token
_NAMES_OF_FAILED = (FAILED, "STATUS_CODE_ERROR")


class Span(Struct, frozen=True, kw_only=True):
    """One operation of a program; `attributes` also has those of its events."""

    id: str
    parent: str = ""
    name: str = ""
    started_at: float = 0.0  # seconds since 1970
    duration_s: float = 0.0
    failed: bool | None = None  # None: the program does not say
    attributes: Mapping[str, object] = {}


def require_library() -> None:
    """Raises ImportError if the library that reads OTLP is not installed."""
    import opentelemetry.proto.collector.trace.v1.trace_service_pb2  # noqa: F401


def read_spans(body: bytes, content_type: str) -> list[Span]:
    """The spans of one export. Raises ValueError for another content."""
    try:
        document = _from_protobuf(body) if content_type.startswith(PROTOBUF) else json.loads(body)
        scopes = [scope for one in document.get("resourceSpans", ()) for scope in one.get("scopeSpans", ())]
        return [_span(span) for scope in scopes for span in scope.get("spans", ())]
    except (ValueError, ArithmeticError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"is not an OTLP export of traces: {type(error).__name__}: {error}"[:300]) from None


def _from_protobuf(body: bytes) -> Any:
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError, EncodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        export = ExportTraceServiceRequest.FromString(body)
        scopes = [scope for resource in export.resource_spans for scope in resource.scope_spans]
        if sum(len(scope.spans) for scope in scopes) > MOST_SPANS:
            raise ValueError(f"more than {MOST_SPANS} spans")
        return MessageToDict(export, use_integers_for_enums=True)
    except (DecodeError, EncodeError) as error:
        raise ValueError(str(error)) from None


def _span(span: Mapping[str, Any]) -> Span:
    began, ended = int(span.get("startTimeUnixNano", 0)), int(span.get("endTimeUnixNano", 0))
    attributes: dict[str, object] = {}
    for event in span.get("events", ()):
        attributes |= _attributes(event)
    code = span.get("status", {}).get("code", 0)
    return Span(
        id=str(span["spanId"]),
        parent=str(span.get("parentSpanId", "")),
        name=str(span.get("name", "")),
        started_at=began / 1e9,
        duration_s=max(0, ended - began) / 1e9,
        failed=code in _NAMES_OF_FAILED if code else None,
        attributes={**attributes, **_attributes(span)},
    )


def _attributes(owner: Mapping[str, Any]) -> dict[str, object]:
    return {str(one["key"]): _value(one.get("value", {})) for one in owner.get("attributes", ())}


def _value(value: Mapping[str, Any]) -> object:
    """The value of an attribute: whole numbers are texts in JSON."""
    for kind, content in value.items():
        match kind:
            case "intValue":
                return int(content)
            case "doubleValue":
                return float(content)
            case "arrayValue":
                return [_value(one) for one in content.get("values", ())]
            case "kvlistValue":
                return {str(one["key"]): _value(one.get("value", {})) for one in content.get("values", ())}
            case _:
                return content
    return None
