"""The Responses API, for targets and judges, against a server that checks requests by the SDK's own types."""

from __future__ import annotations

import json

import pytest

from runevals.judge.model import ModelJudge
from runevals.lib.chat.chat import Chat, Endpoint
from runevals.lib.chat.responses import body
from runevals.lib.http.throttle import Throttle
from runevals.records import Conversation
from runevals.targets.openai import OpenAITarget
from tests.chat_server import Reply, chat_server
from tests.judge.replies import QUESTION
from tests.responses_server import call, reasoning, refusal, response, responses_server, text
from tests.targets.openai_target import asking

SEARCH = {
    "type": "function",
    "function": {"name": "search", "description": "Finds.", "parameters": {"type": "object", "properties": {}}},
}
MOCKS = [{"tool": "search", "return": "3 results"}]


def chat(server, **fields):
    endpoint = Endpoint(model="m", api_key="k", base_url=server.base_url, **{"api": "responses", **fields})
    return Chat(endpoint, Throttle(max_attempts=3, first_delay_s=0.01))


def target(server, system=None, parameters=None, **fields):
    return OpenAITarget(chat(server, **fields), system_prompt=system, parameters=parameters or {})


def asking_with(**metadata):
    return Conversation(suite="s", case="c", attempt=1, turn=1, prompt="?", metadata=metadata)


def test_a_turn_brings_text_tokens_and_the_model():
    with responses_server(lambda body, n: response(reasoning(), text("It is ", "4."))) as server:
        answer = target(server, "Be brief.").answer(asking("2+2?"))
    assert (answer.text, answer.problem, answer.model) == ("It is 4.", None, "m-2026-11")
    assert (answer.input_tokens, answer.output_tokens, answer.reasoning_tokens) == (100, 30, 20)
    assert answer.delivery.cached_tokens == 64
    assert server.paths == ["/v1/responses"]
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]
    assert server.requests == [{"model": "m", "input": messages, "store": False}]


def test_a_loop_of_three_steps_with_two_calls_in_one_turn_sends_back_what_was_thought():
    turns = [
        response(reasoning(1), call("search", 1, q="a"), call("search", 2, q="b")),
        response(reasoning(2), call("search", 3, q="c")),
        response(text("Done.")),
    ]
    with responses_server(lambda body, n: turns[n]) as server:
        answer = target(server, parameters={"tools": [SEARCH]}).answer(asking_with(mocks=MOCKS))
    assert (answer.text, answer.turns) == ("Done.", 3)
    assert [(made.name, made.input, made.output) for made in answer.tool_calls] == [
        ("search", {"q": each}, "3 results") for each in "abc"
    ]
    kinds = [item.get("type", item.get("role")) for item in server.requests[2]["input"]]
    outputs = ["function_call_output"]
    assert kinds == [
        *("user", "reasoning", "function_call", "function_call", *outputs, *outputs),
        *("reasoning", "function_call", *outputs),
    ]
    assert server.requests[2]["input"][1]["encrypted_content"] == "secret-1"
    assert server.requests[0]["include"] == ["reasoning.encrypted_content"]
    assert server.requests[0]["tools"] == [{"type": "function", "strict": False, **SEARCH["function"]}]


@pytest.mark.parametrize(
    ("output", "more", "text_", "problem", "cut"),
    [
        pytest.param([refusal("I cannot.")], {}, "", ("empty_response", "I cannot."), None, id="refusal"),
        pytest.param(
            [text("The steps")],
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            *("The steps", None, "length"),
            id="cut by length",
        ),
        pytest.param(
            [text("The steps")],
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            *("The steps", None, "filter"),
            id="cut by the filter",
        ),
        pytest.param(
            [reasoning()],
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            *("", ("empty_response", "max_output_tokens"), None),
            id="reasoning only",
        ),
        pytest.param([reasoning(), text("")], {}, "", None, None, id="empty text"),
    ],
)
def test_answers_that_are_not_whole(output, more, text_, problem, cut):
    with responses_server(lambda body, n: response(*output, **more)) as server:
        answer = target(server).answer(asking())
    assert answer.text == text_
    if problem is not None:
        assert (answer.problem.code, problem[1] in answer.problem.message) == (problem[0], True)
    else:
        assert answer.problem is None
        assert answer.delivery.cut == cut


def test_a_call_without_a_mock_is_denied_where_mocks_are_strict():
    turns = [response(call("search", 1, q="a"), call("other", 2)), response(text("Done."))]
    with responses_server(lambda body, n: turns[n]) as server:
        answer = target(server).answer(asking_with(mocks=MOCKS, mocksStrict=True))
    assert [made.ok for made in answer.tool_calls] == [True, False]
    assert server.requests[0]["tools"][0]["name"] == "search"


FAILED = {"code": "server_error", "message": "The model failed."}


@pytest.mark.parametrize(
    ("first", "calls"),
    [
        ((429, {"error": {"message": "slow"}}, {"Retry-After": "0"}), 2),
        ((429, {"error": {"message": "slow"}}, {"retry-after-ms": "5"}), 2),
        ((529, {"error": {"message": "overloaded"}}), 2),
        (response(status="failed", error=FAILED), 2),
    ],
    ids=["429", "429 in milliseconds", "529", "an error within status 200"],
)
def test_what_is_temporary_is_tried_again(first, calls):
    with responses_server(lambda body, n: first if n == 0 else response(text("Hi"))) as server:
        assert target(server).answer(asking()).text == "Hi"
    assert len(server.requests) == calls


def test_what_is_no_response_says_so():
    with chat_server(lambda body, n: Reply(raw='{"choices": []}')) as server:
        problem = target(server).answer(asking()).problem
    assert (problem.code, "not one of the Responses API" in problem.message) == ("target_unparseable", True)


@pytest.mark.parametrize(
    ("parameters", "sent"),
    [
        ({"max_tokens": 5}, {"max_output_tokens": 5}),
        ({"max_completion_tokens": 5, "temperature": 0}, {"max_output_tokens": 5, "temperature": 0}),
        ({"reasoning_effort": "low"}, {"reasoning": {"effort": "low"}}),
        (
            {"reasoning": {"summary": "auto"}, "reasoning_effort": "low"},
            {"reasoning": {"summary": "auto", "effort": "low"}},
        ),
        (
            {"verbosity": "low", "response_format": {"type": "json_object"}},
            {"text": {"verbosity": "low", "format": {"type": "json_object"}}},
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "v", "schema": {}}}},
            {"text": {"format": {"type": "json_schema", "name": "v", "schema": {}}}},
        ),
        (
            {"tool_choice": {"type": "function", "function": {"name": "f"}}},
            {"tool_choice": {"type": "function", "name": "f"}},
        ),
        ({"tool_choice": "required"}, {"tool_choice": "required"}),
        ({"tools": [{"type": "web_search"}], "include": []}, {"tools": [{"type": "web_search"}], "include": []}),
    ],
)
def test_parameters_of_chat_completions_are_translated(parameters, sent):
    assert body([], parameters) == {"input": [], "store": False, **sent}


def test_a_parameter_that_this_api_lacks_names_the_way_to_the_other():
    with responses_server(lambda body, n: response(text("Hi"))) as server:
        problem = target(server, parameters={"seed": 1}).answer(asking()).problem
    assert "`api: chat`" in problem.message
    assert server.requests == []


def test_a_judge_asks_with_a_schema_and_drops_what_is_refused():
    def answer(body, number):
        if "temperature" in body:
            return 400, {"error": {"message": "Unsupported parameter", "param": "temperature"}}
        nonce = body["text"]["format"]["schema"]["properties"]["nonce"]["const"]
        return response(reasoning(), text(json.dumps({"reasoning": "fine", "score": 4, "nonce": nonce})))

    with responses_server(answer) as server:
        judge = ModelJudge(chat(server), {})
        assert judge.ask(QUESTION, case="c", turn=1, attempt=1).score == 4.0
        assert judge.identity().detail["dropped_parameters"] == ["seed", "temperature"]


@pytest.mark.parametrize("is_set", [False, True])
def test_a_provider_that_takes_tools_by_responses_alone_is_asked_so(is_set):
    """As OpenAI's models do since gpt-5.4; unless the settings say `api: chat`."""
    turns = [response(call("search", 1, q="a")), response(text("Done."))]
    with responses_server(lambda body, n: turns[n - 1]) as server:
        end = {"api": "chat", "api_is_set": is_set}
        answer = target(server, parameters={"tools": [SEARCH]}, **end).answer(asking_with(mocks=MOCKS))
        if is_set:
            assert "use /v1/responses" in answer.problem.message
            return
        assert (answer.text, len(answer.tool_calls)) == ("Done.", 1)
        assert server.paths == ["/v1/chat/completions", "/v1/responses", "/v1/responses"]
