"""A target is the same on every API: what a turn brings, tools, mocks, and what is not an answer."""

from __future__ import annotations

import json
import sys

import pytest
from msgspec.structs import replace

from runevals.judge.model import ModelJudge
from runevals.models.chat.chat import Chat, Endpoint
from runevals.models.chat.providers import PROVIDERS
from runevals.models.http.throttle import Throttle, Throttles
from runevals.records import Conversation
from runevals.records.errors import InvalidSettings, TargetRefused
from runevals.targets.chat_settings import chat_of
from runevals.targets.openai import ModelTargetSettings, OpenAITarget
from tests.judge.replies import QUESTION
from tests.targets.openai_target import asking
from tests.wires import WIRES, Turn, wire_server

EVERY = pytest.mark.parametrize("api", WIRES)
SEARCH = {
    "type": "function",
    "function": {"name": "search", "description": "Finds.", "parameters": {"type": "object", "properties": {}}},
}
MOCKS = [{"tool": "search", "return": "3 results"}]


def chat(server):
    api = server.wire.api
    provider = PROVIDERS["anthropic" if api == "messages" else "openai"]
    endpoint = Endpoint(
        model="m", api_key="k", base_url=server.base_url, api=api, api_is_set=True, provider=provider
    )
    return Chat(endpoint, Throttle(max_attempts=3, first_delay_s=0.01))


def target(server, system=None, **parameters):
    return OpenAITarget(chat(server), system_prompt=system, parameters=parameters)


def asking_with(**metadata):
    return Conversation(suite="s", case="c", attempt=1, turn=1, prompt="?", metadata=metadata)


@EVERY
def test_a_turn_brings_text_tokens_and_the_model(api):
    with wire_server(api, lambda body, n: Turn(thought=1, text="It is 4.")) as server:
        answer = target(server, "Be brief.", max_tokens=50).answer(asking("2+2?"))
    assert (answer.text, answer.problem, answer.model) == ("It is 4.", None, "m-2026-11")
    assert (answer.input_tokens, answer.output_tokens, answer.reasoning_tokens) == (100, 30, 20)
    assert answer.delivery.cached_tokens == 64
    assert server.keys == ["Bearer k"]


@EVERY
def test_a_loop_of_three_steps_with_two_calls_in_one_turn(api):
    turns = [
        Turn(thought=1, text="Both.", calls=(("search", 1, {"q": "a"}), ("search", 2, {"q": "b"}))),
        Turn(thought=2, calls=(("search", 3, {"q": "c"}),)),
        Turn(text="Done."),
    ]
    with wire_server(api, lambda body, n: turns[n]) as server:
        answer = target(server, tools=[SEARCH], tool_choice="auto").answer(asking_with(mocks=MOCKS))
    assert (answer.text, answer.turns) == ("Done.", 3)
    assert [(made.name, made.input, made.output) for made in answer.tool_calls] == [
        ("search", {"q": each}, "3 results") for each in "abc"
    ]
    assert server.wire.results(server.requests[2]) == ["3 results"] * 3
    if api != "chat":  # which has no place for what a model thought
        assert all(f"secret-{n}" in json.dumps(server.requests[2]) for n in (1, 2))


@EVERY
def test_a_call_without_a_mock_is_denied_where_mocks_are_strict(api):
    turns = [Turn(calls=(("search", 1, {"q": "a"}), ("other", 2, {}))), Turn(text="Done.")]
    with wire_server(api, lambda body, n: turns[n]) as server:
        answer = target(server).answer(asking_with(mocks=MOCKS, mocksStrict=True))
    assert [made.ok for made in answer.tool_calls] == [True, False]
    assert server.wire.results(server.requests[1]) == ["3 results", "denied: no mock answers this call"]


@EVERY
def test_a_model_that_only_calls_tools_again_and_again_gave_no_answer(api):
    with wire_server(api, lambda body, n: Turn(calls=(("search", n, {}),))) as server:
        answer = target(server, tools=[SEARCH]).answer(asking_with(mocks=MOCKS))
    assert answer.problem.message == "the model still calls tools after 20 turns"


@EVERY
@pytest.mark.parametrize(
    ("turn", "text", "problem", "cut"),
    [
        pytest.param(Turn(refusal="I cannot."), "", "I cannot.", None, id="refusal"),
        pytest.param(Turn(text="The steps", cut="length"), "The steps", None, "length", id="cut by length"),
        pytest.param(Turn(text="The steps", cut="filter"), "The steps", None, "filter", id="cut by the filter"),
        pytest.param(Turn(thought=1, cut="length"), "", "gave no text", None, id="reasoning only, cut"),
        pytest.param(Turn(thought=1), "", "gave no text", None, id="reasoning only"),
        pytest.param(Turn(), "", "gave no text", None, id="nothing"),
        pytest.param(Turn(thought=1, text=""), "", None, None, id="empty text"),
    ],
)
def test_answers_that_are_not_whole(api, turn, text, problem, cut):
    with wire_server(api, lambda body, n: turn) as server:
        answer = target(server).answer(asking())
    assert answer.text == text
    if problem is not None:
        assert (answer.problem.code, problem in answer.problem.message) == ("empty_response", True)
    else:
        assert (answer.problem, answer.delivery.cut) == (None, cut)


def overloaded(api):
    """An error within status 200."""
    match api:
        case "messages":
            return {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        case "responses":
            return {
                **WIRES[api].turn(Turn()),
                "status": "failed",
                "error": {"code": "server_error", "message": "x"},
            }
    return {"error": {"message": "busy", "code": 503}}


@EVERY
@pytest.mark.parametrize(
    "first",
    [
        pytest.param(lambda wire: (429, wire.error("slow"), {"Retry-After": "0"}), id="429"),
        pytest.param(lambda wire: (429, wire.error("slow"), {"retry-after-ms": "5"}), id="429 in milliseconds"),
        pytest.param(lambda wire: (529, wire.error("Overloaded")), id="529"),
        pytest.param(lambda wire: overloaded(wire.api), id="an error within status 200"),
    ],
)
def test_what_is_temporary_is_tried_again(api, first):
    with wire_server(api, lambda body, n: first(WIRES[api]) if n == 0 else Turn(text="Hi")) as server:
        assert target(server).answer(asking()).text == "Hi"
    assert len(server.requests) == 2


@EVERY
@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_accepted_ends_the_run(api, status):
    wire = WIRES[api]
    with (
        wire_server(api, lambda body, n: (status, wire.error("no such key"))) as server,
        pytest.raises(TargetRefused, match=f"{status}: no such key"),
    ):
        target(server).answer(asking())
    assert len(server.requests) == 1


@EVERY
def test_a_parameter_that_the_endpoint_refuses_is_named(api):
    answer = lambda body, n: (400, WIRES[api].error("max_tokens: too many"))  # noqa: E731
    with wire_server(api, answer) as server:
        problem = target(server, max_tokens=10**6).answer(asking()).problem
    assert "refuses the parameter 'max_tokens'" in problem.message


@EVERY
def test_what_is_no_reply_says_so(api):
    with wire_server(api, lambda body, n: {"hello": "world"}) as server:
        problem = target(server).answer(asking()).problem
    assert (problem.code, "the answer is not" in problem.message) == ("target_unparseable", True)


def test_an_api_whose_sdk_is_not_installed_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "anthropic", None)  # as where it is not installed
    settings = ModelTargetSettings(type="anthropic", base=tmp_path, model="m", api_key_env="ANTHROPIC_API_KEY")
    with pytest.raises(InvalidSettings, match=r"pip install 'runevals\[anthropic\]'"):
        chat_of(settings, {"ANTHROPIC_API_KEY": "k"}, Throttles(), what="target")
    other = replace(settings, api="chat")
    assert chat_of(other, {"ANTHROPIC_API_KEY": "k"}, Throttles(), what="target").endpoint.api == "chat"


@EVERY
def test_a_judge_asks_with_a_schema_and_drops_what_is_refused(api):
    wire = WIRES[api]

    def answer(body, number):
        if "temperature" in body:
            return 400, wire.error("temperature: this model takes none")
        asked = json.dumps(body)
        nonce = asked[asked.index('"const": "') + 10 :].partition('"')[0]
        return Turn(thought=1, text=json.dumps({"reasoning": "fine", "score": 4, "nonce": nonce}))

    with wire_server(api, answer) as server:
        judge = ModelJudge(chat(server), {})
        assert judge.ask(QUESTION, case="c", turn=1, attempt=1).score == 4.0
    assert "temperature" in judge.identity().detail["dropped_parameters"]


@EVERY
@pytest.mark.parametrize(
    "turn",
    [Turn(text=""), Turn(thought=1), Turn(text="no idea"), Turn(refusal="No."), Turn(text="{", cut="length")],
)
def test_a_judge_without_a_verdict_is_asked_twice_and_measures_nothing(api, turn):
    with wire_server(api, lambda body, n: turn) as server:
        judged = ModelJudge(chat(server), {}).ask(QUESTION, case="c", turn=1, attempt=1)
    assert (judged.score, judged.problem.code, len(server.requests)) == (None, "judge_unparseable", 2)
