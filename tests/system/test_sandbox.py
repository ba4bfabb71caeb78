"""Workers die without harm, and see nothing of ours."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from runevals.records.errors import SandboxUnavailable
from runevals.records.script import Call
from runevals.sandbox import Sandbox


def regex(pattern: str, text: str = "", **more) -> Call:
    """A pattern that needs a worker, as it looks ahead."""
    return Call(kind="regex", code=f"(?=){pattern}", arguments={"flags": "", "text": text}, **more)


def children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def test_calls_from_many_threads_get_their_own_answers():
    with Sandbox(workers=2) as sandbox, ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda n: sandbox.run(regex(f"^{n}$", str(n % 50))).value, range(200))
        assert list(answers) == [n < 50 for n in range(200)]


def test_other_calls_go_on_while_one_runs_away():
    with Sandbox(workers=2) as sandbox, ThreadPoolExecutor(4) as pool:
        runaway = pool.submit(sandbox.run, regex("(a+)+$", "a" * 40_000 + "b"))
        others = [pool.submit(sandbox.run, regex("b", "ab")) for _ in range(20)]
        assert all(other.result().value is True for other in others)
        assert runaway.result().error == "evaluator_timeout"


def test_the_groups_of_a_pattern_are_those_of_javascript():
    def groups(pattern: str, text: str) -> object:
        return sandbox.run(Call(kind="regex_groups", code=pattern, arguments={"text": text})).value

    with Sandbox(workers=1) as sandbox:
        assert groups("(a)|(b)(?<c>c)?", "xb") == ["b", None, "b", None]
        assert groups("a", "b") is None


@pytest.mark.needs("linux")
def test_a_killed_worker_costs_one_retry():
    before = children()
    with Sandbox(workers=1) as sandbox:
        assert sandbox.run(regex("a", "a")).value is True
        (worker,) = children() - before
        os.kill(worker, signal.SIGKILL)
        assert sandbox.run(regex("b", "ab")).value is True


@pytest.mark.needs("linux")
def test_workers_have_no_environment_and_end_with_the_sandbox(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "do-not-hand-on")
    before = children()
    with Sandbox(workers=1) as sandbox:
        sandbox.run(regex("a", "a"))
        (worker,) = children() - before
        with suppress(PermissionError):  # only root sees it: the worker is not dumpable
            assert Path(f"/proc/{worker}/environ").read_bytes() == b""
    assert children() == before


def test_memory_is_limited():
    with Sandbox(workers=1) as sandbox:
        answer = sandbox.run(regex("(?:" * 200_000, "a", timeout_s=5.0))
        assert answer.error in ("evaluator_memory", "evaluator_crashed", "evaluator_syntax")
        assert sandbox.run(regex("a", "a")).value is True


def grader(sandbox, code, *, language="python", kind="evaluator", timeout_s=5.0, **arguments):
    given = {"input": "?", "output": "x", "expected": None, "metadata": {}, "sample": {}, "assertion": {}}
    return sandbox.call(
        code=code,
        filename="grader.py",
        language=language,
        kind=kind,
        arguments={**given, **arguments},
        timeout_s=timeout_s,
    )


PASSES = {
    "python": "def evaluate(i, o, e, m):\n    return {'passed': True}",
    "javascript": "module.exports = () => ({passed: true})",
}


@pytest.mark.needs("linux")
@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_zygote_killed_in_the_middle_of_a_run_costs_one_retry(language):
    before = children()
    with Sandbox(workers=1) as sandbox, ThreadPoolExecutor(4) as pool:
        assert grader(sandbox, PASSES[language], language=language).passed is True
        answers = [pool.submit(grader, sandbox, PASSES[language], language=language) for _ in range(200)]
        for _ in range(3):
            for worker in children() - before:
                os.kill(worker, signal.SIGKILL)
            time.sleep(0.05)
        assert {answer.result().passed for answer in answers} == {True}


def test_a_grader_that_is_late_three_times_in_a_row_is_not_run_again():
    endless = "def evaluate(i, o, e, m):\n    while o != 'x1':\n        pass\n    return {'passed': True}"
    with Sandbox(workers=1) as sandbox:
        for output in ("a", "b", "x1", "a", "b", "c"):
            grader(sandbox, endless, timeout_s=0.2, output=output)
        answer = grader(sandbox, endless, timeout_s=0.2, output="x1")
        assert answer.error == "evaluator_timeout"
        assert answer.reason == "not run: this grader timed out 3 times in a row"
        assert grader(sandbox, PASSES["python"]).passed is True


def test_calls_that_wait_for_a_worker_are_not_run_once_their_grader_timed_out_three_times():
    endless = "def evaluate(i, o, e, m):\n    while True:\n        pass"
    with Sandbox(workers=1) as sandbox, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: grader(sandbox, endless, timeout_s=0.1), range(8)))
    assert {answer.error for answer in answers} == {"evaluator_timeout"}
    assert sum("not run" in str(answer.reason) for answer in answers) == 5


CUSTOM = """
export default function (output, {sample, assertion}) {
  return {pass: output === 'x' && sample.id === 's' && assertion.type === 'custom', message: 'm'};
}
"""


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "def check(output, sample, assertion):\n    return {'pass': output == 'x', 'message': 'm'}"),
        ("javascript", CUSTOM),
    ],
)
def test_custom_assertions_answer_in_their_own_words(language, code):
    with Sandbox(workers=1) as sandbox:
        more = {"sample": {"id": "s"}, "assertion": {"type": "custom"}}
        answer = grader(sandbox, code, language=language, kind="assertion", **more)
        assert (answer.passed, answer.reason, answer.error) == (True, "m", None)
        true = PASSES["javascript"].replace("({passed: true})", "true")
        assert grader(sandbox, true, language="javascript", kind="assertion").passed is True


SKILL = """
import json, time
import helper

def action(text, mock_data=None):
    if text == "wait":
        time.sleep(30)
    if text == "fail":
        raise ValueError("no such text")
    return {"text": helper.shout(text), "mocked": mock_data, "constant": MOCK_DATA}
"""


def skill(sandbox, text, timeout_s=5.0):
    modules = {"helper": "def shout(text):\n    return text.upper()\n"}
    return sandbox.call(
        code=SKILL,
        filename="skill.py",
        language="python",
        kind="skill",
        arguments={"input": {"text": text}, "mock_data": {"k": 1}, "modules": modules},
        timeout_s=timeout_s,
    )


def test_skills_run_with_the_modules_beside_them_and_end_at_their_deadline():
    with Sandbox(workers=1) as sandbox:
        assert skill(sandbox, "hi").value == {"text": "HI", "mocked": {"k": 1}, "constant": {"k": 1}}
        failed = skill(sandbox, "fail")
        assert (failed.error, failed.reason) == ("evaluator_crashed", "ValueError: no such text (line 9)")
        late = skill(sandbox, "wait", timeout_s=0.3)
        assert (late.error, late.duration_s) == ("evaluator_timeout", 0.3)


@pytest.mark.needs("linux")
def test_pattern_workers_are_locked_in_too():
    before = children()
    with Sandbox(workers=1) as sandbox:
        sandbox.run(regex("a", "a"))
        (worker,) = children() - before
        status = Path(f"/proc/{worker}/status").read_text()
        assert "Seccomp:\t2" in status
        schema = '{"anyOf": [{"format": "date-time"}, {"format": "idn-hostname"}, {"format": "iri"}]}'
        answer = sandbox.run(Call(kind="json_schema", code=schema, arguments={"text": '"2026-01-01T00:00:00Z"'}))
        assert answer.value == []


@pytest.mark.needs("linux")
def test_an_answer_that_nobody_took_is_never_given_to_another_call():
    """As a test's own time-out does it: an exception out of nowhere in the middle of a call."""
    slow = "def evaluate(i, o, e, m):\n    sum(range(20_000_000))\n    return {'passed': True, 'reason': 'first'}"

    def stop(_signal, _frame):
        raise KeyboardInterrupt

    with Sandbox(workers=1) as sandbox:
        assert grader(sandbox, PASSES["python"]).passed is True
        before = signal.signal(signal.SIGALRM, stop)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt):
                grader(sandbox, slow)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert grader(sandbox, "def evaluate(i, o, e, m):\n    return {'passed': False}").passed is False


@pytest.mark.needs("linux")
def test_a_worker_that_does_not_read_cannot_hold_us():
    before = children()
    with Sandbox(workers=1) as sandbox:
        assert grader(sandbox, PASSES["python"]).passed is True
        (worker,) = children() - before
        os.kill(worker, signal.SIGSTOP)
        answer = grader(sandbox, PASSES["python"], timeout_s=0.5, output="x" * 1_000_000)
        assert answer.error == "evaluator_timeout"


def test_a_closed_sandbox_runs_nothing_and_parameters_are_checked():
    sandbox = Sandbox(workers=1)
    sandbox.close()
    with pytest.raises(SandboxUnavailable, match="closed"):
        grader(sandbox, PASSES["python"])
    with pytest.raises(ValueError, match="at least one worker"):
        Sandbox(workers=0)
    with Sandbox(workers=1) as other:
        for wrong in ({"timeout_s": float("inf")}, {"kind": "grader"}, {"language": "ruby"}):
            with pytest.raises(ValueError, match=r"timeout_s|kind|language"):
                grader(other, "", **wrong)


def test_forged_answers_are_refused():
    reach = "w = __import__('json').codecs.sys.modules['posix']\n"
    for text in ('{"value": {"passed": true, "details": {"x": 1e999}}}', '{"error": []}', '{"error": {}}'):
        with Sandbox(workers=1) as sandbox:
            answer = grader(sandbox, f"{reach}w.write(3, {text.encode()!r})\nw._exit(0)")
            assert (answer.passed, answer.error) == (None, "evaluator_bad_result")
