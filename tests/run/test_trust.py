"""On a laptop: what settings reach that main does not name is said, and of another author it needs a yes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_suites import EXACT, numbered

SUITE = {**EXACT, "items": numbered(2, "yes")}
MAIN = "suites: [evals.json]\ntarget: {type: openai, model: tiny}\n"
STRANGER = ("-c", "user.name=S", "-c", "user.email=stranger@example.com")


@pytest.fixture
def laptop(repository, monkeypatch, tmp_path_factory):
    """A branch of a repository with a main; `further` writes settings that send a key to its server."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.setenv("DEPLOY_KEY", "deploy-key-1")
    repository.git("checkout", "-q", "main")
    repository.git("config", "user.email", "a@example.com")
    repository.write("evals.json", SUITE)
    repository.write("runevals.yaml", MAIN)
    repository.write(".gitignore", ".evals\n")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "main")
    repository.git("checkout", "-q", "-B", "change")
    with chat_server(lambda _body, _number: Reply("yes")) as server:
        repository.server = server
        target = {"type": "openai", "model": "tiny", "base_url": server.base_url, "api_key_env": "DEPLOY_KEY"}
        further = {"suites": ["evals.json"], "target": target}
        repository.further = lambda: repository.write("runevals.yaml", further)
        yield repository


def by_stranger(laptop, *words):
    """A commit as it comes with a pull request that is fetched."""
    laptop.git("add", "-A")
    laptop.git(*STRANGER, "commit", "-q", "-m", "theirs", *words)


SENDS = "target.base_url sends DEPLOY_KEY to {} in the header authorization: main does not name that"


def test_lines_of_ones_own_run_and_are_said(laptop, runevals):
    laptop.further()
    said = f"Notice: {SENDS.format(laptop.server.base_url)}"
    text = ""
    for _ in ("not committed", "committed"):
        code, _, err = runevals("run", "-q")
        ended(code, 0, err)
        text += err
        laptop.git("add", "-A")
        laptop.git("commit", "-q", "--allow-empty", "-m", "mine")
    assert text.count(said) == 1  # once a process
    assert len(laptop.server.requests) == 4


def test_lines_of_main_are_not_said(laptop, runevals):
    laptop.further()
    by_stranger(laptop)
    laptop.git("checkout", "-q", "-B", "main")
    laptop.git("checkout", "-q", "-B", "change")
    code, _, err = runevals("run", "-q")
    ended(code, 0, err, without=["main does not name"])


@pytest.mark.parametrize("author", ["stranger@example.com", None], ids=["another", "the user, as the commit says"])
@pytest.mark.parametrize("words", [("run", "-q"), ("doctor", "--call"), ("judge",), ("blame",)], ids=" ".join)
def test_lines_of_a_fetched_commit_lead_no_key_away_without_a_terminal(laptop, runevals, author, words):
    """Whoever writes a commit chooses its author, so it must also have been made here."""
    laptop.further()
    user = laptop.git("config", "user.email").strip()
    laptop.git("add", "-A")
    tree = laptop.git("write-tree").strip()
    parent = laptop.git("rev-parse", "HEAD").strip()
    identity = ("-c", "user.name=S", "-c", f"user.email={author or user}")
    theirs = laptop.git(*identity, "commit-tree", tree, "-p", parent, "-m", "theirs").strip()
    laptop.git("reset", "-q", "--hard", theirs)
    if words == ("run", "-q"):
        code, _, err = runevals(*words, "--trust")
        ended(code, 0, err)
        laptop.server.requests.clear()
    code, _, err = runevals(*words)
    assert code != 0
    assert laptop.server.requests == []
    if words == ("run", "-q"):
        ended(code, 2, " ".join(err.split()), "another author committed settings", "DEPLOY_KEY", "with --trust")


def test_data_that_a_fetched_commit_makes_a_program_does_not_start(laptop, runevals):
    command = [sys.executable, "-c", "open('started', 'w'); print('yes')"]
    laptop.write("runevals.yaml", {"suites": ["evals.json"], "target": {"type": "command", "command": command}})
    by_stranger(laptop)
    code, _, err = runevals("run", "-q")
    ended(code, 2, err, "target.command starts `")
    assert not (laptop.path / "started").exists()


def test_one_yes_at_a_terminal_is_remembered_for_that_content(laptop):
    laptop.further()
    by_stranger(laptop)
    answers = [("n\n", 2), ("y\n", 0), (None, 0)]
    for answer, expected in answers:
        code, text = at_terminal(laptop.path, answer)
        assert code == expected, text
        assert ("Run them here?" in text) is (answer is not None)
    (laptop.path / "runevals.yaml").write_text(MAIN.replace("openai", "http, url: 'http://127.0.0.1:9/'"))
    by_stranger(laptop)
    code, text = at_terminal(laptop.path, "n\n")
    assert (code, "Run them here?" in text) == (2, True)


def at_terminal(folder, answer):
    """(exit code, all that it printed) of a run at a terminal."""
    ours, theirs = os.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "runevals", "run", "-q"], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    text = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        text += chunk
        if answer is not None and b"Run them here?" in text:
            os.write(ours, answer.encode())
            answer = None
        if not chunk:
            break
    os.close(ours)
    return run.wait(), text.decode()


def test_a_tracked_dotenv_file_leads_no_key_to_its_address(laptop, runevals, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-of-the-user")
    laptop.write(".env.local", f"OPENAI_BASE_URL={laptop.server.base_url}\nHTTPS_PROXY={laptop.server.base_url}\n")
    code, _, _ = runevals("run", "-q")
    assert (code, len(laptop.server.requests)) == (0, 2)  # the control: nobody else wrote it
    laptop.git("add", "-Af")
    laptop.server.requests.clear()
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # no request leaves this machine
    _, _, err = runevals("run", "-q", "--max-duration", "5")
    assert "OPENAI_BASE_URL" in err
    assert laptop.server.requests == []
