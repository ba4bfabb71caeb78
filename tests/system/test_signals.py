"""Stopping a run: at once, with exit 130, and nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.sample_suites import SUITE

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
        [sys.executable, "-m", "runevals"],
        cwd=project.path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 20
    while not list(project.path.glob("pid-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(sent)
    _, err = run.communicate(timeout=30)
    assert run.returncode == 130
    assert b"Traceback" not in err
    started = [int(path.name.removeprefix("pid-")) for path in project.path.glob("pid-*")]
    assert started
    time.sleep(0.5)
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]


SLOW_FIRST = """
import time, pathlib
def answer(prompt):
    if "France" not in prompt:
        pathlib.Path("asked").touch()
        time.sleep(60)
    return "Paris"
"""


def begun(project, *words, environment=None):
    """A run that has asked its target for the first time, which the target shows by a file."""
    run = subprocess.Popen(
        [sys.executable, "-m", "runevals", *words],
        cwd=project.path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 20
    while not (project.path / "asked").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return run


def interrupted(project, *more, signals=1):
    """Stops a run in which one case was answered and the other never will be → (process, stderr, its seconds)."""
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", PYTHON)
    project.write("agent.py", SLOW_FIRST)
    run = begun(project, "-o", "out.json", "-o", "out.xml", "-o", "out.md", *more)
    time.sleep(0.5)
    started = time.monotonic()
    for _ in range(signals):
        run.send_signal(signal.SIGTERM)
        time.sleep(0.5)
    _, err = run.communicate(timeout=30)
    return run, err, time.monotonic() - started


@pytest.mark.needs("linux")
def test_an_interrupted_run_writes_every_report_and_says_that_it_is_incomplete(project):
    run, err, took_s = interrupted(project)
    assert (run.returncode, b"Traceback" in err) == (130, False), err
    assert took_s < 10  # five for answers under way, and the reports: not the minute that the answer takes
    document = project.document()
    assert (document["complete"], document["run"]["stopped"]["code"]) == (False, "interrupted")
    assert [case["status"] for case in document["cases"]] == ["passed", "skipped"]
    assert document["verdict"]["exit_code"] == 130
    assert "Incomplete – the run was interrupted; 1 of 2 cases were measured" in document["verdict"]["headline"]
    assert (project.path / "out.md").read_text().startswith("### ⛔ Incomplete")
    assert "<skipped" in (project.path / "out.xml").read_text()


@pytest.mark.needs("linux")
def test_a_second_signal_ends_it_at_once(project):
    run, err, took_s = interrupted(project, signals=2)
    assert (run.returncode, b"Traceback" in err) == (130, False), err
    assert took_s < 5  # nobody waits for answers any more
    assert not (project.path / "out.json").exists()


SLOW_CHECK = """
import time
from dataclasses import dataclass
from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check
from runevals.records import Verdict

@evaluator("slow")
@dataclass(frozen=True, kw_only=True)
class Slow(Check):
    \"\"\"Asks a service.

    Example:
        "evaluators": {"slow": {}}
        passes: a
        fails: b
    \"\"\"
    def check(self, subject):
        time.sleep(1)
        return Verdict(1.0, "fine")
"""


@pytest.mark.needs("linux")
def test_slow_checks_of_a_plugin_do_not_hold_up_an_interrupt(project):
    info = "site/slow_checks-1.dist-info"
    project.write("site/slow_checks.py", SLOW_CHECK)
    project.write(f"{info}/METADATA", "Metadata-Version: 2.1\nName: slow-checks\nVersion: 1\n")
    project.write(f"{info}/entry_points.txt", "[runevals.evaluators]\nslow = slow_checks:Slow\n")
    items = [{"testId": f"k{number}", "prompt": f"Question {number}?"} for number in range(100)]
    project.write("evals.json", {"schemaVersion": "1.2.0", "default_evaluators": {"slow": {}}, "items": items})
    project.write("runevals.yaml", PYTHON)
    project.write("agent.py", "import pathlib\ndef answer(prompt): return str(pathlib.Path('asked').touch())\n")
    run = begun(project, "-o", "out.json", environment={**os.environ, "PYTHONPATH": "site"})
    time.sleep(1)
    started = time.monotonic()
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=150)
    assert run.returncode == 130, err
    assert time.monotonic() - started < 15  # five for what is under way, and the reports
