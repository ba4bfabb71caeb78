"""Every example, as a newcomer runs it: the commands of its README, in a copy of its folder, from outside."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from a2a.helpers.proto_helpers import new_text_message

from runevals.lib.parsing.schema import schema
from runevals.models.chat.providers import PROVIDERS
from runevals.records.agent import AGENTS
from runevals.suites.dialects import DIALECTS
from tests.a2a_server import a2a_server
from tests.chat_server import Reply, chat_server
from tests.judge.replies import verdict

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.M | re.S)
TABLE = re.findall(
    r"^\| \[([\w-]+)\]\(([\w-]+)\)( •)? \| `([\w-]+)` \| `([\w-]+)` \|",
    (EXAMPLES / "README.md").read_text("utf-8"),
    re.M,
)
ASKED_FOR = {"cost": "Basic is $10 a month.", "Order": "How many?", "Two": "2 × Basic"}


def chat(body, number):
    """A model that answers from its prompt, and a judge that likes it."""
    if "nonce" in body["messages"][0]["content"]:
        return Reply(verdict(body, 5))
    prompt, question = body["messages"][0]["content"], body["messages"][-1]["content"]
    facts = {"Basic": "Basic: $10", "Team": "Team: $25", "cancel": "within 30 days"}
    facts |= {"invoice": "billing", "password": "account", "crashes": "bug"}
    found = [fact for word, fact in facts.items() if word in question and fact.split()[-1] in prompt]
    return Reply(" ".join(found) or "I do not know.")


async def agent(context, queue, updater):
    text = context.get_user_input()
    answer = next((answer for word, answer in ASKED_FOR.items() if word in text), "?")
    await queue.enqueue_event(new_text_message(answer, context_id=context.context_id))


@contextmanager
def http_agent():
    """The example's own server."""
    command = [sys.executable, EXAMPLES / "http-agent" / "server.py", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        yield {"RUNEVALS_TARGET_URL": server.stdout.readline().strip()}
        server.kill()


@contextmanager
def world(name, installed):
    """What the example needs beside its folder, as environment variables."""
    match name:
        case "chat-model":
            with chat_server(chat) as server:
                yield {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "not-a-real-key"}
        case "prompt-file":
            with chat_server(chat) as server:
                yield {"OLLAMA_HOST": server.base_url}
        case "http-agent":
            with http_agent() as told:
                yield told
        case "a2a-agent":
            with a2a_server(agent) as server:
                yield {"RUNEVALS_TARGET_URL": server.url}
        case "plugin":
            yield {"PYTHONPATH": str(installed)}
        case _:
            yield {}


def runevals(line: str, cwd: Path, environment: dict[str, str]) -> str:
    """Runs a line of a README, which may end in the exit code that it expects → its output."""
    words = shlex.split(line, comments=True)[1:]
    expected = re.search(r"# exit (\d)", line)
    told = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS")}
    command = [sys.executable, "-P", "-m", "runevals", *words]
    done = subprocess.run(command, cwd=cwd, env=told | environment, capture_output=True, text=True, check=False)
    assert done.returncode == (int(expected[1]) if expected else 0), done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", FOLDERS)
def test_an_example_does_what_its_readme_says(name, tmp_path, installed):
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "examples" / name
    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns(".evals", "__pycache__"))
    ran, shown = 0, ""
    with world(name, installed) as environment:
        for kind, block in BLOCK.findall((folder / "README.md").read_text(encoding="utf-8")):
            lines = [line.strip() for line in block.splitlines() if line.strip()]
            if kind == "sh":
                ours = [line for line in lines if line.startswith("runevals")]
                shown = "".join(runevals(line, folder, environment) for line in ours)
                ran += len(ours)
            else:
                assert [line for line in lines if line not in shown] == []
    assert ran >= 1
    assert "warning" not in shown
    document = json.loads(
        max([*folder.glob(".evals/results/*.json"), *folder.glob("results.json")]).read_text("utf-8")
    )
    used = (document["run"]["suites"][0]["dialect"], document["run"]["target"]["type"])
    assert {(folder, *rest) for folder, _, _, *rest in TABLE if folder == name} == {(name, *used)}


SHOWN = re.compile(
    r"^<!-- ci: \w+, exit (\d) -->\n```sh\n.*?(runevals run .*?)\n```\n\n```text\n(.*?)^```$", re.M | re.S
)


def test_the_readme_shows_what_its_commands_print(tmp_path):
    (tmp_path / ".git").mkdir()
    shutil.copytree(EXAMPLES / "support-agent", tmp_path / "examples" / "support-agent")
    blocks = SHOWN.findall(EXAMPLES.with_name("README.md").read_text(encoding="utf-8"))
    assert len(blocks) == 2
    for code, command, shown in blocks:
        assert shown in runevals(f"{command} # exit {code}", tmp_path, {})


def test_the_list_of_examples_is_whole():
    assert sorted(folder for folder, link, *_ in TABLE if folder == link) == FOLDERS
    kinds = schema("runevals.settings", "settings-1")["properties"]["target"]["then"]["properties"]["type"]["enum"]
    assert {dialect for *_, dialect, _ in TABLE} == {dialect.NAME for dialect in DIALECTS}
    targets = {target for *_, target in TABLE}
    assert targets <= {*kinds}
    assert {*kinds} - targets <= {
        "plugin",
        *PROVIDERS,
        *AGENTS,
    }  # what a package brings, and models like those shown
    assert targets & {*PROVIDERS}
