"""Logs of every format become cases, and a file that is not of the format is refused."""

from __future__ import annotations

import json

import pytest

from tests.ending import ended
from tests.imports.logs.samples import CLAUDE, LANGFUSE, OPENAI, OTLP, SAMPLES, SYSTEM, TURNS, lines


@pytest.mark.parametrize("name", SAMPLES)
def test_a_conversation_becomes_a_case_with_its_turns_and_recorded_answers(project, runevals, name):
    project.write("log.json", SAMPLES[name])
    code, out, err = runevals("import", name, "log.json")
    ended(code, 0, out + err, f"✓ {name}: 1 case from 1 conversation", "Written: evals/imported.json")
    (item,) = project.document("evals/imported.json")["items"]
    assert [(turn["prompt"], turn["response"]) for turn in item["turns"]] == TURNS
    assert all("expected_response" not in turn for turn in item["turns"])
    assert item["tags"] == ["imported"]
    assert item["notes"].startswith("From log.json")
    assert 'tools: policy({"of": "shoes"})' in item["notes"]
    code, out, err = runevals("validate", "evals/imported.json")
    ended(code, 0, out + err, "1 case")


REFUSED = {
    "truncated": ("openai-log", OPENAI[:-20], "log.json:3:"),
    "another format": ("openai-log", json.dumps(OTLP), "it looks like otlp: `runevals import otlp log.json`"),
    "a transcript": ("langfuse", CLAUDE, "it looks like claude-transcript"),
    "an export": ("otlp", LANGFUSE, "it looks like langfuse"),
    "no format": ("otlp", '{"a": 1}', "log.json is not a file of otlp; known are"),
    "no content": ("otlp", json.dumps({"resourceSpans": []}), "has no span of a model call with messages"),
    "no user": ("openai-log", lines({"messages": [SYSTEM]}), "left out: 1 no message of a user"),
    "odd message": (
        "claude-transcript",
        lines({"type": "user", "sessionId": "s", "message": 5}),
        "/message is 5",
    ),
    "odd line": ("openai-log", f"{OPENAI}5\n", "log.json:4 is 5, not an object"),
    "empty": ("openai-log", "", "log.json is empty"),
}


@pytest.mark.needs("linux")
def test_a_file_without_an_end_is_refused(project, runevals):
    (project.path / "log.jsonl").symlink_to("/dev/zero")
    code, _, err = runevals("import", "openai-log", "log.jsonl")
    ended(code, 2, err, "log.jsonl is not a file")


@pytest.mark.parametrize("title", REFUSED)
def test_a_file_that_cannot_be_read_is_reported_with_its_place(project, runevals, title):
    name, content, message = REFUSED[title]
    project.write("log.json", content)
    code, _, err = runevals("import", name, "log.json")
    ended(code, 2, err, message)
    assert not (project.path / "evals" / "imported.json").exists()
