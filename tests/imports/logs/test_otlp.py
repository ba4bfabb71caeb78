"""OTLP files: protobuf, and messages as older instruments write them."""

from __future__ import annotations

import json

import pytest

from runevals.imports.logs import otlp
from tests.ending import ended
from tests.imports.logs.conftest import turns
from tests.imports.logs.samples import OTLP


def test_otlp_in_protobuf_is_read_as_json_is(project, runevals):
    service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    from google.protobuf.json_format import ParseDict

    document = json.loads(
        json.dumps(OTLP).replace('"aa"', '"qqo="').replace('"01"', '"AQ=="').replace('"02"', '"Ag=="')
    )
    export = ParseDict(document, service.ExportTraceServiceRequest()).SerializeToString()
    for name, content in (("one.pb", export), ("file.pb", len(export).to_bytes(4, "big") + export)):
        (project.path / name).write_bytes(content)
        code, out, err = runevals("import", "otlp", name, "-o", f"{name}.json")
        ended(code, 0, out + err, "1 case from 1 conversation")
    (project.path / "cut.pb").write_bytes((len(export) + 9).to_bytes(4, "big") + export)
    code, _, err = runevals("import", "otlp", "cut.pb", "-o", "cut.json")
    ended(code, 2, err, "cut.pb: byte 0: the export that begins here is incomplete")
    code, _, err = runevals("import", "openai-log", "one.pb")
    ended(code, 2, err, "runevals import otlp one.pb")


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi?", "gen_ai.completion.0.content": "Yes."},
        {"gen_ai.prompt": '[{"role": "user", "content": "Hi?"}]', "gen_ai.completion": "Yes."},
    ],
)
def test_messages_of_older_instruments_are_read(log_file, attributes):
    texts = [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()]
    spans = [{"spanId": "01", "attributes": texts}, {"spanId": "02", "attributes": []}]
    document = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    assert turns(otlp.read(log_file(json.dumps(document)))) == [[("Hi?", "Yes.")]]


def test_the_answer_of_a_request_that_failed_is_none_and_no_number_is_too_long(log_file):
    attributes = {"gen_ai.prompt.0.content": "Hi?", "gen_ai.completion.0.content": "Error: 500"}
    attributes[f"gen_ai.prompt.{'1' * 5000}.content"] = "x"
    texts = [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()]
    spans = [{"spanId": "01", "status": {"code": 2}, "attributes": texts}]
    document = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    assert turns(otlp.read(log_file(json.dumps(document)))) == [[("Hi?", None)]]
