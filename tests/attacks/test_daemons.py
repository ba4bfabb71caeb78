"""What a program under test leaves running ends with the run, however it hides: on a laptop and a runner too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.ending import ended
from tests.sample_suites import EXACT, numbered

pytestmark = pytest.mark.needs("linux")

DAEMON = """\
import os, pathlib, signal, sys, time

def daemon(rewritten):
    if child := os.fork():
        os.waitpid(child, 0)  # until it has its session
        return
    os.setsid()
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    with open("sessions", "a") as file:
        file.write(f"{os.getpid()}\\n")
    if os.fork():
        os._exit(0)
    for each in (0, 1, 2):
        os.dup2(os.open(os.devnull, os.O_RDWR), each)
    ends_at = time.monotonic() + 60
    while time.monotonic() < ends_at:
        if os.path.exists(rewritten):
            pathlib.Path(rewritten).write_text("forged")
        time.sleep(0.001)
"""
PYTHON = f"{DAEMON}\ndef answer(prompt):\n    daemon('results.json')\n    return 'yes'\n"
COMMAND = f"{DAEMON}\ndaemon('results.json')\nprint('yes')\n"
FORKING = PYTHON.replace("time.sleep(0.001)", "os.fork() and os._exit(0)")  # a process for a moment only


def alive(folder):
    """The sessions that daemons run in; a zombie does not."""
    sessions, found = (folder / "sessions").read_text(encoding="utf-8").split(), set()
    for _ in range(20):  # one that forks is easily missed
        for process in Path("/proc").glob("[0-9]*"):  # with "/stat", it would raise for one that has ended
            with suppress(OSError):
                stat = (process / "stat").read_text(encoding="utf-8")
                state, _, _, session, *_ = stat.rpartition(") ")[2].split()
                found |= {session} & set(sessions) if state not in "ZX" else set()
    return found


@pytest.fixture
def attacked(project):
    """A project with a program that leaves a daemon; `attacked.run()` is the command line, as a process."""
    project.write("evals.json", {**EXACT, "items": numbered(2, "yes")})

    def run(target, *words):
        command = [sys.executable, "-m", "runevals", "run", "--target", target, "-o", "results.json", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    project.run = run
    yield project
    for session in alive(project.path):
        os.killpg(int(session), signal.SIGKILL)


def test_the_daemon_outlives_a_program_that_nobody_looks_after(attacked):
    """The control."""
    attacked.write("agent.py", COMMAND)
    subprocess.run([sys.executable, "agent.py"], check=True, timeout=60)
    attacked.write("results.json", "ours")
    ends_at = time.monotonic() + 60
    while (attacked.path / "results.json").read_text(encoding="utf-8") != "forged":  # rewritten all the time
        assert time.monotonic() < ends_at
        time.sleep(0.05)
    assert alive(attacked.path)


@pytest.mark.parametrize(
    ("program", "target"),
    [
        (PYTHON, "python:agent.py:answer"),
        (COMMAND, f"command:{sys.executable} agent.py"),
        (FORKING, "python:agent.py:answer"),
    ],
    ids=["python", "command", "forking"],
)
def test_a_daemon_ends_with_the_run_and_rewrites_no_result(attacked, program, target):
    attacked.write("agent.py", program)
    done = attacked.run(target)
    ended(done.returncode, 0, done.stdout + done.stderr, "2 of 2 cases pass")
    assert (attacked.path / "sessions").read_text(encoding="utf-8").split()
    assert alive(attacked.path) == set()
    assert (attacked.path / "results.json").read_text(encoding="utf-8").startswith("{")


def test_a_daemon_that_holds_the_output_open_does_not_hold_the_run(attacked):
    holding = COMMAND.replace("    for each in (0, 1, 2):", "    for each in ():")
    attacked.write("agent.py", holding)
    target = {"type": "command", "command": [sys.executable, "agent.py"], "timeout_s": 2}
    attacked.write("settings.json", {"target": target})
    command = [sys.executable, "-m", "runevals", "run", "--config", "settings.json", "-o", "results.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    ended(done.returncode, 3, done.stdout + done.stderr, "a process that it left holds its output open")
    assert alive(attacked.path) == set()


def test_a_daemon_of_an_interrupted_run_ends_too(attacked):
    attacked.write("agent.py", PYTHON.replace("return 'yes'", "time.sleep(60)"))
    command = [sys.executable, "-m", "runevals", "run", "--target", "python:agent.py:answer"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        while not (attacked.path / "sessions").exists():
            time.sleep(0.05)
        for _ in range(2):  # the second does not wait for answers under way
            running.send_signal(signal.SIGINT)
            time.sleep(0.3)
        running.communicate(timeout=30)
    assert running.returncode == 130
    assert alive(attacked.path) == set()
