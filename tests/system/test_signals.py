"""Stopping a run: at once, with exit 130, and nothing left running."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands.test_run import SUITE

COMMAND = "target: {type: command, command: [python3, agent.py]}\n"
PYTHON = "target: {type: python, function: 'agent.py:answer'}\n"
AGENT = "import time, pathlib, os\npathlib.Path(f'pid-{os.getpid()}').touch()\n"


@pytest.mark.needs("linux")
@pytest.mark.parametrize("settings", [COMMAND, PYTHON], ids=["command", "python"])
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_ends_soon_and_leaves_no_program_behind(project, settings, sent):
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", settings)
    sleeping = "time.sleep(60)\n" if settings is COMMAND else "def answer(prompt): time.sleep(60)\n"
    project.write("agent.py", AGENT + sleeping)
    run = subprocess.Popen(
        [sys.executable, "-m", "runevals"], cwd=project.path, stderr=subprocess.PIPE, start_new_session=True
    )
    deadline = time.monotonic() + 20
    while not list(project.path.glob("pid-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(sent)
    _, err = run.communicate(timeout=10)
    assert run.returncode == 130
    assert b"Traceback" not in err
    started = [int(path.name.removeprefix("pid-")) for path in project.path.glob("pid-*")]
    assert started
    time.sleep(0.5)
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
