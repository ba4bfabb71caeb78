"""What the Responses API is sent for parameters of chat completions, and when it is chosen."""

from __future__ import annotations

import pytest

from runevals.models.chat.chat import Chat, Endpoint
from runevals.models.chat.responses import body
from runevals.models.http.throttle import Throttle
from runevals.records import Conversation
from runevals.targets.openai import OpenAITarget
from tests.targets.openai_target import asking
from tests.wires import Turn, wire_server

SEARCH = {
    "type": "function",
    "function": {"name": "search", "description": "Finds.", "parameters": {"type": "object", "properties": {}}},
}


def target(server, parameters, **fields):
    endpoint = Endpoint(model="m", api_key="k", base_url=server.base_url, **{"api": "responses", **fields})
    chat = Chat(endpoint, Throttle(max_attempts=3, first_delay_s=0.01))
    return OpenAITarget(chat, system_prompt=None, parameters=parameters)


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
    with wire_server("responses", lambda body, n: Turn(text="Hi")) as server:
        problem = target(server, {"seed": 1}).answer(asking()).problem
    assert "`api: chat`" in problem.message
    assert server.requests == []


@pytest.mark.parametrize("is_set", [False, True])
def test_a_provider_that_takes_tools_by_responses_alone_is_asked_so(is_set):
    """As OpenAI's models do since gpt-5.4; unless the settings say `api: chat`."""
    turns = [Turn(calls=(("search", 1, {"q": "a"}),)), Turn(text="Done.")]
    asked = Conversation(
        suite="s", case="c", attempt=1, turn=1, prompt="?", metadata={"mocks": [{"tool": "search", "return": "3"}]}
    )
    with wire_server("responses", lambda body, n: turns[n - 1]) as server:
        answer = target(server, {"tools": [SEARCH]}, api="chat", api_is_set=is_set).answer(asked)
        if is_set:
            assert "use /v1/responses" in answer.problem.message
            return
        assert (answer.text, len(answer.tool_calls)) == ("Done.", 1)
        assert server.paths == ["/v1/chat/completions", "/v1/responses", "/v1/responses"]
    strict = {"type": "function", "strict": False, **SEARCH["function"]}
    assert server.requests[1]["tools"] == [strict]
    assert server.requests[1]["include"] == ["reasoning.encrypted_content"]
