"""The workflow of a repository: the steps that we write."""

from __future__ import annotations

import pytest

from runevals.github.workflow import installs


@pytest.mark.parametrize(
    ("files", "target", "commands"),
    [
        pytest.param(["requirements.txt"], "python", ["pip install -r requirements.txt"], id="pip"),
        pytest.param(["pyproject.toml"], "python", ["pip install ."], id="a package"),
        pytest.param(["uv.lock", "pyproject.toml"], "python", ["uv export"], id="uv before pip"),
        pytest.param(["package-lock.json", "package.json"], "command", ["npm ci"], id="npm"),
        pytest.param(["requirements.txt", "package.json"], "command", ["pip", "npm install"], id="both"),
        pytest.param(["requirements.txt", "package.json"], "python", ["pip"], id="a function needs no npm"),
        pytest.param(["requirements.txt"], "openai", [], id="a model needs nothing"),
        pytest.param([], "python", [], id="no packages"),
    ],
)
def test_a_job_installs_the_packages_of_the_program(tmp_path, files, target, commands):
    for name in files:
        (tmp_path / name).touch()
    found = installs(tmp_path, target)
    assert len(found) == len(commands)
    assert all(part in line for part, line in zip(commands, found, strict=True))
