"""A function of this program as target."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from functools import wraps

import pytest

from runevals.records import Conversation
from runevals.targets.function import FunctionTarget

ASKED = Conversation(suite="s", case="c", attempt=1, turn=1, prompt="Why?")
LOOPS = set()


async def slow(prompt):
    await asyncio.sleep(0.01)
    LOOPS.add(asyncio.get_running_loop())
    return prompt


class Agent:
    def answer(self, prompt, messages):
        return f"{prompt} {len(messages)}"

    def __call__(self, prompt):
        return prompt


def broken(prompt):
    raise KeyError(prompt)


def answers(function, most=1):
    target = FunctionTarget(function, deterministic=False)
    try:
        with ThreadPoolExecutor(4) as threads:
            return list(threads.map(target.answer, [ASKED] * most))
    finally:
        target.close()


@pytest.mark.parametrize(
    ("function", "text"),
    [
        pytest.param(str.upper, "WHY?", id="only the prompt"),
        pytest.param(lambda p, messages, case: f"{p} {len(messages)} {case['key']}", "Why? 1 c", id="all three"),
        pytest.param(lambda _: {"output": "Because", "cost_usd": 0.5}, "Because", id="an object"),
        pytest.param(slow, "Why?", id="async"),
        pytest.param(lambda *given: str(len(given)), "3", id="as many as there are"),
        pytest.param(
            lambda p, model="large", messages=None: f"{p} {model} {messages}", "Why? large None", id="own"
        ),
        pytest.param(
            lambda p, messages=None, model="m": f"{p} {len(messages)} {model}", "Why? 1 m", id="named so"
        ),
        pytest.param(lambda p, case: f"{p} {case['key']}", "Why? c", id="the case alone"),
        pytest.param(
            lambda p, case, messages: f"{p} {case['key']} {len(messages)}", "Why? c 1", id="in another order"
        ),
        pytest.param(
            wraps(slow)(lambda p, model="large": f"{p} {model}"), "Why? large", id="a decorated one's own"
        ),
        pytest.param(lambda p, /, *, loud=False: f"{p} {loud}", "Why? False", id="one by name"),
        pytest.param(wraps(slow)(lambda p, messages: f"{p} {len(messages)}"), "Why? 1", id="a decorated one"),
        pytest.param(wraps(str.upper)(lambda *given: given[0]), "Why?", id="a decorator of any function"),
        pytest.param(Agent().answer, "Why? 1", id="a method"),
        pytest.param(Agent(), "Why?", id="an object that is called"),
    ],
)
def test_a_function_is_called_with_what_it_takes(function, text):
    [answer] = answers(function)
    assert (answer.text, answer.problem) == (text, None)


def test_calls_of_an_async_function_share_one_event_loop():
    LOOPS.clear()
    assert [answer.text for answer in answers(slow, 8)] == ["Why?"] * 8
    assert len(LOOPS) == 1


@pytest.mark.parametrize(
    ("function", "code", "message"),
    [
        pytest.param(broken, "target_failed", r"KeyError: 'Why\?' \(.*test_function.py:\d+\)", id="an error"),
        pytest.param(lambda _: 3, "target_unparseable", "the function returned int", id="a number"),
    ],
)
def test_what_is_no_answer_is_a_problem(function, code, message):
    [answer] = answers(function)
    assert answer.problem.code == code
    assert re.match(message, answer.problem.message)
