"""No grader gets out, and none harms the next one: on this machine, and in the container as GitHub runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runevals.sandbox import Sandbox
from tests.conftest import docker
from tests.system import hostile


def processes() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


@pytest.mark.needs("linux")
@pytest.mark.parametrize("language", ["python", "javascript"])
def test_no_attack_works_and_each_ends_as_it_should(language, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "do-not-hand-on")
    before, files = processes(), set(Path("/tmp").iterdir())
    with Sandbox(workers=1, reduced=False) as sandbox:
        wrong = {name: told for name, told in hostile.outcomes(sandbox, language) if told}
        assert wrong == {}
        assert sandbox.mode == "strict"
    assert processes() == before
    assert {path for path in set(Path("/tmp").iterdir()) - files if "hostile" in path.name} == set()
    assert len(hostile.PYTHON if language == "python" else hostile.JAVASCRIPT) >= 40


@pytest.mark.needs("container")
@pytest.mark.parametrize("user", [[], ["--user", "1001", "--cap-drop", "ALL"]], ids=["root", "user"])
def test_nor_in_the_container(image, user):
    script = Path(hostile.__file__)
    done = docker(
        *("run", "--rm", *user, "-v", f"{script}:/hostile/hostile.py:ro"),
        *("--entrypoint", "/opt/runevals/bin/python3", image, "-I", "/hostile/hostile.py"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 wrong, sandbox strict, 0 files left" in done.stdout
