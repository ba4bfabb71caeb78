"""Exports of Langfuse: traces with and without observations, pages of the API, rows of storage."""

from __future__ import annotations

import json

import pytest

from runevals.imports.logs import langfuse
from runevals.imports.logs.conversations import has_any_of
from tests.imports.logs.conftest import turns
from tests.imports.logs.samples import lines

MESSAGES = [{"role": "user", "content": "Hi?"}]
REPLY = {"role": "assistant", "content": "Yes."}
ROW = {"trace_id": "t", "type": "GENERATION", "input": json.dumps(MESSAGES), "output": json.dumps(REPLY)}
TRACE = {"id": "t", "sessionId": None, "input": {"question": "Hi?"}, "output": {"answer": "Yes."}}
FORMS = {
    "trace": json.dumps(TRACE),
    "trace with observations": json.dumps({**TRACE, "input": {}, "observations": [ROW, {"type": "SPAN"}]}),
    "page": json.dumps({"data": [ROW], "meta": {}}),
    "rows": lines(ROW, {**ROW, "type": "TOOL"}),
    "choices": json.dumps([{**ROW, "output": {"choices": [{"message": REPLY}]}}]),
}


@pytest.mark.parametrize("form", FORMS)
def test_generations_and_traces_are_read_in_every_form(log_file, form):
    file = log_file(FORMS[form])
    assert has_any_of(file, langfuse.KINDS)
    assert turns(langfuse.read(file)) == [[("Hi?", "Yes.")]]


def test_the_answer_of_a_request_that_failed_is_none(log_file):
    failed = {**ROW, "level": "ERROR", "output": json.dumps({**REPLY, "content": "Error: 500"})}
    assert turns(langfuse.read(log_file(lines(failed)))) == [[("Hi?", None)]]


def test_inputs_that_are_not_messages_are_counted(log_file):
    log = langfuse.read(log_file(lines(ROW, {**ROW, "input": {"a": 1}})))
    assert log.left_out == {"inputs that are not messages": 1}
