"""One record of a reply, from every shape in which providers give it."""

from __future__ import annotations

import json

import pytest

from runevals.models.chat.messages import NO_EXPLANATION
from runevals.models.chat.reply import RequestedCall
from runevals.models.chat.wire import WIRES
from runevals.models.http.throttle import CallFailed, TryAgain


def read(message, finish="stop", **more):
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return WIRES["chat"].read(json.dumps({"choices": [choice], **more}).encode(), 0.1, from_cache=False)


THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "five? no"}]}


@pytest.mark.parametrize(
    ("message", "text", "refusal"),
    [
        ({"content": "Hi"}, "Hi", None),
        ({"content": ""}, "", None),
        ({"content": None}, None, None),
        ({}, None, None),
        ({"content": None, "refusal": "No."}, None, "No."),
        ({"content": "", "reasoning_content": "hm"}, "", None),
        ({"content": [THOUGHT, {"type": "text", "text": "It is 4."}]}, "It is 4.", None),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", None),
        ({"content": [THOUGHT]}, "", None),
        ({"content": [{"type": "reasoning", "text": "hm"}, {"type": "output_text", "text": "Hi"}]}, "Hi", None),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, "", "No."),
        (
            {"content": [{"type": "text", "text": "See "}, {"type": "reference", "reference_ids": [1]}]},
            "See ",
            None,
        ),
        ({"content": []}, "", None),
    ],
)
def test_the_text_is_what_a_reader_sees(message, text, refusal):
    reply = read(message)
    assert (reply.text, reply.refusal) == (text, refusal)


@pytest.mark.parametrize(
    ("call", "read_as"),
    [
        ({"id": "1", "function": {"name": "f", "arguments": '{"a": 1}'}}, RequestedCall("1", "f", '{"a": 1}')),
        ({"id": "1", "function": {"name": "f", "arguments": {"a": "é"}}}, RequestedCall("1", "f", '{"a": "é"}')),
        ({"function": {"name": "f", "arguments": None}}, RequestedCall("call-0", "f", "")),
        ({"id": "", "function": {"name": "f", "arguments": ""}}, RequestedCall("call-0", "f", "")),
    ],
)
def test_the_arguments_of_a_call_are_json_text(call, read_as):
    assert read({"content": None, "tool_calls": [call]}, "tool_calls").tool_calls == (read_as,)


@pytest.mark.parametrize(
    ("finish", "cut"),
    [
        *((name, None) for name in ("stop", "STOP", "tool_calls", "eos_token", "end_turn", "", None)),
        *((name, "length") for name in ("length", "MAX_TOKENS", "model_length", "model_context_window_exceeded")),
        *((name, "filter") for name in ("content_filter", "SAFETY", "RECITATION", "refusal")),
    ],
)
def test_what_cut_an_answer(finish, cut):
    assert read({"content": "Hi"}, finish).cut == cut


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"choices": []}, "without choices"),
        ({"choices": {}}, "not a chat completion"),
        ({"choices": [{"message": {"content": {"text": "Hi"}}}]}, "text expected, not dict"),
        ({"choices": [{"message": {"content": ["Hi"]}}]}, "not a chat completion"),
        ({"message": "Hi"}, "it has no 'choices'"),
        ({"error": {"message": "no credit", "code": 402}}, "402: no credit"),
    ],
)
def test_what_is_no_reply_says_why(body, message):
    with pytest.raises(CallFailed, match=message):
        WIRES["chat"].read(json.dumps(body).encode(), 0.1, from_cache=False)


def test_an_error_within_status_200_is_tried_again_if_its_code_is_temporary():
    with pytest.raises(TryAgain, match="busy"):
        WIRES["chat"].read(b'{"error": {"message": "busy", "code": 503}}', 0.1, from_cache=False)


def message(*content, stop="end_turn", **more):
    return {"type": "message", "content": list(content), "stop_reason": stop, **more}


def response(*output, **more):
    return {"output": list(output), "status": "completed", **more}


def said(*parts):
    return {"type": "message", "content": [{"type": kind, key: text} for kind, key, text in parts]}


HI, OUT = {"type": "text", "text": "Hi"}, ("output_text", "text", "Hi")
CALL = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
INCOMPLETE = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
STATES = {
    "messages: text": ("messages", message(HI), "text Hi"),
    "messages: several texts": ("messages", message(HI, HI), "text HiHi"),
    "messages: thinking aside": ("messages", message({"type": "thinking", "thinking": "hm"}, HI), "text Hi"),
    "messages: hidden thinking aside": (
        "messages",
        message({"type": "redacted_thinking", "data": "x"}, HI),
        "text Hi",
    ),
    "messages: blocks of server tools aside": (
        *("messages", message({"type": "server_tool_use", "id": "1", "name": "web_search", "input": {}}, HI)),
        "text Hi",
    ),
    "messages: blocks of tomorrow aside": ("messages", message({"type": "hologram"}, HI), "text Hi"),
    "messages: a call": ("messages", message(CALL, stop="tool_use"), "calls f({})"),
    "messages: a text and a call": ("messages", message(HI, CALL, stop="tool_use"), "text Hi calls f({})"),
    "messages: thinking only": ("messages", message({"type": "thinking", "thinking": "hm"}), "nothing"),
    "messages: no content": ("messages", message(), "nothing"),
    "messages: an empty text": ("messages", message({"type": "text", "text": ""}), "text "),
    "messages: cut": ("messages", message(HI, stop="max_tokens"), "text Hi cut length"),
    "messages: cut by the context": (
        "messages",
        message(HI, stop="model_context_window_exceeded"),
        "text Hi cut length",
    ),
    "messages: a turn that is not over": ("messages", message(HI, stop="pause_turn"), "text Hi cut length"),
    "messages: cut by a classifier": ("messages", message(HI, stop="refusal"), "text Hi cut filter"),
    "messages: a refusal": ("messages", message(stop="refusal"), f"refused {NO_EXPLANATION} cut filter"),
    "messages: a refusal with its reason": (
        *("messages", message(stop="refusal", stop_details={"type": "refusal", "explanation": "No."})),
        "refused No. cut filter",
    ),
    "messages: no reason of its end": ("messages", message(HI, stop=None), "text Hi"),
    "messages: an error": (
        "messages",
        {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
        "again",
    ),
    "messages: an error that lasts": (
        *("messages", {"type": "error", "error": {"type": "authentication_error", "message": "no key"}}),
        "ends the run",
    ),
    "messages: a request that is wrong": (
        *("messages", {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}),
        "failed",
    ),
    "messages: something else": ("messages", {"choices": []}, "unparseable"),
    "messages: a list": ("messages", [], "unparseable"),
    "messages: content as text": ("messages", message() | {"content": "Hi"}, "unparseable"),
    "responses: text": ("responses", response(said(OUT)), "text Hi"),
    "responses: parts": ("responses", response(said(OUT, OUT)), "text HiHi"),
    "responses: two messages": ("responses", response(said(OUT), said(OUT)), "text HiHi"),
    "responses: reasoning aside": (
        "responses",
        response({"type": "reasoning", "summary": []}, said(OUT)),
        "text Hi",
    ),
    "responses: reasoning only": ("responses", response({"type": "reasoning", "summary": []}), "nothing"),
    "responses: items of tomorrow aside": ("responses", response({"type": "hologram"}, said(OUT)), "text Hi"),
    "responses: no output": ("responses", response(), "nothing"),
    "responses: an empty text": ("responses", response(said(("output_text", "text", ""))), "text "),
    "responses: a refusal": ("responses", response(said(("refusal", "refusal", "No."))), "text  refused No."),
    "responses: a call": (
        *("responses", response({"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"})),
        "calls f({})",
    ),
    "responses: cut": ("responses", response(said(OUT), **INCOMPLETE), "text Hi cut length"),
    "responses: cut by the filter": (
        *("responses", response(said(OUT), incomplete_details={"reason": "content_filter"})),
        "text Hi cut filter",
    ),
    "responses: an error": (
        "responses",
        response(error={"code": "rate_limit_exceeded", "message": "slow"}),
        "again",
    ),
    "responses: an error that lasts": (
        "responses",
        response(error={"code": "invalid_prompt", "message": "no"}),
        "failed",
    ),
    "responses: something else": ("responses", {"choices": []}, "unparseable"),
    "responses: no usage": ("responses", response(said(OUT), usage=None), "text Hi"),
    "chat: an error in a choice": ("chat", {"choices": [{"error": {"message": "busy", "code": 502}}]}, "again"),
    "chat: an answer ended by an error": (
        "chat",
        {"choices": [{"message": {}, "finish_reason": "error"}]},
        "failed",
    ),
    "chat: null": ("chat", None, "unparseable"),
}


def state_of(api, body):
    """What a reply is taken for."""
    try:
        reply = WIRES[api].read(json.dumps(body).encode(), 0.1, from_cache=False)
    except TryAgain:
        return "again"
    except CallFailed as failed:
        return "ends the run" if failed.refused else failed.kind
    calls = ", ".join(f"{call.name}({call.arguments})" for call in reply.tool_calls)
    parts = {"text": reply.text, "refused": reply.refusal, "calls": calls or None, "cut": reply.cut}
    return " ".join(f"{name} {part}" for name, part in parts.items() if part is not None) or "nothing"


@pytest.mark.parametrize(("api", "body", "state"), STATES.values(), ids=STATES)
def test_each_reply_of_each_api_has_its_state(api, body, state):
    assert state_of(api, body) == state
