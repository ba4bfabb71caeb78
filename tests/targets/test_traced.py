"""Programs that export their traces: started for real, exporting over HTTP."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from runevals.models.chat.prices import Price, Prices
from runevals.records import Conversation
from runevals.records.errors import InvalidSettings
from runevals.targets.command import CommandSettings, CommandTarget
from runevals.targets.python import PythonSettings, PythonTarget
from runevals.targets.traced import TracedTarget
from tests.ending import ended

pytestmark = pytest.mark.needs("opentelemetry-proto")

# Exports what `export` is given, as an instrumented program does, and at its end a span of that.
AGENT = """
import atexit, json, os, sys, urllib.request

def span(id, operation, **attributes):
    attributes = {"gen_ai.operation.name": operation, **attributes}
    kinds = {str: "stringValue", int: "intValue"}
    return {"spanId": id, "startTimeUnixNano": id, "attributes": [
        {"key": key, "value": {kinds[type(value)]: value}} for key, value in attributes.items()]}

def export(*spans, body=None):
    name, _, token = os.environ["OTEL_EXPORTER_OTLP_TRACES_HEADERS"].partition("=")
    request = urllib.request.Request(
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces", method="POST",
        data=body or json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode(),
        headers={"Content-Type": "application/json", name: token})
    return urllib.request.urlopen(request)

def answer(prompt):
    atexit.register(export, span("3", "chat", **{"gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 1,
                                                 "gen_ai.response.model": "m"}))
    if prompt == "broken":
        try:
            export(body=b"{")
        except OSError:
            pass
    else:
        export(span("1", "execute_tool", **{"gen_ai.tool.name": prompt}))
    return json.dumps(dict(os.environ))

if __name__ == "__main__":
    text = answer(json.load(sys.stdin)["prompt"])
    print(json.dumps({"output": text, "inputTokens": 9}) if "report" in sys.argv else text)
"""
ASKED = Conversation(suite="s", case="c", attempt=1, turn=1, prompt="Read")
PRICES = Prices(own={"m": Price(input=1e6, output=1e6)})
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HTTP_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "localhost",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://vendor.example",
}


@pytest.fixture
def traced(tmp_path: Path):
    """Makes the traced target of a kind; all of them are closed."""
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    targets = []

    def make(kind: str, *words: str) -> TracedTarget:
        common = {"type": kind, "base": tmp_path, "timeout_s": 20.0}
        command = (sys.executable, str(tmp_path / "agent.py"), *words)
        if kind == "command":
            target = CommandTarget(CommandSettings(**common, command=command), ENVIRONMENT)
        else:
            target = PythonTarget(PythonSettings(**common, function="agent.py:answer"), ENVIRONMENT)
        targets.append(TracedTarget(target, PRICES, ENVIRONMENT))
        return targets[-1]

    yield make
    for one in targets:
        one.close()


@pytest.mark.parametrize("kind", ["command", "python"])
def test_what_a_program_exports_until_its_end_is_evidence_of_the_answer_it_belongs_to(traced, kind):
    target = traced(kind)
    first, second = (target.answer(replace(ASKED, prompt=prompt)) for prompt in ("Read", "Write"))
    assert [call.name for call in first.tool_calls] == ["Read"]
    assert [call.name for call in second.tool_calls] == ["Write"]
    assert (second.turns, second.input_tokens, second.output_tokens, second.cost_usd) == (1, 5, 1, 6.0)
    assert second.model == "m"
    one, other = json.loads(first.text), json.loads(second.text)
    assert one["OTEL_EXPORTER_OTLP_PROTOCOL"] == "http/protobuf"
    assert one["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] == f"{one['OTEL_EXPORTER_OTLP_ENDPOINT']}/v1/traces"
    assert one["OTEL_EXPORTER_OTLP_HEADERS"] != other["OTEL_EXPORTER_OTLP_HEADERS"]
    assert len(one["TRACEPARENT"]) == 55
    assert target.identity().detail["trace"] == "otlp"


def test_what_a_program_reports_itself_has_precedence(traced):
    found = traced("command", "report").answer(ASKED)
    assert (found.input_tokens, found.output_tokens, len(found.tool_calls)) == (9, 1, 1)


def test_a_trace_that_cannot_be_read_is_an_error_and_not_a_part_of_the_evidence(traced):
    found = traced("command").answer(replace(ASKED, prompt="broken"))
    assert found.problem.code == "target_unparseable"
    assert "the trace of the program is not an OTLP export" in found.problem.message


def test_a_missing_library_is_named_with_the_extra_that_has_it(traced, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.trace.v1.trace_service_pb2", None)
    with pytest.raises(InvalidSettings, match=r"pip install 'runevals\[otlp\]'"):
        traced("command")


def test_checks_of_a_run_see_the_trace(project, runevals):
    checks = {"tool_count": {"tool": "Read", "min": 1, "max": 1}}
    item = {"testId": "a", "prompt": "Read", "evaluators": checks}
    project.write("evals.json", {"schemaVersion": "1.2.0", "default_evaluators": {}, "items": [item]})
    project.write("agent.py", AGENT)
    project.write("runevals.yaml", "target: {type: python, function: 'agent.py:answer', trace: otlp}")
    code, out, err = runevals("run", "-o", "out.json")
    ended(code, 0, out + err)
    turn = project.document()["cases"][0]["attempts"][0]["turns"][0]
    assert (turn["tool_calls"][0]["name"], turn["input_tokens"]) == ("Read", 5)
    code, out, err = runevals("run", "--executor", "ray")
    ended(code, 2, out + err, "target.trace: traces are received on this machine")
    project.write("runevals.yaml", "target: {type: openai, model: m, trace: otlp}")
    code, out, err = runevals("run")
    ended(code, 2, out + err, "target.trace: the openai target is not a program", "command, python, claude-code")
