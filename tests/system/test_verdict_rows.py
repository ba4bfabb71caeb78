"""`benchmarks/verdict_rows.py`: the command line decides as the simulated procedure does, call by call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import runevals

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "verdict_rows.py"
SOURCES = str(Path(runevals.__file__).parents[1])


def rows(*words):
    """(exit code, table) of these rows."""
    command = [sys.executable, str(SCRIPT), "--jobs", "1", *words]
    env = {**os.environ, "PYTHONPATH": SOURCES}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a case 100 → 0 %, 8 cases", "1 case proven"),
        ("no base its commit is not here", "1 case chance"),
        ("2 shards, a case lost that failed before", "1 case proven"),
        ("SIGKILL among fresh runs", "1 case proven"),
    ],
)
def test_a_change_ends_alike_through_the_command_line(name, shown):
    code, out = rows("--only", name)
    assert code == 0, out
    assert shown in out


def test_the_rows_can_fail():
    code, out = rows("--only", "always alike, --base", "--spoil")
    assert (code, "1 of 1 rows differ" in out) == (1, True), out
