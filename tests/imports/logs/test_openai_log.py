"""Requests and responses in the shapes in which OpenAI's API, its batches and proxies write them."""

from __future__ import annotations

import json

import pytest

from runevals.imports.logs import openai_log
from runevals.imports.logs.conversations import has_any_of
from tests.imports.logs.conftest import turns
from tests.imports.logs.samples import lines

USER = {"role": "user", "content": "Hi?"}
REPLY = {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]}
OUTPUT = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}]
FORMS = {
    "chat": {"messages": [USER, {"role": "assistant", "content": "Yes."}]},
    "request and response": {"request": {"messages": [USER]}, "response": REPLY},
    "one object": {"messages": [USER], **REPLY},
    "batch": {"custom_id": "1", "body": {"messages": [USER]}, "response": {"status_code": 200, "body": REPLY}},
    "Responses API": {"request": {"model": "m", "input": "Hi?"}, "response": {"output": OUTPUT}},
    "Responses API, list": {"model": "m", "instructions": "Be brief.", "input": [USER], "output": OUTPUT},
    "text": {"kwargs": {"messages": [USER]}, "response": "Yes."},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_request_and_its_response_are_read_in_every_form(log_file, form):
    file = log_file(json.dumps(FORMS[form]))
    assert has_any_of(file, openai_log.KINDS)
    assert turns(openai_log.read(file)) == [[("Hi?", "Yes.")]]


def test_records_that_are_not_conversations_are_counted(log_file):
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}
    log = openai_log.read(log_file(lines({"messages": [USER]}, {"messages": [picture]}, {"level": "info"})))
    assert turns(log) == [[("Hi?", None)]]
    assert log.left_out == {"messages that are more than text": 1, "no messages of a request": 1}
