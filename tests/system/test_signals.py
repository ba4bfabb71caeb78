"""Stopping a run: at once, with exit 130, and nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.ending import interrupt
from tests.sample_suites import SUITE

COMMAND = "target: {type: command, command: [python3, agent.py]}\n"
PYTHON = "target: {type: python, function: 'agent.py:answer'}\n"
AGENT = "import time, pathlib, os\npathlib.Path(f'pid-{os.getpid()}').touch()\n"


def wait_for(condition, seconds=60):
    """Until `condition()` is true; fails if it does not become so."""
    ends_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends_at
        time.sleep(0.02)


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
    wait_for(lambda: list(project.path.glob("pid-*")))
    run.send_signal(sent)
    _, err = run.communicate(timeout=30)
    assert run.returncode == 130
    assert b"Traceback" not in err
    started = [int(path.name.removeprefix("pid-")) for path in project.path.glob("pid-*")]
    assert started
    wait_for(lambda: not [pid for pid in started if Path(f"/proc/{pid}").exists()], 10)


SLOW_FIRST = """
import time, pathlib
def answer(prompt):
    if "France" in prompt:
        pathlib.Path("answered").touch()
        return "Paris"
    while not pathlib.Path("answered").exists():
        time.sleep(0.01)
    pathlib.Path("asked").touch()
    time.sleep(60)
"""


def begun(project, *words, environment=None):
    """A run that has asked its target for the first time, which the target shows by a file."""
    run = subprocess.Popen(
        [sys.executable, "-m", "runevals", *words],
        cwd=project.path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for((project.path / "asked").exists)
    return run


def interrupted(project, *more, signals=1):
    """Stops a run in which one case was answered and the other will be after a minute → (process, stderr)."""
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", PYTHON)
    project.write("agent.py", SLOW_FIRST)
    run = begun(project, "-o", "out.json", "-o", "out.xml", "-o", "out.md", *more)
    err = interrupt(run, run.stderr, signal.SIGTERM)
    if signals > 1:
        run.send_signal(signal.SIGTERM)
    run.wait(timeout=40)  # five for answers under way, and the reports: not the minute that the answer takes
    return run, err + run.communicate()[1]


@pytest.mark.needs("linux")
def test_an_interrupted_run_writes_every_report_and_says_that_it_is_incomplete(project):
    run, err = interrupted(project)
    assert (run.returncode, "Traceback" in err) == (130, False), err
    document = project.document()
    assert (document["complete"], document["run"]["stopped"]["code"]) == (False, "interrupted")
    assert [case["status"] for case in document["cases"]] == ["passed", "skipped"]
    assert document["verdict"]["exit_code"] == 130
    assert "Incomplete – the run was interrupted; 1 of 2 cases were measured" in document["verdict"]["headline"]
    assert (project.path / "out.md").read_text().startswith("### ⛔ Incomplete")
    assert "<skipped" in (project.path / "out.xml").read_text()


@pytest.mark.needs("linux")
def test_a_second_signal_ends_it_at_once(project):
    run, err = interrupted(project, signals=2)
    assert (run.returncode, "Traceback" in err) == (130, False), err
    assert not (project.path / "out.json").exists()  # which is written once the answers under way are waited for


SLOW_CHECK = """
import pathlib
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
        pathlib.Path("checking").touch()
        time.sleep(1)
        return Verdict(1.0, "fine")
"""


@pytest.mark.needs("linux")
def test_slow_checks_of_a_plugin_do_not_hold_up_an_interrupt(project, tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    info = site / "slow_checks-1.dist-info"
    info.mkdir()
    (site / "slow_checks.py").write_text(SLOW_CHECK)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow-checks\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[runevals.evaluators]\nslow = slow_checks:Slow\n")
    items = [{"testId": f"k{number}", "prompt": f"Question {number}?"} for number in range(100)]
    project.write("evals.json", {"schemaVersion": "1.2.0", "default_evaluators": {"slow": {}}, "items": items})
    project.write("runevals.yaml", PYTHON)
    project.write("agent.py", "import pathlib\ndef answer(prompt): return str(pathlib.Path('asked').touch())\n")
    run = begun(project, "-o", "out.json", environment={**os.environ, "PYTHONPATH": str(site)})
    wait_for((project.path / "checking").exists)
    interrupt(run, run.stderr, signal.SIGINT)
    _, err = run.communicate(timeout=150)
    assert run.returncode == 130, err
    measured = project.document()["totals"]["passed"]
    assert measured < 90  # only those of the five seconds for what is under way


@pytest.mark.parametrize(("answer", "code"), [("Paris", 0), ("Rome", 1)])
def test_a_reader_that_stops_reading_changes_no_verdict(project, answer, code):
    """As `runevals | head -1` does."""
    project.write("evals.json", {**SUITE, "items": SUITE["items"][:1]})
    project.write("runevals.yaml", f"{PYTHON}min_pass_rate: 1\n")
    project.write("agent.py", f"def answer(prompt):\n    return {answer!r}\n")
    words = [sys.executable, "-m", "runevals", "-o", "out.json"]
    with subprocess.Popen(words, cwd=project.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdout.close()
        err = run.stderr.read().decode()
        assert (run.wait(), "Traceback" in err) == (code, False), err
    assert project.document("out.json")["verdict"]["exit_code"] == code
