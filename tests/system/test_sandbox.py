"""Workers die without harm, and see nothing of ours."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runevals.evaluators.kinds import Call
from runevals.sandbox import Sandbox


def regex(pattern: str, text: str = "", **more) -> Call:
    return Call(kind="regex", code=pattern, arguments={"flags": "", "text": text}, **more)


def children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def test_calls_from_many_threads_get_their_own_answers():
    with Sandbox(workers=2) as sandbox, ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda n: sandbox.call(regex(f"^{n}$", str(n % 50))).value, range(200))
        assert list(answers) == [n < 50 for n in range(200)]


def test_other_calls_go_on_while_one_runs_away():
    with Sandbox(workers=2) as sandbox, ThreadPoolExecutor(4) as pool:
        runaway = pool.submit(sandbox.call, regex("(a+)+$", "a" * 40_000 + "b"))
        others = [pool.submit(sandbox.call, regex("b", "ab")) for _ in range(20)]
        assert all(other.result().value is True for other in others)
        assert runaway.result().error == "evaluator_timeout"


@pytest.mark.needs("linux")
def test_a_killed_worker_costs_one_retry():
    before = children()
    with Sandbox(workers=1) as sandbox:
        assert sandbox.call(regex("a", "a")).value is True
        (worker,) = children() - before
        os.kill(worker, signal.SIGKILL)
        assert sandbox.call(regex("b", "ab")).value is True


@pytest.mark.needs("linux")
def test_workers_have_no_environment_and_end_with_the_sandbox(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "do-not-hand-on")
    before = children()
    with Sandbox(workers=1) as sandbox:
        sandbox.call(regex("a", "a"))
        (worker,) = children() - before
        assert Path(f"/proc/{worker}/environ").read_bytes() == b""
    assert children() == before


def test_memory_is_limited():
    with Sandbox(workers=1) as sandbox:
        answer = sandbox.call(regex("(?:" * 200_000, "a", timeout_s=5.0))
        assert answer.error in ("evaluator_memory", "evaluator_crashed", "evaluator_syntax")
        assert sandbox.call(regex("a", "a")).value is True
