"""What is read of an export, in protobuf as in JSON."""

from __future__ import annotations

import json

import pytest

from runevals.programs.otlp_spans import JSON, MOST_SPANS, PROTOBUF, Span, read_spans

pytestmark = pytest.mark.needs("opentelemetry-proto")


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf with bytes in it."""
    size, rest = [], len(content)
    while rest > 127:
        size.append(rest & 127 | 128)
        rest >>= 7
    return bytes([number << 3 | 2, *size, rest]) + content


ATTRIBUTES = [
    {"key": "text", "value": {"stringValue": "a"}},
    {"key": "number", "value": {"intValue": "7"}},
    {"key": "list", "value": {"arrayValue": {"values": [{"boolValue": True}, {"doubleValue": 0.5}]}}},
    {"key": "map", "value": {"kvlistValue": {"values": [{"key": "k", "value": {"stringValue": "v"}}]}}},
]
SPAN = {
    "traceId": "AAAAAAAAAAAAAAAAAAAAAQ==",
    "spanId": "AAAAAAAAAAI=",
    "parentSpanId": "AAAAAAAAAAE=",
    "name": "chat m",
    "startTimeUnixNano": "2000000000",
    "endTimeUnixNano": "2500000000",
    "status": {"code": 2},
    "attributes": ATTRIBUTES,
    "events": [{"name": "e", "attributes": [{"key": "event", "value": {"stringValue": "x"}}]}],
}
DOCUMENT = {"resourceSpans": [{"scopeSpans": [{"spans": [SPAN, {"spanId": "AAAAAAAAAAM="}]}]}]}
READ = Span(
    id="AAAAAAAAAAI=",
    parent="AAAAAAAAAAE=",
    name="chat m",
    started_at=2.0,
    duration_s=0.5,
    failed=True,
    attributes={"event": "x", "text": "a", "number": 7, "list": [True, 0.5], "map": {"k": "v"}},
)


def test_protobuf_and_json_are_read_alike():
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    protobuf = ParseDict(DOCUMENT, ExportTraceServiceRequest()).SerializeToString()
    expected = [READ, Span(id="AAAAAAAAAAM=")]
    assert read_spans(protobuf, PROTOBUF) == expected
    assert read_spans(json.dumps(DOCUMENT).encode(), f"{JSON}; charset=utf-8") == expected
    assert read_spans(b"", PROTOBUF) == []


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\xff\xff", PROTOBUF),
        (b"not JSON", JSON),
        (b"[]", JSON),
        (b'{"resourceSpans": 1}', JSON),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "no id"}]}]}]}', JSON),
        (b'{"a": ' * 100_000, JSON),
        (
            b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId": "1", "startTimeUnixNano": 1%s}]}]}]}'
            % (b"0" * 400),
            JSON,
        ),
        (field(1, field(2, field(2, b"") * (MOST_SPANS + 1))), PROTOBUF),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId": "1", "startTimeUnixNano": "x"}]}]}]}', JSON),
    ],
)
def test_another_content_is_refused_with_a_reason(body, content_type):
    with pytest.raises(ValueError, match="is not an OTLP export of traces"):
        read_spans(body, content_type)
