"""Exchanges with real programs."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from runevals.programs.exchange import Exchange

ENV = {"PATH": "/usr/bin:/bin"}


def exchange(tmp_path: Path, code: str, **given: object) -> Exchange:
    return Exchange([sys.executable, "-c", code], cwd=tmp_path, env=ENV, **given)


def test_it_is_fed_and_read(tmp_path):
    talk = exchange(tmp_path, "import sys; print(sys.stdin.read()[::-1]); sys.exit(3)", question=b"abc")
    assert talk.wait(20)
    assert (bytes(talk.out), talk.exit_code) == (b"cba\n", 3)


def test_its_last_lines_are_those_of_its_standard_error(tmp_path):
    talk = exchange(tmp_path, "import sys; print('out'); print('a\\n\\nb', file=sys.stderr)")
    assert talk.wait(20)
    assert talk.last_lines == "a / b"


def test_a_late_program_ends_with_what_it_started(tmp_path):
    script = "import subprocess, time; subprocess.Popen(['sleep', '60']); print('up', flush=True); time.sleep(60)"
    began = time.monotonic()
    talk = exchange(tmp_path, script)
    assert not talk.wait(1)
    assert time.monotonic() - began < 20


HOLDS = """
import subprocess, sys
command = [sys.executable, "-c", "import time; time.sleep(60)"]
print(subprocess.Popen(command, start_new_session=True).pid, flush=True)
"""


@pytest.fixture
def holding(tmp_path):
    """An exchange with a program whose child, in a session of its own, has its output for a minute."""
    talk = exchange(tmp_path, HOLDS)
    yield talk
    with suppress(ProcessLookupError):
        os.kill(int(talk.out), signal.SIGKILL)


def test_a_child_that_holds_the_output_open_does_not_outlast_the_time_limit(holding):
    began = time.monotonic()
    assert not holding.wait(3)
    assert holding.held_open
    assert time.monotonic() - began < 30
    assert holding.exit_code == 0


def test_an_exchange_that_is_stopped_does_not_wait_for_held_output(holding):
    began = time.monotonic()
    holding.wait(60, lambda: bool(holding.out))
    assert time.monotonic() - began < 30


def test_an_exchange_that_is_killed_does_not_wait_for_held_output(holding):
    began = time.monotonic()
    timer = threading.Timer(2, holding.kill)
    timer.start()
    holding.wait(60)
    assert time.monotonic() - began < 30
    timer.join()


def test_a_home_of_its_own_goes_before_the_users(tmp_path):
    talk = exchange(tmp_path, "import os; print(os.environ['HOME'])", home=tmp_path / "home")
    assert talk.wait(20)
    assert bytes(talk.out).decode().strip() == str(tmp_path / "home")


def test_output_without_end_is_cut(tmp_path):
    class Small(Exchange):
        most_bytes = 1000

    talk = Small([sys.executable, "-c", "while True: print('x' * 1000)"], cwd=tmp_path, env=ENV)
    talk.wait(20)
    assert talk.too_much


def test_a_program_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(OSError, match="no-such-program"):
        Exchange(["no-such-program"], cwd=tmp_path, env=ENV)
