"""What a run depends on: the files that the words of a program name."""

from __future__ import annotations

import os

import pytest

from runevals.run.baseline.dependencies import texts_of_program
from runevals.settings.resolve import RawSettings, resolve


def weights(path):
    path.touch()
    os.truncate(path, 1 << 33)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        pytest.param("no.txt", lambda path: None, id="nothing"),
        pytest.param("folder", lambda path: path.mkdir(), id="a folder"),
        pytest.param("pipe", os.mkfifo, id="a pipe, on which nobody writes"),
        pytest.param("model.gguf", weights, id="weights"),
    ],
)
def test_only_the_beginning_of_files_is_read(project, name, make):
    """A word of a command may be anything."""
    project.write("agent.py", "print('prompts/a.md')\n")
    make(project.path / name)
    raw = RawSettings(cwd=project.path, environment={}, flags={"target": f"command:python agent.py {name}"})
    texts = {path.name: text for path, text in texts_of_program(resolve(raw))}
    assert texts.pop("agent.py") == "print('prompts/a.md')\n"
    assert sum(map(len, texts.values())) == (1_000_000 if name == "model.gguf" else 0)
