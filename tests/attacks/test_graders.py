"""A grader has nothing but its own call: no system call that leads out, no text of another call in its memory."""

from __future__ import annotations

import json
import platform
import secrets

import pytest

from runevals.sandbox import Sandbox
from runevals.sandbox.lock import _CALLS
from tests.attacks.graders import SEARCH_MEMORY, SYSTEM_CALLS

REACH = "import collections\nwrite = collections._sys.modules['posix'].write\n"


def grader(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{REACH}def evaluate(input, output, expected, metadata):\n{lines}"


# How the calls before end → their code: what they were given and what they say may stay somewhere.
ENDS = {
    None: grader("return {'passed': True, 'reason': output, 'details': {'seen': [input, expected, metadata]}}"),
    "evaluator_crashed": grader("print(output)\nraise ValueError(output)"),
    "evaluator_bad_result": grader("return {'passed': True, 'reason': output * (1_200_000 // len(output))}"),
    "evaluator_memory": grader("return {'passed': [output] * 10**9}"),
    "evaluator_timeout": grader("write(3, output.encode())\nwhile True:\n    pass"),
}
SHAPES = {
    "short": lambda text: text,
    "a page": lambda text: f"{text} " * 100,
    "a book": lambda text: f"{text} " * 2_000,
    "escaped": lambda text: json.dumps({"ü\n": text}),
}


def evaluated(sandbox, code, text, timeout_s=20.0):
    arguments = {"input": text, "output": text, "expected": text, "metadata": {text[:40]: [text]}}
    return sandbox.call(
        code=code,
        filename="grader.py",
        language="python",
        kind="evaluator",
        arguments=arguments,
        timeout_s=timeout_s,
    )


def acted(sandbox, code, text):
    """The same of a skill; it has the same function, called by `action`."""
    return sandbox.call(
        code=f"{code}\ndef action(text):\n    return evaluate(text, text, text, {{text: text}})\n",
        filename="skill.py",
        language="python",
        kind="skill",
        arguments={"input": {"text": text}, "mock_data": {"text": text}, "modules": {"other": f"# {text}"}},
        timeout_s=20,
    )


def canary() -> str:
    return f"canary-{secrets.token_hex(12)}"


def found(details) -> set[str]:
    assert details["bytes"] > 4 * 1024**2
    return {beginning(text) for text in details["found"]}


def beginning(text: str) -> str:
    """What tells one canary from another: a grader also finds freed copies of its own, with another end."""
    return text[: len("canary-") + 8]


@pytest.mark.needs("linux")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_grader_finds_no_text_of_the_calls_before_in_its_memory(shape):
    """Its own text it does find: the search is one that works."""
    with Sandbox(workers=1) as sandbox:
        for error, code in ENDS.items():
            answer = evaluated(sandbox, code, SHAPES[shape](canary()), 0.3 if error == "evaluator_timeout" else 20)
            assert answer.error == error
        own = canary()
        answer = evaluated(sandbox, SEARCH_MEMORY, SHAPES[shape](own))
        assert found(answer.details) == {beginning(own)}


@pytest.mark.needs("linux")
@pytest.mark.parametrize("shape", SHAPES)
def test_nor_does_a_skill(shape):
    with Sandbox(workers=1) as sandbox:
        for _ in range(3):
            assert acted(sandbox, ENDS[None], SHAPES[shape](canary())).error is None
        own = canary()
        assert found(acted(sandbox, SEARCH_MEMORY, SHAPES[shape](own)).value["details"]) == {beginning(own)}


PROBES = {335, 336}  # uretprobe and uprobe: the kernel lets them past every filter; they lead nowhere


def not_refused(numbers) -> set[int]:
    with Sandbox(workers=1) as sandbox:
        answer = evaluated(sandbox, SYSTEM_CALLS % ", ".join(map(str, numbers)), "x")
    assert answer.error is None, answer
    assert answer.details["asked"] == len(numbers)
    return {int(number) for number in answer.details["not refused"]}


@pytest.mark.needs("linux")
@pytest.mark.parametrize("above", [0, 1 << 32, 1 << 33, -(1 << 32)])
def test_every_other_system_call_is_refused(above):
    """Whatever stands in the half of the number that the kernel does not read."""
    ours = set(_CALLS[platform.machine()].values())
    others = [number + above for number in range(640) if number not in ours | PROBES]
    assert not_refused(others) == set()


@pytest.mark.needs("linux")
def test_the_system_calls_of_the_list_are_answered():
    """The control."""
    calls = _CALLS[platform.machine()]
    harmless = [calls[name] for name in ("getpid", "gettid", "sched_yield", "close")]
    assert not_refused(harmless) == set(harmless)
