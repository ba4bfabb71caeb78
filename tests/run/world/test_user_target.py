"""Turns of simulated users: what the target is sent, what checks see, what it costs, and what is asked again."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from runevals.judge.user import UserMessage
from runevals.records import Conversation, ModelIdentity, Problem, Response, SimulatedUser, ToolCall
from runevals.run.world.user_target import UserTarget
from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.judge.replies import nonce_of

USER = SimulatedUser(persona="p", goal="g", max_turns=3)
ASKED = Conversation(suite="s", case="c", attempt=1, turn=1, prompt=str(USER), turns=2, user=USER)


class Script:
    """A user that says these messages and stops, and a target that repeats what it hears."""

    def __init__(self, *texts, **answer):
        self.texts, self.asked, self.more = list(texts), [], answer

    def next_message(self, user, conversation):
        text = self.texts.pop(0) if self.texts else None
        return text if isinstance(text, UserMessage) else UserMessage(text=text, model="m", cost_usd=0.5)

    def answer(self, conversation):
        self.asked.append(conversation)
        call = ToolCall(name=f"tool {conversation.prompt}")
        return Response(text=f"<{conversation.prompt}>", tool_calls=(call,), cost_usd=1.0, turns=1, **self.more)

    def identity(self):
        return ModelIdentity(type="script")


def answered(script, asked=ASKED):
    return UserTarget(script, script).answer(asked)


def test_the_target_gets_each_message_with_those_before_and_its_answers_are_one():
    script = Script("a", "b")
    found = answered(script)
    assert [(one.turn, one.prompt, len(one.history), one.user) for one in script.asked] == [
        (1, "a", 0, None),
        (2, "b", 2, None),
    ]
    assert (found.text, found.cost_usd, found.turns) == ("<a>\n\n<b>", 2.0, 2)
    assert [call.name for call in found.tool_calls] == ["tool a", "tool b"]
    assert [message.content for message in found.conversation.messages] == ["a", "<a>", "b", "<b>"]
    assert (found.conversation.ended, found.conversation.cost_usd) == (True, 1.5)


def test_a_user_who_does_not_stop_is_cut_at_max_turns():
    script = Script("a", "b", "c", "d")
    assert answered(script).conversation.ended is False
    assert (len(script.asked), script.texts) == (3, ["d"])


def test_a_user_or_a_target_that_fails_ends_the_turn_with_its_problem_and_what_was_paid():
    late = Problem(code="user_timeout", message="late")
    found = answered(Script("a", UserMessage(problem=late, model="m", cost_usd=0.5)))
    assert (found.problem, found.cost_usd, found.conversation.cost_usd) == (late, 1.0, 1.0)
    broken = Problem(code="target_failed", message="broken")
    found = answered(Script("a", "b", problem=broken, model="t"))
    assert (found.problem, len(found.conversation.messages), found.conversation.ended) == (broken, 1, False)


def test_other_turns_are_the_targets():
    script = Script("a")
    plain = replace(ASKED, user=None, prompt="x")
    assert answered(script, plain).text == "<x>"
    assert UserTarget(script, ModelIdentityOnly()).identity().detail == {"simulated_user": {"model": "m"}}


class ModelIdentityOnly:
    @staticmethod
    def identity():
        return {"model": "m"}


SUITE = {
    "schemaVersion": "1.2.0",
    "default_evaluators": {},
    "items": [
        {
            "testId": key,
            "turns": [
                {"user": {"persona": key, "goal": "a refund"}, "evaluators": {"contains": {"value": "R-1"}}},
                {"prompt": "Sum up.", "evaluators": {"rubric": {"rubric": "It sums up."}}},
            ],
        }
        for key in ("ann", "bob")
    ],
}
AGENT = """
def answer(prompt, messages):
    return "R-1" if "4711" in prompt else str([message["content"] for message in messages])
"""


SETTINGS = """
target: {type: python, function: 'agent.py:answer'}
judge: {model: big}
prices: {big-2026-09: {input: 1, output: 1}}
"""


class Model:
    """Plays users, of whom bob fails until `bob_works`, and judges."""

    bob_works = False

    def __call__(self, body, number):
        system, shown = (message["content"] for message in body["messages"][:2])
        told = {"reasoning": "yes", "score": 5}
        if "You play a user" in system:
            if "Persona: bob" in system and not self.bob_works:
                return Reply("I do not play.")
            done = "R-1" in shown
            told = {"done": done, "message": "" if done else "Order 4711" if "YOU" in shown else "Hi"}
        return Reply(json.dumps({**told, "nonce": nonce_of(body)}))


def test_a_run_plays_users_prices_them_and_asks_for_no_finished_conversation_again(project, runevals, monkeypatch):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    project.write("runevals.yaml", SETTINGS)
    model = Model()
    with chat_server(model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        code, out, err = runevals("run", "evals.json", "--cache", "none", "-o", "out.json")
        ended(code, 3, out + err, "user_unparseable")
        first = {case["key"]: case["attempts"][0]["turns"] for case in project.document()["cases"]}
        model.bob_works = True
        before = len(server.requests)
        code, out, err = runevals("run", "--resume")
        ended(code, 0, out + err)
        again = [body["messages"][0]["content"] for body in server.requests[before:]]
    turns = first["ann"]
    said = [message["content"] for message in turns[0]["conversation"]["messages"]]
    assert said == ["Hi", "['Hi']", "Order 4711", "R-1"]
    assert turns[0]["prompt"] == "Simulated user: ann\nGoal: a refund"
    assert turns[1]["output"] == str([*said, "Sum up."])
    assert first["bob"][1]["error"]["code"] == "turn_skipped"
    assert not any("Persona: ann" in system for system in again)
    assert sum("Persona: bob" in system for system in again) == 3
    document = project.document()
    assert document["totals"]["judge_cost_usd"] == pytest.approx(8 * 15 / 1e6)  # 2 × 3 of users, 2 of the judge
    assert document["run"]["target"]["detail"]["simulated_user"]["model"] == "big"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ((), "there is none\nName a model"),
        (("--no-judge",), "none with --no-judge"),
        (("--judge", "recorded:judge.jsonl"), "a recorded judge cannot"),
    ],
)
def test_users_without_a_model_to_play_them_are_a_usage_error_before_anything_is_sent(
    project, runevals, more, reason
):
    project.write("evals.json", {**SUITE, "items": [{"testId": "ann", "turns": SUITE["items"][0]["turns"][:1]}]})
    project.write("judge.jsonl", "")
    project.write("agent.py", AGENT)
    code, _, err = runevals("run", "evals.json", "--target", "python:agent.py:answer", *more)
    ended(code, 2, err, "evals.json:5:3: 1 case with a simulated user (ann)", reason)
