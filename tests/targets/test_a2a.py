"""The a2a target against servers made with the official SDK."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from a2a.helpers.proto_helpers import new_data_message, new_message, new_text_message, new_text_part, new_url_part
from a2a.types.a2a_pb2 import Task, TaskState, TaskStatus
from msgspec.structs import replace

from runevals.models.http.throttle import Throttle
from runevals.records import Citation, Conversation
from runevals.records.errors import TargetRefused
from runevals.targets.a2a import A2ATarget
from tests.a2a_server import a2a_server
from tests.json_server import Answer, json_server
from tests.making import making, settings_of

TURN = Conversation(suite="s", case="c", attempt=1, turn=1, prompt="Hello?", thread="s#c#1")


def target(server, *, environment=None, timeout_s=5.0, attempts=3, **written):
    settings = settings_of("a2a", environment, **{"url": server.url, **written})
    throttle = Throttle(max_attempts=attempts, first_delay_s=0.01)
    return A2ATarget(replace(settings, timeout_s=timeout_s), making(throttle, environment))


def answered(server, conversation=TURN, **settings):
    tested = target(server, **settings)
    try:
        return tested.answer(conversation)
    finally:
        tested.close()


async def echo(context, queue, updater):
    await queue.enqueue_event(
        new_text_message(f"You said {context.get_user_input()}", context_id=context.context_id)
    )


def a_task(context):
    status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
    return Task(id=context.task_id, context_id=context.context_id, status=status)


async def by_task(context, queue, updater):
    await queue.enqueue_event(a_task(context))
    await updater.start_work()
    await updater.add_artifact([new_text_part("Paris"), new_text_part("is it.")])
    await updater.complete(updater.new_agent_message([new_text_part("Done.")]))


@pytest.mark.parametrize(("binding", "version"), [("JSONRPC", "1.0"), ("JSONRPC", "0.3.0"), ("HTTP+JSON", "1.0")])
def test_a_message_is_answered_over_each_protocol_binding(binding, version):
    with a2a_server(echo, binding=binding, version=version) as server:
        tested = target(server)
        response = tested.answer(TURN)
        identity = tested.identity()
        tested.close()
    assert (response.text, response.problem) == ("You said Hello?", None)
    assert (response.tool_calls, response.input_tokens, response.cost_usd, response.citations) == (None,) * 4
    assert response.latency_s > 0
    assert server.requests[0][:2] == ("GET", "/.well-known/agent-card.json")
    assert identity.type == "a2a"
    assert dict(identity.detail) == {"url": server.url, "agent": "Tester", "version": "7.1"}


@pytest.mark.parametrize("act", [echo, by_task])
def test_the_context_id_is_passed_from_turn_to_turn(act):
    with a2a_server(act) as server:
        tested = target(server)
        for turn in (1, 2, 3):
            tested.answer(replace(TURN, turn=turn, prompt=str(turn)))
        tested.answer(replace(TURN, thread="another", prompt="4"))
        tested.answer(replace(TURN, prompt="5"))
        tested.close()
    contexts = [context for _, context, _ in server.turns]
    assert [text for text, *_ in server.turns] == ["1", "2", "3", "4", "5"]
    assert contexts[0] == contexts[1] == contexts[2]
    assert len({contexts[0], contexts[3], contexts[4]}) == 3
    assert len({task for *_, task in server.turns}) == 5
    assert [path for _, path, _ in server.requests].count("/.well-known/agent-card.json") == 1


def test_a_tasks_answer_is_in_its_artifacts():
    with a2a_server(by_task) as server:
        assert answered(server).text == "Paris\nis it."


def test_without_artifacts_the_answer_is_the_status_message():
    async def act(context, queue, updater):
        await queue.enqueue_event(a_task(context))
        await updater.complete(updater.new_agent_message([new_text_part("Paris")]))

    with a2a_server(act) as server:
        assert answered(server).text == "Paris"


def test_a_data_part_is_a_json_value():
    async def act(context, queue, updater):
        await queue.enqueue_event(new_data_message({"city": "Paris", "rank": 1}, context_id=context.context_id))

    with a2a_server(act) as server:
        response = answered(server)
    assert (response.value, response.text) == ({"city": "Paris", "rank": 1}, '{"city": "Paris", "rank": 1}')


def test_sources_beside_the_text_are_citations():
    async def act(context, queue, updater):
        message = new_message(
            [new_text_part("Paris [1]"), new_url_part("https://kb.example/1", filename="Cities")],
            context_id=context.context_id,
        )
        message.metadata.update({"citations": [{"text": "Capitals", "source": "kb"}]})
        await queue.enqueue_event(message)

    with a2a_server(act) as server:
        response = answered(server)
    assert response.text == "Paris [1]"
    assert response.citations == (
        Citation(text="Capitals", source="kb"),
        Citation(text="Cities", source="https://kb.example/1"),
    )


@pytest.mark.parametrize(
    ("end", "code", "told"),
    [
        ("failed", "target_failed", "the agent failed: because"),
        ("reject", "target_failed", "the agent rejected the task: because"),
        ("cancel", "target_failed", "the agent cancelled the task: because"),
        ("requires_auth", "target_auth", "the agent waits for a user to sign in: because"),
    ],
)
def test_a_task_that_is_not_completed_has_no_answer(end, code, told):
    async def act(context, queue, updater):
        await queue.enqueue_event(a_task(context))
        await updater.add_artifact([new_text_part("half an answer")])
        await getattr(updater, end)(updater.new_agent_message([new_text_part("because")]))

    with a2a_server(act) as server:
        response = answered(server)
    assert (response.problem.code, response.problem.message) == (code, told)


def test_a_question_of_the_agent_is_an_answer_and_the_next_prompt_replies_to_it():
    async def act(context, queue, updater):
        if context.current_task is None:
            await queue.enqueue_event(a_task(context))
            await updater.requires_input(updater.new_agent_message([new_text_part("Where to?")]))
        else:
            await updater.add_artifact([new_text_part(f"To {context.get_user_input()}.")])
            await updater.complete()

    with a2a_server(act) as server:
        tested = target(server)
        texts = [
            tested.answer(replace(TURN, turn=turn, prompt=prompt)).text
            for turn, prompt in ((1, "Book a flight"), (2, "Paris"), (3, "Another"))
        ]
        tested.close()
    assert texts == ["Where to?", "To Paris.", "Where to?"]
    (_, *first), (_, *second), (_, context, task) = server.turns
    assert first == second
    assert (context == first[0], task == first[1]) == (True, False)


def test_a_question_without_text_is_an_empty_response():
    async def act(context, queue, updater):
        await queue.enqueue_event(a_task(context))
        await updater.requires_input()

    with a2a_server(act) as server:
        assert answered(server).problem.code == "empty_response"


def test_a_working_task_is_polled_until_it_ends():
    """The server does not wait for the task's end, which is seen at the second look."""
    states = ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]

    def answer(asked, number):
        if asked.method == "GET":
            return _card(server.url)
        task = {"id": "t-1", "contextId": "c-1", "status": {"state": states[number - 1]}}
        if states[number - 1] == "TASK_STATE_COMPLETED":
            task["artifacts"] = [{"artifactId": "a", "parts": [{"text": "Paris"}]}]
        result = {"task": task} if asked.body["method"] == "SendMessage" else task
        return {"jsonrpc": "2.0", "id": asked.body["id"], "result": result}

    with json_server(answer) as server:
        assert answered(server).text == "Paris"
    assert [body["method"] for body in server.bodies[1:]] == ["SendMessage", "GetTask", "GetTask"]


def test_a_retried_message_keeps_its_id():
    def answer(asked, number):
        if asked.method == "GET":
            return _card(server.url)
        message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Paris"}]}
        return Answer({}, 503) if number == 1 else {"jsonrpc": "2.0", "id": "1", "result": {"message": message}}

    with json_server(answer) as server:
        assert answered(server).text == "Paris"
    first, second = (body["params"]["message"] for body in server.bodies[1:])
    assert first == second


def _card(url):
    interface = {"url": f"{url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    return {"name": "Raw", "version": "1", "supportedInterfaces": [interface]}


def _raw(reply):
    """A server whose card is right and whose replies are these."""
    return json_server(
        lambda asked, n: _card(f"http://{asked.headers['host']}") if asked.method == "GET" else reply
    )


def test_a_task_that_does_not_end_in_time_is_a_timeout():
    reply = {
        "jsonrpc": "2.0",
        "id": "1",
        "result": {"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}},
    }
    with _raw(reply) as server:
        problem = answered(server, timeout_s=0.05).problem
    assert (problem.code, problem.message) == ("target_timeout", "the task is still working after 0.05 s")


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ({"jsonrpc": "2.0", "id": "1", "result": {}}, "target_unparseable"),
        ({"jsonrpc": "2.0", "id": "1"}, "target_failed"),
        ([], "target_failed"),
        (Answer(raw=b"<html>"), "target_unparseable"),
        ({"jsonrpc": "2.0", "id": "1", "result": {"message": {"parts": 7}}}, "target_unparseable"),
        ({"jsonrpc": "2.0", "id": "1", "result": {"message": {"parts": []}}}, "empty_response"),
        (
            {"jsonrpc": "2.0", "id": "1", "result": {"task": {"id": "t", "status": {"state": 77}}}},
            "target_unparseable",
        ),
        ({"jsonrpc": "2.0", "id": "1", "error": {"code": -32603, "message": "broken"}}, "target_failed"),
        (Answer(raw=b" " * (16 * 1024**2 + 1)), "target_unparseable"),
        (Answer({}, 404), "target_failed"),
        (Answer({}, 307, {"Location": "http://127.0.0.1:9/"}), "target_failed"),
        (Answer({}, 500), "target_failed"),
        (Answer({}, 429), "target_rate_limited"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_protocol_violation_is_an_error_of_its_case(reply, code):
    with _raw(reply) as server:
        assert answered(server).problem.code == code


def test_temporary_failures_are_retried():
    with a2a_server(echo, before=lambda n, path: (503, {}) if n in (0, 2) else None) as server:
        assert answered(server).text == "You said Hello?"
    assert [path for _, path, _ in server.requests] == ["/.well-known/agent-card.json"] * 2 + ["/rpc"] * 2


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("at", [0, 1])
def test_an_agent_that_refuses_a_call_stops_the_run(status, at):
    with (
        a2a_server(echo, before=lambda n, path: (status, {}) if n == at else None) as server,
        pytest.raises(TargetRefused, match=f"{status}"),
    ):
        answered(server)
    assert len(server.requests) == at + 1


def test_an_agent_without_a_card_stops_the_run_for_every_thread_at_once():
    with json_server(lambda asked, n: Answer({}, 404)) as server:
        tested = target(server)
        for _ in range(2):
            with pytest.raises(TargetRefused, match=r"the agent card of http://127.*cannot be read: 404"):
                tested.answer(TURN)
        tested.close()
    assert len(server.requests) == 1


def test_a_card_of_another_protocol_stops_the_run():
    with a2a_server(echo, binding="GRPC") as server, pytest.raises(TargetRefused, match="JSON-RPC or HTTP"):
        answered(server)


def test_keys_are_sent_only_to_their_own_host():
    key = {"api_key_env": "K", "environment": {"K": "key-1"}}
    with a2a_server(echo) as server:
        assert answered(server, **key).text == "You said Hello?"
    assert {headers["authorization"] for *_, headers in server.requests} == {"Bearer key-1"}
    with (
        json_server(lambda asked, n: {}) as other,
        a2a_server(echo, leads_to=other.url) as server,
        pytest.raises(TargetRefused, match="its card leads to http://127"),
    ):
        answered(server, **key)
    assert other.requests == []


def test_a_prompt_that_cannot_be_encoded_is_an_error_of_its_case():
    with a2a_server(echo) as server:
        assert answered(server, replace(TURN, prompt="half a letter: \ud83d")).problem.code == "target_unparseable"
    assert server.turns == []


def test_cases_share_no_cookies():
    reply = {"jsonrpc": "2.0", "id": "1", "result": {"message": {"parts": [{"text": "Paris"}]}}}
    with _raw(Answer(reply, headers={"Set-Cookie": "session=1"})) as server:
        tested = target(server)
        assert [tested.answer(TURN).text for _ in range(2)] == ["Paris", "Paris"]
        tested.close()
    assert not [asked.headers for asked in server.requests if "cookie" in asked.headers]


def test_a_server_that_sends_its_answer_too_slowly_is_a_timeout():
    with _raw(Answer({"id": "x" * 100}, drip_s=0.02)) as server:
        assert answered(server, timeout_s=0.2, attempts=1).problem.code == "target_timeout"


def test_many_threads_can_call_the_target_at_once():
    with a2a_server(echo) as server:
        tested = target(server)
        turns = [replace(TURN, prompt=str(n), thread=str(n)) for n in range(50)]
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(tested.answer, turns))
        tested.close()
    assert [answer.text for answer in answers] == [f"You said {n}" for n in range(50)]


def test_closing_the_target_ends_running_calls():
    asked, release = threading.Event(), threading.Event()

    def silent(request, number):
        if request.method == "GET":
            return _card(server.url)
        asked.set()
        release.wait(20)
        return {}

    with json_server(silent) as server, ThreadPoolExecutor(1) as pool:
        tested = target(server, timeout_s=60.0)
        under_way = pool.submit(tested.answer, TURN)
        assert asked.wait(60)
        tested.close()
        assert under_way.result(60).problem.message == "the run has ended"
        assert tested.answer(TURN).problem.message == "the run has ended"
        release.set()


SUITE = {
    "schemaVersion": "1.2.0",
    "default_evaluators": {"ExactMatch": {}},
    "items": [
        {
            "testId": "a",
            "turns": [{"prompt": "1", "expected_response": "1"}, {"prompt": "2", "expected_response": "2"}],
        }
    ],
}


def test_a_whole_run_against_an_a2a_agent(project, runevals):
    project.write("evals.json", SUITE)
    with a2a_server(echo) as server:
        code, _, err = runevals("--target", f"a2a:{server.url}", "-o", "out.json")
    assert code == 0, err
    document = project.document()
    assert document["totals"]["passed"] == 1
    assert document["run"]["target"]["detail"] == {"url": server.url, "agent": "Tester", "version": "7.1"}
    assert len({context for _, context, _ in server.turns}) == 1


def test_without_the_a2a_sdk_the_error_names_the_extra(project):
    project.write("evals.json", SUITE)
    script = "import sys; sys.modules['a2a'] = None; from runevals.cli import call; sys.exit(call(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", script, "--target", "a2a:http://127.0.0.1:9"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "pip install 'runevals[a2a]'" in done.stderr) == (2, True), done.stderr
