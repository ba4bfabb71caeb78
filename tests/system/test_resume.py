"""Runs that are killed and go on: nothing that was answered is asked again, and the result is the same."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended, interrupt
from tests.judge.replies import verdict
from tests.sample_reports import without_times
from tests.sample_suites import numbered
from tests.serving import CallBarrier

CASES = 60
SUITE = {
    "schemaVersion": "1.2.0",
    "default_evaluators": {"ExactMatch": {}, "Relevance": {}},
    "items": numbered(CASES, "yes"),
}
RUN = (
    "--target",
    "openai:tiny",
    "--judge",
    "big",
    "--cache",
    "none",
    "--concurrency",
    "4",
    "-q",
    "-o",
    "out.json",
)


@pytest.fixture
def paid(project, monkeypatch):
    """A project whose models take a moment; `project.asked` counts what they were asked, by its words."""
    project.asked, project.barrier = Counter(), CallBarrier()
    lock = threading.Lock()

    def answer(body, number):
        judged = "nonce" in body["messages"][0]["content"]
        shown = body["messages"][-1]["content"]
        key = ("judge" if judged else "target", shown.partition("Question ")[2].partition("?")[0])
        with lock:
            project.asked[key] += 1
        project.barrier.call()
        return Reply(verdict(body, 1 + int(key[1]) % 5) if judged else "yes" if int(key[1]) % 7 else "no")

    project.write("evals.json", SUITE)
    with chat_server(answer) as server:
        project.environment = {**os.environ, "OPENAI_BASE_URL": server.base_url}
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield project


def started(project, *words):
    return subprocess.Popen(
        [sys.executable, "-m", "runevals", *words],
        cwd=project.path,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_a_run_that_is_killed_again_and_again_ends_as_an_undisturbed_one(paid):
    whole = started(paid, *RUN)
    whole.communicate(timeout=60)
    undisturbed = without_times(paid.document())
    assert set(paid.asked.values()) == {1}
    assert len(paid.asked) == 2 * CASES
    assert not list((paid.path / ".evals" / "runs").glob("*"))  # done, and forgotten

    (paid.path / "out.json").unlink()
    paid.asked.clear()
    chance, kills, words = random.Random(7), 0, RUN
    for _ in range(4):
        paid.barrier.after(10)
        run = started(paid, *words)
        paid.barrier.wait_until_reached()
        time.sleep(chance.uniform(0, 0.05))  # at any point of what is done with the answers
        run.send_signal(signal.SIGKILL)
        run.communicate(timeout=60)
        kills += run.returncode == -signal.SIGKILL
        words = ("run", "--resume", "-q")
    paid.barrier.after(None)
    last = started(paid, *words)
    out, _ = last.communicate(timeout=60)
    assert kills == 4
    assert last.returncode == whole.returncode, out
    assert "Resuming " in out
    assert without_times(paid.document()) == undisturbed
    again = sum(count - 1 for count in paid.asked.values())
    assert again <= kills * (4 + 8)  # those under way at each kill: 4 of the target, 8 of the judge
    assert not list((paid.path / ".evals" / "runs").glob("*"))


def test_an_interrupted_run_says_how_it_goes_on_and_asks_only_for_what_is_missing(paid, runevals):
    paid.barrier.after(20)
    run = started(paid, *RUN)
    paid.barrier.wait_until_reached()
    interrupt(run, run.stdout, signal.SIGINT)
    paid.barrier.after(None)
    out, _ = run.communicate(timeout=60)
    assert run.returncode == 130, out
    [folder] = (paid.path / ".evals" / "runs").iterdir()
    assert f"runevals run --resume {folder.name}" in out
    code, out, err = runevals("run", "--resume", folder.name)
    assert code == 0, out + err
    assert f"Resuming {folder.name}, which has " in err
    assert paid.document()["complete"] is True
    assert sum(paid.asked.values()) <= 2 * CASES + 12  # only calls that were under way are made twice


@pytest.mark.needs("linux")
def test_a_run_that_still_goes_on_is_not_gone_on_with(project, runevals, monkeypatch):
    asked, may_go_on = threading.Event(), threading.Event()

    def answer(body, number):
        asked.set()
        may_go_on.wait(60)
        return Reply("yes")

    project.write("evals.json", {**SUITE, "default_evaluators": {"ExactMatch": {}}})
    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        project.environment = dict(os.environ)
        run = started(project, "run", "--model", "tiny", "-q", "-o", "out.json")
        assert asked.wait(60)
        code, _, err = runevals("run", "--resume")
        may_go_on.set()
        out, _ = run.communicate(timeout=60)
        ended(code, 2, err, "is still running in another process")
        assert project.document()["complete"], out
        assert len(server.requests) == CASES
    assert not list((project.path / ".evals" / "runs").glob("*"))


def test_what_failed_is_asked_again(project, runevals, monkeypatch):
    down = {"is": True}

    def answer(body, number):
        return Reply(status=404) if down["is"] and "3?" in body["messages"][-1]["content"] else Reply("yes")

    project.write("evals.json", {**SUITE, "default_evaluators": {"ExactMatch": {}}})
    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, _ = runevals("--target", "openai:tiny", "-o", "out.json")
        ended(code, 3, out, "runevals run --resume")
        asked = len(server.requests)
        down["is"] = False
        assert runevals("run", "--resume")[0] == 0
    assert len(server.requests) - asked == 6  # 3, 13, 23, 33, 43, 53
    assert project.document()["totals"]["passed"] == CASES


def test_an_answer_that_holds_a_secret_is_not_written_down(project, runevals, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "canary-98765")
    project.write("evals.json", SUITE)
    with chat_server(lambda body, n: Reply(status=404) if n else Reply("it is canary-98765")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        runevals("--target", "openai:tiny", "--no-judge", "--concurrency", "1", "-q", "-o", "out.json")
    for path in (project.path / ".evals").rglob("*"):
        assert path.is_dir() or b"canary-98765" not in path.read_bytes()


def test_a_program_that_was_changed_is_not_resumed(repository, runevals):
    repository.write("evals.json", SUITE)
    repository.write("agent.py", "def answer(prompt):\n    return 'yes' if '3' not in prompt else 1 / 0\n")
    repository.write(
        "runevals.yaml", "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\n"
    )
    repository.git("add", "-A")
    repository.git("commit", "-qm", "an agent")
    assert runevals("--no-judge", "-q", "-o", "out.json")[0] == 3
    repository.write("agent.py", "def answer(prompt):\n    return 'yes'\n")
    code, _, err = runevals("run", "--resume")
    ended(code, 2, err, "the files here have changed since the run began (agent.py)")


FAILING = "def answer(prompt):\n    return 'yes' if '3' not in prompt else 1 / 0\n"


@pytest.mark.parametrize("place", ["repository", "ignored", "project"])
def test_neither_is_one_that_no_commit_has(place, request, runevals):
    here = request.getfixturevalue(place if place == "project" else "repository")
    here.write("evals.json", SUITE)
    here.write(".gitignore", "loose/\n" if place == "ignored" else "")
    here.write("loose/agent.py", FAILING)
    words = ("evals.json", "--target", "python:loose/agent.py:answer", "--no-judge", "-q", "-o", "out.json")
    assert runevals(*words)[0] == 3
    assert runevals("run", "--resume")[0] == 3  # the report that it wrote is no part of the program
    here.write("loose/agent.py", "def answer(prompt):\n    return 'yes'\n")
    code, _, err = runevals("run", "--resume")
    ended(code, 2, err, "the files here have changed since the run began (loose/agent.py)")


def test_answers_of_another_endpoint_are_not_gone_on_with(project, runevals, monkeypatch):
    def answer(body, number):
        return Reply(status=404) if "3?" in body["messages"][-1]["content"] else Reply("yes")

    project.write("evals.json", {**SUITE, "default_evaluators": {"ExactMatch": {}}})
    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert runevals("--target", "openai:tiny", "-o", "out.json")[0] == 3
    with chat_server(lambda body, number: Reply("no")) as other:
        monkeypatch.setenv("OPENAI_BASE_URL", other.base_url)
        code, _, err = runevals("run", "--resume")
        ended(code, 2, err, "has another address now")
    assert not other.requests


def test_a_run_that_a_checkout_brings_along_is_not_gone_on_with(repository, runevals):
    """Its words are flags, and its answers would be believed."""
    repository.write("evals.json", SUITE)
    repository.write("agent.py", "def answer(prompt):\n    return 'yes' if '3' not in prompt else 1 / 0\n")
    repository.git("commit", "-qam", "an agent")
    assert runevals("--target", "python:agent.py:answer", "--no-judge", "-q", "-o", "out.json")[0] == 3
    [folder] = (repository.path / ".evals" / "runs").iterdir()
    repository.git("add", "-f", ".evals")
    repository.git("commit", "-qm", "bring a run along")
    code, _, err = runevals("run", "--resume", folder.name)
    ended(code, 2, err, "there is no unfinished run")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--resume",), "there is no unfinished run in .evals/runs"),
        (("--resume", "2020-01-01_00-00-00-abcd"), "there is no unfinished run in .evals/runs"),
    ],
)
def test_without_an_unfinished_run_there_is_nothing_to_resume(project, runevals, words, told):
    code, _, err = runevals("run", *words)
    ended(code, 2, err, told)


@pytest.mark.parametrize(
    "content", [b"", b"no answers\nat all " * 200, bytes(5000)], ids=["empty", "text", "zeros"]
)
def test_a_journal_that_cannot_be_read_is_a_fresh_start_that_says_so(paid, runevals, content):
    paid.barrier.after(20)
    run = started(paid, *RUN)
    paid.barrier.wait_until_reached()
    run.kill()
    run.communicate(timeout=60)
    paid.barrier.after(None)
    [journal] = (paid.path / ".evals" / "runs").glob("*/answers.log")
    journal.write_bytes(content)
    paid.asked.clear()
    code, _, err = runevals("run", "--resume")
    assert code == 0, err
    assert len(paid.asked) == 2 * CASES
    assert "which has 0 answers" in err


def test_recorded_answers_leave_no_run_behind(project, runevals):
    project.write("evals.json", {**SUITE, "default_evaluators": {"ExactMatch": {}}})
    project.write("answers.jsonl", "")
    assert runevals("--target", "recorded:answers.jsonl", "-q", "-o", "out.json")[0] == 3
    assert not (project.path / ".evals" / "runs").exists()


# An agent that prints the events of Claude Code; from its seventh task on, it starts a server and is slow.
STUB = """\
#!/bin/sh
for prompt; do :; done
echo "$prompt" >> {log}
if [ -e {slow} ] && [ "${{prompt##* }}" -gt 6 ]; then
    {python} -c "{server}" &
    sleep 300
fi
echo '{{"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": [], "skills": []}}'
echo '{{"type": "assistant", "message": {{"content": [{{"type": "text", "text": "Done."}}]}}}}'
echo '{{"type": "result", "subtype": "success", "result": "Done.", "num_turns": 1, "usage": {{}}}}'
"""
SERVER = (
    "import os, socket, time; os.setsid(); server = socket.create_server(('127.0.0.1', 0));"
    "open('{servers}/' + str(os.getpid()), 'w').write(str(server.getsockname()[1])); time.sleep(300)"
)
FOUR_AT_ONCE = {"target": {"type": "claude-code", "tools": ["shell"]}, "concurrency": 4}


@pytest.fixture
def agents(project, tmp_path_factory):
    """A suite of twenty tasks for a stub agent, which logs what it is asked."""
    place = tmp_path_factory.mktemp("agents")
    for name in ("bin", "servers", "tmp"):
        (place / name).mkdir()
    (place / "slow").touch()
    paths = {name: place / name for name in ("log", "slow", "servers")}
    stub = place / "bin" / "claude"
    stub.write_text(STUB.format(python=sys.executable, server=SERVER.format(**paths), **paths), encoding="utf-8")
    stub.chmod(0o755)
    items = [{"testId": f"k{number}", "prompt": f"Task {number}"} for number in range(1, 21)]
    contains = {"contains": {"value": "Done"}}
    project.write("evals.json", {"schemaVersion": "1.2.0", "default_evaluators": contains, "items": items})
    project.write("runevals.yaml", FOUR_AT_ONCE)
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    key = {"ANTHROPIC_API_KEY": "stub-key-of-a-test"}
    project.environment = {**os.environ, "PATH": path, "TMPDIR": str(place / "tmp"), **key}
    project.place = place
    return project


@pytest.mark.needs("linux")
def test_a_killed_run_of_agents_asks_no_finished_attempt_again_and_leaves_nothing(agents):
    """No process, folder or port: what the killed run left ends with the one that goes on."""
    place = agents.place
    killed = started(agents, "run", "-q", "-o", "out.json")
    ends_at = time.monotonic() + 60
    while len(list((place / "servers").iterdir())) < 4 and time.monotonic() < ends_at:
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=20)
    servers = {int(file.name): int(file.read_text()) for file in (place / "servers").iterdir()}
    assert len(servers) == 4
    assert all(map(listens, servers.values()))  # the control
    (place / "slow").unlink()
    last = started(agents, "run", "--resume", "-q")
    out, _ = last.communicate(timeout=60)
    assert last.returncode == 0, out
    asked = Counter((place / "log").read_text(encoding="utf-8").splitlines())
    assert set(asked) == {f"Task {number}" for number in range(1, 21)}
    assert sorted(asked.values()) == [1] * 16 + [2] * 4, "those that were under way"
    assert agents.document()["totals"]["passed"] == 20
    assert not any(map(listens, servers.values()))
    assert not any(map(runs, servers))
    assert list((place / "tmp").iterdir()) == []


def listens(port: int) -> bool:
    """Whether something accepts connections there."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def runs(process: int) -> bool:
    """Whether it has not ended; what it left for its parent to read is no process."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False
