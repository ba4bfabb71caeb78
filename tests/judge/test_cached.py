"""Kept judgements: what makes a question the same, and what cannot be planted. A real server counts the calls."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from msgspec.structs import replace

from runevals.judge.cached import CachedJudge
from runevals.judge.model import ModelJudge
from runevals.models.chat.chat import Chat, Endpoint
from runevals.models.http.throttle import Throttle
from tests.chat_server import Reply, chat_server
from tests.judge.replies import QUESTION, verdict


@pytest.fixture
def server():
    with chat_server(lambda body, n: Reply(verdict(body, 1 + n % 5))) as running:
        yield running


@pytest.fixture
def judge_of(server, open_cache):
    """Makes a judge as a new run would; every one has the same cache."""

    def make(*, vote=1, key="a-key", parameters=None, model="big"):
        cache = open_cache()
        endpoint = Endpoint(model=model, api_key=key, base_url=server.base_url)
        judge = ModelJudge(Chat(endpoint, Throttle(first_delay_s=0.01)), parameters or {})
        return CachedJudge(judge, cache, vote=vote, redact=lambda text: text.replace("point", "[redacted]"))

    return make


def ask(judge, question=QUESTION, case="c", turn=1, attempt=1):
    return judge.ask(question, case=case, turn=turn, attempt=attempt)


def test_the_same_question_to_a_judge_is_paid_for_once(judge_of, server):
    first, second = ask(judge_of()), ask(judge_of())
    assert first.score == second.score == 1.0
    assert len(server.requests) == 1
    assert (first.cached, second.cached) == (False, True)
    assert (second.cost_usd, second.input_tokens) == (0.0, 0)
    assert second.model == first.model


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ({}, {}),
        ({"accuracy": 4, "clarity": "2"}, {"accuracy": 4.0, "clarity": 2.0}),
        ({"accuracy": 9, "clarity": True}, {}),
    ],
)
def test_dimensions_are_asked_for_and_a_reply_without_them_is_valid(open_cache, more, kept):
    question = replace(QUESTION, dimensions=("accuracy", "clarity"))

    def reply(body, _):
        return Reply(json.dumps({**json.loads(verdict(body, 3)), **more}))

    with chat_server(reply) as server:
        endpoint = Endpoint(model="big", api_key="k", base_url=server.base_url)
        judge = ModelJudge(Chat(endpoint, Throttle()), {})
        cached = CachedJudge(judge, open_cache(), vote=1, redact=str)
        answers = [ask(cached, question), ask(cached, question)]
    assert [(one.score, dict(one.dimensions), one.cached) for one in answers] == [
        (3.0, kept, False),
        (3.0, kept, True),
    ]
    sent = json.dumps(server.requests[0])
    assert all(name in sent for name in question.dimensions)


def test_the_identity_names_the_model_of_cached_answers(judge_of):
    ask(judge_of())
    later = judge_of()
    ask(later)
    assert later.identity().reported == ("big-2026-09",)


@pytest.mark.parametrize(
    "changed",
    [
        {"question": replace(QUESTION, parts=(("PROMPT", "Why?"), ("RESPONSE", "Because!")))},
        {"question": replace(QUESTION, instructions="Score it well.")},
        {"question": replace(QUESTION, model="other")},
        {"attempt": 2},
    ],
    ids=["answer", "instructions", "model", "attempt"],
)
def test_any_change_of_the_question_misses_the_cache(judge_of, server, changed):
    ask(judge_of())
    assert not ask(judge_of(), **changed).cached
    assert len(server.requests) == 2


@pytest.mark.parametrize("changed", [{"vote": 2}, {"model": "small"}, {"parameters": {"temperature": 1}}], ids=str)
def test_another_judge_or_vote_misses_the_cache(judge_of, changed):
    ask(judge_of())
    assert not ask(judge_of(**changed)).cached


def test_equal_answers_of_other_cases_share_a_judgement(judge_of):
    ask(judge_of(), case="a")
    assert ask(judge_of(), case="b", turn=2).cached


def test_texts_in_different_unicode_forms_are_different_questions(judge_of):
    ask(judge_of(), replace(QUESTION, parts=(("RESPONSE", "é"),)))
    assert not ask(judge_of(), replace(QUESTION, parts=(("RESPONSE", "e\u0301"),))).cached


def test_a_cached_answer_forged_without_the_key_is_ignored(judge_of, server, tmp_path):
    ask(judge_of(key="somebody-else"))
    found = ask(judge_of())
    assert not found.cached
    with closing(sqlite3.connect(tmp_path / "answers-1.sqlite")) as file:
        kept = file.execute("SELECT key, answer FROM answers").fetchall()
        for key, answer in kept:
            file.execute("UPDATE answers SET answer = ? WHERE key = ?", (answer.replace("[1.0", "[5.0"), key))
        file.commit()
    assert ask(judge_of()).score != 5.0
    assert len(server.requests) == 3


def test_secrets_in_a_reason_are_not_cached(judge_of, tmp_path):
    assert "point" in ask(judge_of()).reason
    assert ask(judge_of()).reason == "to the [redacted]"
    assert b"to the point" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_problems_are_not_cached(open_cache):
    with chat_server(lambda body, n: Reply("no json") if n < 2 else Reply(verdict(body, 4))) as server:
        endpoint = Endpoint(model="big", api_key="k", base_url=server.base_url)
        cache = open_cache()
        chat = Chat(endpoint, Throttle(first_delay_s=0.01))
        judge = CachedJudge(ModelJudge(chat, {}), cache, vote=1, redact=str)
        assert ask(judge).problem.code == "judge_unparseable"
        assert ask(judge).score == 4.0
