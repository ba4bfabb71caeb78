"""The openai target against a real HTTP server."""

from __future__ import annotations

import gzip
import json
import time

import openai
import pytest
from msgspec.structs import replace

from runevals.lib.parsing.record_json import from_json, json_text
from runevals.models.chat.chat import Endpoint
from runevals.models.chat.transport import ChatClient
from runevals.models.http.key import FixedKey
from runevals.models.http.throttle import Throttle
from runevals.records import Delivery, Message, Response
from runevals.records.errors import TargetRefused
from tests.chat_server import Reply, chat_server
from tests.targets.openai_target import asking, target


def test_the_answer_comes_with_what_the_api_reports():
    with chat_server(lambda body, n: Reply("Hi")) as server:
        tested = target(server, system="Be kind.", temperature=0.5)
        response = tested.answer(asking())
    assert (response.text, response.input_tokens, response.output_tokens) == ("Hi", 10, 5)
    assert response.model == "tiny-2026-09"
    assert response.latency_s > 0
    assert response.cost_usd is None
    assert server.requests[0] == {
        "model": "tiny",
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello?"}],
        "temperature": 0.5,
    }
    assert tested.identity().reported == ("tiny-2026-09",)
    assert tested.identity().prompt_hash


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ({}, {}),
        ({"headers": {"X-Cache": "MISS"}}, {}),
        ({"headers": {"cf-aig-cache-status": "HIT"}}, {"from_cache": True}),
        ({"response_id": "chatcmpl-0123456789"}, {"response_id": "chatcmpl-0123456789"}),
        ({"cached_tokens": 10}, {"cached_tokens": 10}),
    ],
)
def test_metadata_of_an_intermediate_cache_are_in_the_response(reply, told):
    with chat_server(lambda body, n: Reply("Hi", **reply)) as server:
        response = target(server).answer(asking())
    assert response.delivery == Delivery(**{"response_id": "c-1", "made_at": 1, **told})
    assert from_json(json_text(response), Response) == response


def test_requests_contain_nothing_about_the_machine():
    with chat_server(lambda body, n: Reply("Hi")) as server:
        target(server).answer(asking())
    assert not [name for name in server.headers[0] if name.lower().startswith("x-stainless")]


def test_each_turn_is_sent_with_the_turns_before_it():
    history = (Message(role="user", content="One?"), Message(role="assistant", content="1"))
    with chat_server(lambda body, n: Reply("2")) as server:
        target(server).answer(asking("Two?", history))
    assert [m["content"] for m in server.requests[0]["messages"]] == ["One?", "1", "Two?"]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_temporary_failures_are_retried(status):
    with chat_server(lambda body, n: Reply(status=status) if n == 0 else Reply("Hi")) as server:
        assert target(server).answer(asking()).text == "Hi"
    assert len(server.requests) == 2


def test_a_retry_waits_as_long_as_retry_after_says():
    with chat_server(
        lambda b, n: Reply(status=429, headers={"Retry-After": "1"}) if n == 0 else Reply()
    ) as server:
        started = time.monotonic()
        assert target(server).answer(asking()).text == "ok"
        assert time.monotonic() - started >= 1.0


def calling(name, arguments):
    """A completion with a tool call, name and arguments as JSON."""
    call = f'{{"id": "1", "type": "function", "function": {{"name": {name}, "arguments": {arguments}}}}}'
    return f'{{"choices": [{{"message": {{"tool_calls": [{call}]}}}}]}}'


@pytest.mark.parametrize(
    ("reply", "code", "calls"),
    [
        (Reply(status=500), "target_failed", 3),
        (Reply(status=429), "target_rate_limited", 3),
        (Reply(status=400), "target_failed", 1),
        (Reply(status=404), "target_failed", 1),
        (Reply(raw="{"), "target_unparseable", 1),
        (Reply(raw='{"choices": []}'), "target_unparseable", 1),
        (Reply(raw='{"choices": {}}'), "target_unparseable", 1),
        (Reply(raw='{"choices": [{"message": null}]}'), "target_unparseable", 1),
        (Reply(raw='{"choices": [{"message": {"content": ["text"]}}]}'), "target_unparseable", 1),
        (Reply(raw='{"choices": [{"message": {"tool_calls": [{"id": "1"}]}}]}'), "target_unparseable", 1),
        (Reply(raw=calling("5", "{}")), "target_unparseable", 1),
        (Reply(raw=calling('"search"', "5")), "target_unparseable", 1),
        (Reply(raw='{"choices": [{"message": {"tool_calls": 7}}]}'), "target_unparseable", 1),
        (Reply(raw='"ok"'), "target_unparseable", 1),
        (Reply(raw="null"), "target_unparseable", 1),
        (Reply(raw=""), "target_unparseable", 1),
        (Reply(raw="[" * 100_000), "target_unparseable", 1),
        (Reply(raw=b"\xff\xfe\x00"), "target_unparseable", 1),
        (Reply(raw=b"no gzip", headers={"Content-Encoding": "gzip"}), "target_failed", 3),
    ],
)
def test_a_permanent_failure_of_one_call_is_an_error_of_its_case(reply, code, calls):
    with chat_server(lambda body, n: reply) as server:
        problem = target(server, attempts=3).answer(asking()).problem
    assert problem.code == code
    assert len(server.requests) == calls


@pytest.mark.parametrize(
    "reply",
    [Reply(status=401), Reply(status=403), Reply(status=429, error={"code": "insufficient_quota"})],
)
def test_a_refusal_of_the_endpoint_stops_the_run_after_one_call(reply):
    with chat_server(lambda body, n: reply) as server, pytest.raises(TargetRefused, match="refuses every call"):
        target(server).answer(asking())
    assert len(server.requests) == 1


def test_an_endpoint_that_answers_410_stops_the_run_after_one_call():
    brownout = "temporarily unavailable as part of a scheduled retirement brownout"
    with chat_server(lambda body, n: Reply(status=410, error={"message": brownout})) as server:
        with pytest.raises(TargetRefused, match=f"410 Gone: {brownout}; it was retired, name another endpoint"):
            target(server).answer(asking())
        assert len(server.requests) == 1


def test_a_silent_server_is_a_timeout():
    def slow(body, n):
        time.sleep(0.5)
        return Reply()

    with chat_server(slow) as server:
        assert target(server, timeout_s=0.1, attempts=2).answer(asking()).problem.code == "target_timeout"


@pytest.mark.parametrize(
    ("status", "code"), [(200, "target_timeout"), (500, "target_failed"), (404, "target_failed")]
)
def test_a_call_ends_in_time_although_the_server_sends_its_body_slowly(status, code):
    """A byte now and then keeps every single read within its time."""
    with chat_server(lambda body, n: Reply(raw=" " * 1000, status=status, pause_s=0.1)) as server:
        started = time.monotonic()
        assert target(server, timeout_s=2, attempts=1).answer(asking()).problem.code == code
        assert time.monotonic() - started < 60


def test_a_call_ends_in_time_although_the_server_sends_its_headers_slowly():
    with chat_server(lambda body, n: Reply(endless_head=n == 0)) as server:
        tested = target(server, timeout_s=2, attempts=1)
        started = time.monotonic()
        assert tested.answer(asking()).problem.code == "target_timeout"
        assert time.monotonic() - started < 60
        assert tested.answer(asking()).text == "ok"


def completion(text):
    return json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]})


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_an_answer_above_the_size_limit_is_not_read_to_its_end(status, packed):
    content = completion("x" * (17 * 1024 * 1024)).encode()
    reply = Reply(
        raw=gzip.compress(content) if packed else content,
        status=status,
        headers={"Content-Encoding": "gzip"} if packed else {},
    )
    with chat_server(lambda body, n: reply) as server:
        problem = target(server, attempts=1).answer(asking()).problem
    if status == 200:
        assert (problem.code, problem.message) == ("target_unparseable", "the answer is larger than 16 MiB")
    else:
        assert problem.code == "target_failed"
        assert len(problem.message) < 1000


def test_an_answer_just_below_the_size_limit_is_complete():
    text = "x" * (15 * 1024 * 1024)
    with chat_server(lambda body, n: Reply(raw=completion(text))) as server:
        assert target(server).answer(asking()).text == text


def test_a_call_to_a_closed_port_fails():
    with chat_server(lambda body, n: Reply()) as server:
        pass
    assert target(server, attempts=2).answer(asking()).problem.code == "target_failed"


def test_no_repr_contains_the_api_key():
    assert "key-1" not in repr(Endpoint(model="m", api_key="key-1"))


def test_the_models_tool_calls_are_answered_by_the_cases_mocks():
    def answer(body, number):
        if number == 0:
            return Reply(None, tool_calls=[("search", {"q": "refund"}), ("write", {"x": 1})])
        return Reply("30 days") if number == 2 else Reply(None, tool_calls=[("search", {"q": "more"})])

    mocks = [{"tool": "search", "match": {"input_contains": "refund"}, "return": "policy: 30 days"}]
    with chat_server(answer) as server:
        asked = replace(asking(), metadata={"mocks": mocks, "mocksStrict": True})
        response = target(server).answer(asked)
    assert response.text == "30 days"
    assert [(call.name, call.output, call.mock) for call in response.tool_calls] == [
        ("search", "policy: 30 days", "search:1"),
        ("write", "denied: no mock answers this call", None),
        ("search", "denied: no mock answers this call", None),
    ]
    assert (response.turns, response.input_tokens, response.output_tokens) == (3, 30, 15)
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["search"]
    sent = server.requests[1]["messages"][1:]
    assert [message["role"] for message in sent] == ["assistant", "tool", "tool"]
    assert sent[1] == {"role": "tool", "tool_call_id": "call-0", "content": "policy: 30 days"}


def test_a_model_that_never_stops_calling_tools_is_stopped():
    tools = [{"type": "function", "function": {"name": "again", "parameters": {"type": "object"}}}]
    with chat_server(lambda body, n: Reply("more", tool_calls=[("again", {})])) as server:
        response = target(server, tools=tools).answer(asking())
    assert (response.turns, len(server.requests), len(response.tool_calls)) == (20, 20, 20)


def test_a_model_that_calls_tools_to_the_limit_without_text_gives_an_empty_response():
    tools = [{"type": "function", "function": {"name": "again", "parameters": {"type": "object"}}}]
    with chat_server(lambda body, n: Reply(None, tool_calls=[("again", {})])) as server:
        response = target(server, tools=tools).answer(asking())
    assert response.problem.code == "empty_response"


@pytest.mark.parametrize("text", [None, "", " \n"])
@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({"finish_reason": "length"}, "the model gave no text (finish_reason: length)"),
        ({"finish_reason": "content_filter"}, "the model gave no text (finish_reason: content_filter)"),
        ({"finish_reason": "model_length"}, "the model gave no text (finish_reason: model_length)"),
        ({"refusal": "I cannot help with that."}, "I cannot help with that."),
    ],
)
def test_an_answer_without_text_that_was_cut_or_refused_is_an_error(text, reply, says):
    with chat_server(lambda body, n: Reply(text, **reply)) as server:
        response = target(server).answer(asking())
    assert (response.problem.code, response.problem.message) == ("empty_response", says)


@pytest.mark.parametrize("reason", ["stop", "STOP", "eos", "eos_token", "end", "end_turn", "stop_sequence"])
def test_an_empty_text_that_the_model_ended_itself_is_its_answer(reason):
    with chat_server(lambda body, n: Reply("", finish_reason=reason)) as server:
        response = target(server).answer(asking())
    assert (response.problem, response.text) == (None, "")


def test_calls_of_undeclared_tools_are_reported_and_not_answered():
    with chat_server(lambda body, n: Reply("x", tool_calls=[("search", {"q": 1})])) as server:
        response = target(server).answer(asking())
    assert [(call.name, call.output) for call in response.tool_calls] == [("search", None)]
    assert "tools" not in server.requests[0]


def test_if_nothing_answers_the_error_has_the_address_and_a_next_step():
    with chat_server(lambda body, n: Reply()) as server:
        pass
    response = target(server, attempts=1).answer(asking())
    assert response.problem.message.startswith(f"no answer from {server.base_url} (")
    assert "runevals doctor" in response.problem.message


def test_a_web_page_is_not_taken_for_an_answer():
    with chat_server(lambda body, n: Reply(raw="<!doctype html><title>Hello</title>")) as server:
        response = target(server).answer(asking())
    assert response.problem.code == "target_unparseable"
    assert response.problem.message.startswith(f"{server.base_url} answers with a web page")
    assert "/v1" in response.problem.message


def test_without_an_address_calls_go_to_openai_despite_openai_base_url(monkeypatch):
    """The address was settled where the run began; a node of a cluster may have another in its environment."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")  # nothing leaves this machine
    with chat_server(lambda body, number: Reply("mine")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        client = ChatClient("openai", base_url=None, key=FixedKey("key-1"), azure_api_version=None, timeout_s=5)
        body = {"model": "tiny", "messages": [{"role": "user", "content": "hello"}]}
        with pytest.raises(openai.APIConnectionError):
            Throttle().call_in_slot(lambda turn: client.post("/chat/completions", body, turn), ValueError)
    assert server.requests == []
