"""One record of a reply, from every shape in which providers give it."""

from __future__ import annotations

import json

import pytest

from runevals.lib.chat.reply import RequestedCall, read_completion
from runevals.lib.http.throttle import CallFailed, TryAgain


def read(message, finish="stop", **more):
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return read_completion(json.dumps({"choices": [choice], **more}).encode(), 0.1, from_cache=False)


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
        read_completion(json.dumps(body).encode(), 0.1, from_cache=False)


def test_an_error_within_status_200_is_tried_again_if_its_code_is_temporary():
    with pytest.raises(TryAgain, match="busy"):
        read_completion(b'{"error": {"message": "busy", "code": 503}}', 0.1, from_cache=False)
