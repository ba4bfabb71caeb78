"""Kept answers of a target: what makes a call the same, and what is never kept. A real server counts the calls."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from msgspec.structs import replace

from runevals.models.chat.chat import Chat, Endpoint
from runevals.models.http.throttle import Throttle
from runevals.records import Conversation, Message
from runevals.targets.cached import CachedTarget
from runevals.targets.openai import OpenAITarget
from tests.chat_server import Reply, chat_server

MOCKS = {"mocks": [{"tool": "Read", "response": "the file"}]}
ASKED = Conversation(
    suite="s",
    case="c",
    attempt=1,
    turn=2,
    prompt="And then?",
    history=(Message(role="user", content="One?"), Message(role="assistant", content="1")),
)


@pytest.fixture
def server():
    with chat_server(lambda body, n: Reply(f"answer {n}")) as running:
        yield running


@pytest.fixture
def target_of(server, open_cache):
    """Makes a target as a new run would; every one has the same cache."""

    def make(*, key="a-key", model="tiny", system="Be kind.", parameters=None, base_url=server.base_url):
        endpoint = Endpoint(model=model, api_key=key, base_url=base_url)
        chat = Chat(endpoint, Throttle(first_delay_s=0.01, max_attempts=1))
        target = OpenAITarget(chat, system_prompt=system, parameters=parameters or {})
        return CachedTarget(target, open_cache(), redact=lambda text: text.replace("secret", "***"))

    return make


def test_the_same_call_is_made_once_and_the_second_answer_is_marked_as_cached(target_of, server):
    first, second = target_of().answer(ASKED), target_of().answer(ASKED)
    assert len(server.requests) == 1
    assert not first.cached
    assert second == replace(first, cached=True)


def test_tool_calls_of_a_cached_answer_are_unchanged(target_of):
    def answer(body, n):
        return Reply("done") if n % 2 else Reply(None, tool_calls=[("Read", {"path": "é"})])

    asked = replace(ASKED, metadata=MOCKS)
    with chat_server(answer) as server:
        first = target_of(base_url=server.base_url).answer(asked)
        assert first.tool_calls[0].input == {"path": "é"}
        assert target_of(base_url=server.base_url).answer(asked) == replace(first, cached=True)


@pytest.mark.parametrize(
    "changed",
    [
        {"attempt": 2},
        {"turn": 1},
        {"case": "d"},
        {"suite": "t"},
        {"prompt": "And then ?"},
        {"history": ()},
        {"metadata": MOCKS},
        {"metadata": {"mocksStrict": True}},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_any_change_of_the_call_misses_the_cache(target_of, server, changed):
    target_of().answer(ASKED)
    assert not target_of().answer(replace(ASKED, **changed)).cached
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "changed", [{"model": "big"}, {"system": "Be brief."}, {"system": None}, {"parameters": {"seed": 1}}], ids=str
)
def test_another_target_misses_the_cache(target_of, changed):
    target_of().answer(ASKED)
    assert not target_of(**changed).answer(ASKED).cached


def test_a_change_that_the_target_does_not_see_hits_the_cache(target_of, server):
    target_of().answer(ASKED)
    assert target_of().answer(replace(ASKED, metadata={"author": "A"}, thread="other")).cached


def test_the_identity_names_the_model_of_cached_answers(target_of):
    target_of().answer(ASKED)
    later = target_of()
    later.answer(ASKED)
    assert later.identity().reported == ("tiny-2026-09",)


def test_a_cached_answer_forged_without_the_key_is_ignored(target_of, tmp_path):
    target_of(key="somebody-else").answer(ASKED)
    assert not target_of().answer(ASKED).cached


def test_a_cached_answer_that_was_changed_is_ignored(target_of, tmp_path):
    target_of().answer(ASKED)
    with closing(sqlite3.connect(tmp_path / "answers-1.sqlite")) as file:
        file.execute("UPDATE answers SET answer = replace(answer, 'answer 0', 'planted')")
        file.commit()
    assert target_of().answer(ASKED).text == "answer 1"


def test_an_answer_with_a_secret_is_not_cached(target_of, tmp_path):
    with chat_server(lambda body, n: Reply("the secret is out")) as server:
        for _ in range(2):
            answer = target_of(base_url=server.base_url).answer(ASKED)
            assert (answer.text, answer.cached) == ("the secret is out", False)
    assert b"is out" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_problems_are_not_cached(target_of):
    with chat_server(lambda body, n: Reply(status=500) if n == 0 else Reply("Hi")) as server:
        target = target_of(base_url=server.base_url)
        assert target.answer(ASKED).problem.code == "target_failed"
        assert (target.answer(ASKED).text, target.answer(ASKED).cached) == ("Hi", True)


def test_a_lone_surrogate_survives_the_cache(target_of):
    with chat_server(lambda body, n: Reply("\ud83d")) as server:
        target = target_of(base_url=server.base_url)
        assert [target.answer(ASKED).text for _ in range(2)] == ["\ud83d", "\ud83d"]
        assert len(server.requests) == 1
