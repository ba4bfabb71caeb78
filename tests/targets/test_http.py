"""The http target against a real HTTP server."""

from __future__ import annotations

import gzip
import json
import time

import pytest
from msgspec.structs import replace

from runevals.models.chat.prices import Price, Prices
from runevals.models.http.throttle import Throttle
from runevals.records import Citation, Conversation, Message, ToolCall
from runevals.records.errors import TargetRefused
from runevals.targets.http import HttpTarget
from tests.json_server import Answer, json_server
from tests.making import making, settings_of

TURN = Conversation(suite="s", case="c", attempt=1, turn=1, prompt="Hello?", thread="s#c#1")


def target(server, *, environment=None, timeout_s=5.0, attempts=3, told=(), **written):
    settings = settings_of("http", environment, **{"url": f"{server.url}/chat", **written})
    settings = replace(settings, timeout_s=timeout_s, **dict(told))
    throttle = Throttle(max_attempts=attempts, first_delay_s=0.01)
    prices = Prices({"mine": Price(input=1, output=2)})
    return HttpTarget(settings, making(throttle, environment, prices=prices))


def asked_once(reply, **settings):
    with json_server(lambda asked, n: reply) as server:
        tested = target(server, **settings)
        response = tested.answer(TURN)
        tested.close()
    return response, server.requests


def test_by_default_an_http_target_sends_prompt_and_messages_and_reads_the_usual_fields():
    reply = {
        "output": "Hi",
        "toolCalls": [{"name": "search", "input": {"q": 1}, "ok": True}],
        "citations": ["a", {"text": "b", "source": "kb"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
        "turns": 2,
        "model": "mine",
    }
    response, requests = asked_once(reply, told={"system_prompt": "Be kind."})
    assert requests[0].method == "POST"
    assert requests[0].body == {
        "system": "Be kind.",
        "prompt": "Hello?",
        "messages": [{"role": "user", "content": "Hello?"}],
    }
    assert (response.text, response.value, response.model, response.turns) == ("Hi", None, "mine", 2)
    assert response.tool_calls == (ToolCall(name="search", input={"q": 1}, ok=True),)
    assert response.citations == (Citation(text="a"), Citation(text="b", source="kb"))
    assert (response.input_tokens, response.output_tokens, response.cost_usd) == (10, 5, 20 / 1e6)
    assert response.latency_s > 0


def test_a_field_that_the_reply_lacks_is_unknown():
    response, _ = asked_once({"answer": "Hi"})
    assert response.text == "Hi"
    assert (response.tool_calls, response.citations, response.turns, response.model) == (None, None, None, None)
    assert (response.input_tokens, response.output_tokens, response.cost_usd) == (None, None, None)


def test_values_in_a_body_template_keep_their_types():
    body = {
        "input": {"text": "Q: {{prompt}} ({{case.key}})", "history": "{{messages}}", "n": "{{case.attempt}}"},
        "chat": "{{conversation_id}}",
        "tier": "{{ case.metadata.tier }}",
        "list": ["{{prompt}}", 1.5, None],
        "nothing": None,
    }
    hostile = 'He said "no", {{case.key}}\\'
    with json_server(lambda asked, n: {"output": "ok"}) as server:
        conversation = replace(TURN, prompt=hostile, metadata={"tier": {"gold": True}})
        target(server, body=body).answer(conversation)
    assert server.bodies == [
        {
            "input": {
                "text": f"Q: {hostile} (c)",
                "history": [{"role": "user", "content": hostile}],
                "n": 1,
            },
            "tier": {"gold": True},
            "list": [hostile, 1.5, None],
            "nothing": None,
        }
    ]


def test_conversation_id_and_history_are_passed_from_turn_to_turn():
    def answer(asked, number):
        return {"output": "1", "conversation_id": 71} if number == 0 else {"output": str(number)}

    history = (Message(role="user", content="Hello?"), Message(role="assistant", content="1"))
    with json_server(answer) as server:
        tested = target(server)
        for turn in (1, 2, 3):
            tested.answer(replace(TURN, turn=turn, history=history if turn > 1 else ()))
        tested.answer(replace(TURN, case="other", turn=2, thread="s#other#1"))
        tested.answer(TURN)
    assert [body.get("conversation_id") for body in server.bodies] == [None, 71, 71, None, None]
    assert [len(body["messages"]) for body in server.bodies[:2]] == [1, 3]


def test_placeholders_in_an_address_are_percent_encoded():
    with json_server(lambda asked, n: {"output": "ok"}) as server:
        url = f"{server.url}/bots/{{{{model}}}}?q={{{{prompt}}}}"
        tested = target(server, method="get", url=url, told={"model": "../a"})
        tested.answer(replace(TURN, prompt="a&b=c#d"))
    assert (server.requests[0].method, server.requests[0].body) == ("GET", None)
    assert server.requests[0].path == "/bots/..%2Fa?q=a%26b%3Dc%23d"


def test_the_answer_is_picked_by_the_paths_of_the_settings():
    reply = {
        "data": {"reply": "Hi", "model": "m-1", "cost": 0.25},
        "steps": [
            {"calls": [{"type": "function", "function": {"name": "search", "arguments": '{"q": "a"}'}}]},
            {"calls": [{"tool": "read", "args": {"p": 1}, "output": {"found": 2}}]},
        ],
    }
    pick = {
        "answer": ["$.nowhere", "$.data.reply"],
        "tool_calls": "$.steps[*].calls[*]",
        "cost_usd": "$.data.cost",
        "model": "$.data.model",
    }
    response, _ = asked_once(reply, pick=pick)
    assert (response.text, response.cost_usd, response.model) == ("Hi", 0.25, "m-1")
    assert response.tool_calls == (
        ToolCall(name="search", input={"q": "a"}),
        ToolCall(name="read", input={"p": 1}, output='{"found": 2}'),
    )


@pytest.mark.parametrize(
    ("value", "text"), [({"a": [1, "é"]}, '{"a": [1, "é"]}'), (0, "0"), (False, "false"), ([], "[]")]
)
def test_an_answer_that_is_not_text_is_a_json_value(value, text):
    response, _ = asked_once({"output": value})
    assert (response.value, response.text, response.problem) == (value, text, None)


def test_the_whole_reply_may_be_the_answer():
    response, _ = asked_once("Hi", pick={"answer": "$"})
    assert (response.text, response.value) == ("Hi", None)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (
            {"message": "Hi"},
            'there is no answer at $.output or $.answer or $.response or $.text; the reply begins: {"me',
        ),
        ({"output": None}, "there is no answer at $.output"),
        (Answer(raw=b"<html>Oops</html>"), "the reply is not JSON; it begins: <html>Oops"),
        (Answer(raw=b""), "the reply is not JSON; it begins: (empty)"),
        (Answer(raw=b'{"output": NaN}'), "the reply is not JSON"),
        (Answer(raw=b"[" * 100_000), "the reply is not JSON"),
        ({"output": "a", "turns": "two"}, "'turns' must be a number"),
        (
            Answer(raw=b'{"output": ' + b"[" * 900 + b"]" * 900 + b"}"),
            "the answer is nested deeper than 100 levels",
        ),
        (
            {"output": "a", "tool_calls": [{"name": "f", "arguments": "[" * 200 + "]" * 200}]},
            "the input of a tool call is nested deeper than 100 levels",
        ),
        ({"output": "a", "tool_calls": [{}]}, "a tool call needs a name"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_the_error_for_an_unreadable_reply_has_the_paths_and_the_beginning_of_the_reply(reply, told):
    response, requests = asked_once(reply)
    assert response.problem.code == "target_unparseable"
    assert told in response.problem.message
    assert len(requests) == 1


def test_an_answer_that_is_too_large_is_refused():
    for reply in (
        Answer(raw=b'{"output": "' + b"x" * (16 * 1024**2) + b'"}'),
        Answer(raw=gzip.compress(b" " * (17 * 1024**2)), headers={"Content-Encoding": "gzip"}),
    ):
        response, requests = asked_once(reply)
        assert response.problem.code == "target_unparseable"
        assert "the answer is larger than 16 MiB" in response.problem.message
        assert len(requests) == 1


def test_a_path_that_matches_several_answers_is_ambiguous():
    response, _ = asked_once({"parts": ["a", "b"]}, pick={"answer": "$.parts[*]"})
    assert response.problem.message.startswith("answer: $.parts[*] finds 2 values, not one; the reply begins: ")


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_temporary_failures_are_retried(status):
    with json_server(lambda asked, n: Answer({}, status) if n == 0 else {"output": "Hi"}) as server:
        assert target(server).answer(TURN).text == "Hi"
    assert len(server.requests) == 2


def test_a_retry_waits_as_long_as_retry_after_says():
    def answer(asked, number):
        return Answer({}, 503, {"Retry-After": "1"}) if number == 0 else {"output": "ok"}

    with json_server(answer) as server:
        started = time.monotonic()
        assert target(server).answer(TURN).text == "ok"
        assert time.monotonic() - started >= 1.0


@pytest.mark.parametrize(
    ("answer", "code", "calls"),
    [
        (Answer({"detail": "broken"}, 500), "target_failed", 3),
        (Answer({"detail": "slow down"}, 429), "target_rate_limited", 3),
        (Answer({"detail": "bad field"}, 422), "target_failed", 1),
        (Answer({"detail": "nothing here"}, 404), "target_failed", 1),
    ],
)
def test_a_permanent_failure_of_one_call_is_an_error_of_its_case(answer, code, calls):
    response, requests = asked_once(answer)
    assert response.problem.code == code
    assert f"{answer.status}: " in response.problem.message
    assert answer.value["detail"] in response.problem.message
    assert len(requests) == calls


@pytest.mark.parametrize("status", [401, 403, 410])
def test_a_refusal_of_the_endpoint_stops_the_run_after_one_call(status):
    with json_server(lambda asked, n: Answer({}, status)) as server:
        with pytest.raises(TargetRefused, match=f"refuses every call: {status}"):
            target(server).answer(TURN)
        assert len(server.requests) == 1


def test_a_silent_server_is_a_timeout():
    with json_server(lambda asked, n: time.sleep(0.5)) as server:
        assert target(server, timeout_s=0.1, attempts=2).answer(TURN).problem.code == "target_timeout"


def test_a_server_that_sends_its_answer_too_slowly_is_a_timeout():
    with json_server(lambda asked, n: Answer({"output": "x" * 100}, drip_s=0.02)) as server:
        assert target(server, timeout_s=0.2, attempts=1).answer(TURN).problem.code == "target_timeout"


def test_a_call_to_a_closed_port_fails():
    with json_server(lambda asked, n: None) as server:
        pass
    problem = target(server, url=f"{server.url}/chat?code=secret-1", attempts=2).answer(TURN).problem
    assert problem.code == "target_failed"
    assert "Connection refused" in problem.message
    assert "secret-1" not in problem.message


def test_a_redirect_is_not_followed_with_the_key():
    with json_server(lambda asked, n: {"output": "stolen"}) as other:
        answer = Answer({}, 307, {"Location": f"{other.url}/chat"})
        response, requests = asked_once(answer, api_key_env="MY_KEY", environment={"MY_KEY": "key-1"})
    assert requests[0].headers["authorization"] == "Bearer key-1"
    assert other.requests == []
    assert response.problem.code == "target_failed"
    assert "307: redirects" in response.problem.message


def test_headers_have_the_values_of_their_environment_variables():
    headers = {"X-Api-Key": {"env": "MY_KEY"}, "X-Auth": {"env": "MY_KEY", "prefix": "Token "}, "X-Team": "evals"}
    _, requests = asked_once({"output": "ok"}, headers=headers, environment={"MY_KEY": "key-1"})
    sent = requests[0].headers
    assert (sent["x-api-key"], sent["x-auth"], sent["x-team"]) == ("key-1", "Token key-1", "evals")


def test_only_the_configured_headers_and_no_netrc_or_cookies_are_sent(tmp_path, monkeypatch):
    (tmp_path / "netrc").write_text("default login me password secret-of-mine\n", encoding="utf-8")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with json_server(lambda asked, n: Answer({"output": "ok"}, headers={"Set-Cookie": "session=1"})) as server:
        tested = target(server)
        tested.answer(TURN)
        tested.answer(TURN)
    assert not [asked.headers for asked in server.requests if {"authorization", "cookie"} & set(asked.headers)]


def test_the_identity_of_an_http_target_has_no_keys():
    with json_server(lambda asked, n: {"output": "ok", "model": "m-1"}) as server:
        tested = target(
            server, url=f"{server.url}/chat?code=secret-1", api_key_env="K", environment={"K": "secret-2"}
        )
        tested.answer(TURN)
    identity = tested.identity()
    assert (identity.type, identity.reported, identity.deterministic) == ("http", ("m-1",), False)
    assert identity.detail["url"] == f"{server.url}/chat"
    assert "secret" not in json.dumps(dict(identity.detail))


def test_many_threads_can_call_the_target_at_once():
    from concurrent.futures import ThreadPoolExecutor

    with json_server(lambda asked, n: {"output": asked.body["prompt"]}) as server:
        tested = target(server)
        turns = [replace(TURN, prompt=str(n), thread=str(n)) for n in range(100)]
        with ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(tested.answer, turns))
    assert [answer.text for answer in answers] == [str(n) for n in range(100)]
