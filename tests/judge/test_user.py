"""Simulated users: a real HTTP server as the model that plays them."""

from __future__ import annotations

import json

import pytest

from runevals.judge.model import ModelJudge
from runevals.judge.user import MOST_CHARACTERS, ModelUser, read_message
from runevals.models.chat.chat import Chat, Endpoint
from runevals.models.chat.reply import ChatReply
from runevals.models.http.throttle import Throttle
from runevals.records import Message, SimulatedUser
from runevals.records.errors import JudgeRefused
from tests.chat_server import Reply, chat_server
from tests.judge.replies import nonce_of

USER = SimulatedUser(
    persona="a {tourist}", goal="find the station", facts=("it is night",), stop_when="it is clear"
)
TALK = (
    Message(role="system", content="the target's own instructions"),
    Message(role="user", content="Where?"),
    Message(role="assistant", content="There."),
)


def play(answer, conversation=TALK, user=USER):
    with chat_server(answer) as server:
        endpoint = Endpoint(model="big", api_key="k", base_url=server.base_url)
        player = ModelUser(ModelJudge(Chat(endpoint, Throttle(first_delay_s=0.01)), {}))
        return player.next_message(user, conversation), server.requests


def says(body, text="Thanks, how far?", *, done=False):
    return json.dumps({"done": done, "message": text, "nonce": nonce_of(body)})


def test_the_user_sees_its_role_and_the_conversation_between_markers():
    found, requests = play(lambda body, n: Reply(says(body)))
    assert (found.text, found.model, found.input_tokens) == ("Thanks, how far?", "big-2026-09", 10)
    system, shown = (message["content"] for message in requests[0]["messages"])
    nonce = nonce_of(requests[0])
    assert "Persona: a {tourist}\nGoal: find the station\nFacts that you know:\n- it is night\n" in system
    assert "You stop when: it is clear" in system
    assert f"<<<THE SYSTEM {nonce}>>>\nThere.\n<<<END THE SYSTEM {nonce}>>>" in shown
    assert "the target's own instructions" not in shown
    assert play(lambda body, n: Reply(says(body, "", done=True)))[0].text is None


def test_a_reply_that_cannot_be_used_is_asked_for_once_more_and_then_an_error():
    found, requests = play(lambda body, n: Reply("Where is it?" if n == 0 else says(body)))
    assert (found.text, len(requests)) == ("Thanks, how far?", 2)
    found, requests = play(lambda body, n: Reply("Where is it?"))
    assert (found.problem.code, found.text, found.input_tokens) == ("user_unparseable", None, 20)
    found, _ = play(lambda body, n: Reply(status=404))
    assert found.problem.code == "user_failed"
    with pytest.raises(JudgeRefused):
        play(lambda body, n: Reply(status=401))


def test_a_user_cannot_stop_before_the_first_message():
    found, _ = play(lambda body, n: Reply(says(body, "", done=True) if n == 0 else says(body)), conversation=())
    assert found.text == "Thanks, how far?"


NONCE = "0" * 32


def one(**fields):
    return json.dumps({"done": False, "message": "Hm.", "nonce": NONCE, **fields})


READ = [
    (one(), ("Hm.", "")),
    (f"Sure: {one()} and {one()}", ("Hm.", "")),
    (f"{one(nonce='guessed', done=True)} {one()}", ("Hm.", "")),
    (one(message=f"Hm.{NONCE}"), ("Hm.", "")),
    (one(done=True, message=""), None),
    (one(done=True) + one(), "the reply has different messages"),
    (one(nonce="guessed"), "the reply has no JSON object with the number of this call"),
    (one(message=" "), "'message' must be"),
    (one(message=NONCE), "'message' must be"),
    (one(message=7), "'message' must be"),
    (one(done="no"), "'message' must be"),
    (one(message="x" * (MOST_CHARACTERS + 1)), "'message' must be"),
    ("", "the reply has no JSON object"),
]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_only_an_object_with_the_nonce_of_the_call_is_read(text, expected):
    reply = ChatReply(
        text=text, finish_reason="stop", model=None, input_tokens=None, output_tokens=None, latency_s=0.0
    )
    found = read_message(reply, NONCE, may_stop=True)
    assert (found == expected) if not isinstance(expected, str) else found[1].startswith(expected)
