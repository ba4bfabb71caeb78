"""What a hostile change finds around it: a disk with things of others, and secrets in the job."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_suites import EXACT, numbered

CASES = 12
NAMES = {
    "evals": "evals.json",
    "prompt": "prompt.md",
    "settings": "runevals.yaml",
    "agent": "agent.py",
    "ignored": ".gitignore",
}
SECRETS = {
    "GITHUB_TOKEN": "ghs_token-of-the-job",
    "AGENT_KEY": "sk-key-of-the-target",
    "MY_API_KEY": "another-key",
}
SUITE = {**EXACT, "items": numbered(CASES, "yes")}
REGRESSED = f"{CASES} of {CASES} cases regressed"


def stock(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What a plain git does in a folder: the control of the traps that are set here."""
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    return subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=False)


def commit(folder: Path, message: str) -> str:
    stock(folder, "add", "-A")
    stock(folder, "commit", "-q", "-m", message)
    return stock(folder, "rev-parse", "HEAD").stdout.strip()


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
    """`runevals …` with a job's secrets in its environment; a variable that is None is not set."""

    def ran(*words, cwd=None, **environment):
        with monkeypatch.context() as patch:
            for name, value in {"OPENAI_API_KEY": "sk-test", **SECRETS, **environment}.items():
                patch.delenv(name, raising=False) if value is None else patch.setenv(name, value)
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
        if project.first is None and number >= len(SUITE["items"]):  # the case is asked again
            return Reply(None)
        return Reply("no" if worse else "yes" if number else project.first)

    project.first, project.meanwhile = "yes", lambda: None
    with chat_server(answer) as server:
        project.write("evals.json", SUITE)
        project.write("runevals.yaml", "suites: [evals.json]\ntarget: {type: openai, model: tiny}\n")
        project.url = server.base_url
        project.run = partial(run, OPENAI_BASE_URL=server.base_url)
        yield project


@dataclass(frozen=True)
class Change:
    """A change to a good main, as a repository whose target answers as its prompt says."""

    project: Any
    command: Callable[..., Ran]
    events: Path

    @property
    def path(self) -> Path:
        return self.project.path

    def git(self, *words: str) -> str:
        return self.project.git(*words)

    def write(self, **files: object) -> None:
        """Files of the change; `evals="x"` is evals.json, `None` removes."""
        for name, content in files.items():
            path = NAMES.get(name, name)
            if content is None:
                (self.path / path).unlink()
            else:
                self.project.write(path, content)

    def main(self, **files: object) -> None:
        """Commits files on main, and starts the change anew from there."""
        self.git("checkout", "-q", "main")
        self.write(**files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "main")
        self.git("checkout", "-q", "-B", "change")

    def loses(self, *numbers: int) -> None:
        """Makes the prompt of the change answer these questions wrongly."""
        self.write(prompt="No to " + "".join(f"<Question {number}?>" for number in numbers))

    def compared(self, *words: str, **environment: str | None) -> Ran:
        """`runevals run` of the change, beside its base."""
        return self.command("run", "--base", "main", "-q", "-o", "out.json", *words, **environment)

    def action(
        self,
        event: str = "pull_request",
        payload: object = None,
        words: tuple[str, ...] = ("action",),
        **environment: str | None,
    ) -> Ran:
        """The action, or another command, in a job of this event; by default of a pull request on main."""
        path = self.events / "event.json"
        path.write_text(json.dumps(self.pull_request() if payload is None else payload), encoding="utf-8")
        told = {"CI": "true", "GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": str(path), "GITHUB_SHA": None}
        return self.command(*words, **{**told, **environment})

    def pull_request(self, *, fork: bool = False) -> dict[str, Any]:
        """What GitHub tells of one."""
        sides = {
            "base": {"sha": self.git("rev-parse", "main"), "ref": "main", "repo": {"id": 1}},
            "head": {"sha": self.git("rev-parse", "HEAD"), "ref": "change", "repo": {"id": 2 if fork else 1}},
        }
        return {"pull_request": {"number": 7, **sides}, "repository": {"id": 1, "default_branch": "main"}}

    def weakened(self, name: str = "out.json") -> set[tuple[str, str]]:
        """The key and message of each weakening in the results."""
        found = self.project.document(name)["comparison"]["weakenings"]
        return {(weakening["key"], weakening["message"]) for weakening in found}


@pytest.fixture
def change(repository, run, tmp_path_factory):
    """A change to a main whose model says yes to all, unless its prompt names the question. All of it is data."""

    def answer(body, _number):
        system, question = (body["messages"][place]["content"] for place in (0, -1))
        return Reply("no" if f"<{' '.join(question.split())}>" in system else "yes")

    with chat_server(answer) as server:
        command = partial(run, OPENAI_BASE_URL=server.base_url)
        made = Change(repository, command, tmp_path_factory.mktemp("event"))
        ignored = ".evals\nout.json\n"
        made.main(evals=SUITE, prompt="Say yes.", settings=settings(), agent=None, ignored=ignored)
        yield made


def settings(rules: str = "", target: str = "") -> str:
    """A settings file with these rules, and more of the target; the lines that lose cases are not searched."""
    told = "blame: off\nsuites: [evals.json]\ntarget: {type: openai, model: tiny, system_prompt_file: prompt.md"
    return f"{told}{target}}}\n{rules}"
