"""`runner/install`: what the action brings to the runner, and what it leaves there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = ("bash", "dirname", "uname", "cksum", "cut", "rm", "touch")
METADATA = "Metadata-Version: 2.1\nName: runevals\nVersion: 0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def install(tmp_path):
    """Runs it for a release whose wheel needs nothing, with these programs beside its tools → how it ended."""
    action, tools, temp = tmp_path / "action", tmp_path / "tools", tmp_path / "temp"
    shutil.copytree(ROOT / "runner", action / "runner")
    (action / "requirements-image.lock").touch()
    (action / "wheel").mkdir()
    with zipfile.ZipFile(action / "wheel" / "runevals-0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("runevals/__init__.py", "__version__ = 'of the wheel'\n")
        wheel.writestr("runevals-0.dist-info/METADATA", METADATA)
        wheel.writestr("runevals-0.dist-info/WHEEL", WHEEL)
        wheel.writestr("runevals-0.dist-info/RECORD", "")
    tools.mkdir()
    temp.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(str(shutil.which(name)))

    def run(**programs: str):
        for name, text in programs.items():
            (tools / name).unlink(missing_ok=True)
            (tools / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            (tools / name).chmod(0o755)
        environment = {"PATH": str(tools), "RUNNER_TEMP": str(temp), "HOME": str(tmp_path)}
        environment |= {"GITHUB_OUTPUT": str(temp / "outputs")}
        command = [str(tools / "bash"), str(action / "runner" / "install")]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def python() -> str:
    """The Python that runs these tests, as a program."""
    return f'exec "{os.path.realpath(sys.executable)}" "$@"'


def test_an_environment_of_its_own_is_made_once(install, tmp_path):
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = http://localhost:9\n", encoding="utf-8")
    done = install(python3=python())
    assert done.returncode == 0, done.stderr
    ours = Path(done.stdout.strip())
    assert ours.is_relative_to(tmp_path / "temp")
    asked = [ours, "-I", "-c", "import runevals; print(runevals.__version__)"]
    assert subprocess.check_output(asked, text=True) == "of the wheel\n"
    assert {path.name for path in tmp_path.iterdir()} == {"action", "tools", "temp", "pip.conf"}
    again = install(python3="exit 1")
    assert again.stdout == done.stdout, "a second step of the job has it already"


@pytest.mark.parametrize(
    ("programs", "told"),
    [
        (
            {},
            "runevals needs uv, or a Python of 3.11 or later with venv; put actions/setup-python before this step",
        ),
        ({"python3": "exit 1"}, "runevals needs uv, or a Python of 3.11 or later"),  # an old one
        (
            {"uname": "echo MINGW64_NT-10.0"},
            "runevals runs on Linux and macOS; give the job runs-on: ubuntu-latest",
        ),
        ({"uv": "exit 1"}, "runevals could not be installed; what the package manager said stands above"),
    ],
)
def test_a_runner_that_lacks_what_it_needs_is_told_in_one_line(install, tmp_path, programs, told):
    done = install(**programs)
    assert done.returncode == 3
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith(f"::error title=runevals::{told}")
    assert (tmp_path / "temp/outputs").read_text("utf-8") == "verdict=unmeasured\nexit_code=3\n"
