"""What a hostile change finds around it: a disk with things of others, and secrets in the job."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_suites import EXACT, numbered

CASES = 12
SECRETS = {
    "GITHUB_TOKEN": "ghs_token-of-the-job",
    "AGENT_KEY": "sk-key-of-the-target",
    "MY_API_KEY": "another-key",
}
SUITE = {**EXACT, "items": numbered(CASES, "yes")}


@dataclass(frozen=True)
class Ran:
    """How one command ended, and what it printed on both streams."""

    code: int
    text: str

    def must(self, code: int, *words: str) -> None:
        """Fails with the whole output unless it ended so and said that."""
        ended(self.code, code, self.text, *words)


@pytest.fixture
def around(project):
    """The folder beside the project, with a folder and a file of somebody else."""
    outside = project.path.parent / f"outside-{project.path.name}"
    outside.mkdir()
    (outside / "theirs").mkdir()
    (outside / "theirs" / "notes.txt").write_text("not yours", encoding="utf-8")
    (outside / "letter.txt").write_text("not yours either", encoding="utf-8")
    return outside


def photograph(folder: Path) -> dict[str, object]:
    """All that is in a folder: names, kinds, contents, modes. Two of them are equal if nothing was touched."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        told = path.lstat()
        content = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (told.st_mode, content)
    return found


@pytest.fixture
def run(runevals, monkeypatch):
    """`runevals …` with a job's secrets in its environment."""

    def ran(*words, cwd=None, **environment):
        with monkeypatch.context() as patch:
            for name, value in {"OPENAI_API_KEY": "sk-test", **SECRETS, **environment}.items():
                patch.setenv(name, value)
            if cwd is not None:
                patch.chdir(cwd)
            code, out, err = runevals(*words)
        return Ran(code=code, text=out + err)

    return ran


@pytest.fixture
def hostile(project, run):
    """A project whose answers come from a model: all that is in it is data.

    `hostile.run(...)` is the command, `hostile.meanwhile` what happens before each answer, and `hostile.first` the
    first of them. The model does as its system prompt says.
    """

    def answer(body, number):
        project.meanwhile()
        worse = any("Say no" in message["content"] for message in body["messages"])
        return Reply("no" if worse else "yes" if number else project.first)

    project.first, project.meanwhile = "yes", lambda: None
    with chat_server(answer) as server:
        project.write("evals.json", SUITE)
        project.write("runevals.yaml", "suites: [evals.json]\ntarget: {type: openai, model: tiny}\n")
        project.url = server.base_url
        project.run = partial(run, OPENAI_BASE_URL=server.base_url)
        yield project
