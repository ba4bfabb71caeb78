"""In the action's container a change's programs are somebody else: they reach neither us nor what is the job's."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks.probe import PROBES
from tests.conftest import docker
from tests.ending import ended
from tests.sample_suites import EXACT, numbered

pytestmark = pytest.mark.needs("container", "root")

HERE = Path(__file__).parent
RUNNER, ENGINE = 1001, 127  # of GitHub's runners: the user, whose own group is the one of the container engine
TOKENS = {
    "INPUT_GITHUB_TOKEN": "ghs_token-of-the-job",
    "GITHUB_TOKEN": "ghs_token-of-the-job",
    "ACTIONS_RUNTIME_TOKEN": "runtime-token-of-the-job",
}
COMMANDS = ("OUTPUT", "STEP_SUMMARY", "ENV", "PATH", "STATE")
PYTHON = "/opt/runevals/bin/python3"
PROBED = "/github/workspace/probed"
OWN = {
    "own code",
    "own workspace",
    "own folder",
    "own home",
    "own temporary folder",
    "own name",
}
SETTINGS = f"""\
suites: [evals.json, eval-samples.json]
target: python:agent.py:answer
base: run
repeat: 1
concurrency: 1
url_fetch: {{enabled: true}}
base_setup: [sh, -c, "{PYTHON} probe.py setup > {PROBED}/setup.json"]
"""
HONEST = "def answer(prompt):\n    return 'yes'\n"
HOSTILE = f"""\
import json, os, pathlib, time
import probe

def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                tamper()
                time.sleep(0.001)
        os._exit(0)

def tamper():
    code = pathlib.Path({PYTHON!r}).parents[1].rglob("runevals/**/*.py") if FIRST else ()
    for path in (*pathlib.Path("/github/file_commands").iterdir(), *code):
        try:
            with path.open("a") as file:
                file.write("exit_code=0\\nverdict=passed\\nPWNED=by_the_target\\n" if path not in code else "")
        except OSError:
            pass

FIRST = True

def answer(prompt):
    global FIRST
    if FIRST:
        pathlib.Path("{PROBED}/python.json").write_text(json.dumps({{"who": "python", **probe.probed()}}))
        tamper()
        FIRST = False
        daemon()
    return 'no'
"""


def git(folder, *words):
    identity = ("-c", "safe.directory=*", "-c", "user.name=A", "-c", "user.email=a@example.com")
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def job(tmp_path, image):
    """The folders of a job, as the runner makes them; `job.run()` is the step."""

    class Job:
        path = tmp_path
        workspace = tmp_path / "workspace"
        owner = (RUNNER, ENGINE)

        def __init__(self):
            for name in ("workspace/probed", "home", "workflow", "file_commands"):
                (tmp_path / name).mkdir(parents=True)
            for name in COMMANDS:
                (tmp_path / "file_commands" / name).touch()
            self.write("evals.json", {**EXACT, "items": numbered(12, "yes")})
            shutil.copy(HERE / "probe.py", self.workspace)

        def write(self, name, content):
            text = content if isinstance(content, str) else json.dumps(content)
            (self.workspace / name).write_text(text, encoding="utf-8")

        def run(self, **environment):
            for path in (tmp_path, *tmp_path.rglob("*")):
                os.chown(path, *self.owner)
            with socket.socket(socket.AF_UNIX) as engine:
                engine.bind(str(tmp_path / "engine.sock"))
                engine.listen()
                os.chown(tmp_path / "engine.sock", 0, ENGINE)
                (tmp_path / "engine.sock").chmod(0o660)
                return self._run({**TOKENS, **environment})

        def _run(self, environment):
            commands = {f"GITHUB_{name}": f"/github/file_commands/{name}" for name in COMMANDS}
            told = {**commands, "GITHUB_ACTIONS": "true", "CI": "true", "HOME": "/github/home", **environment}
            places = {
                **{tmp_path / name: f"/github/{name}" for name in ("home", "workflow", "file_commands")},
                self.workspace: "/github/workspace",
                tmp_path / "engine.sock": "/var/run/docker.sock",
            }
            return docker(
                *("run", "--rm", "--workdir", "/github/workspace", "--label", "runevals-test"),
                *(word for name in told for word in ("-e", name)),
                *(word for here, there in places.items() for word in ("-v", f"{here}:{there}")),
                image,
                **told,
            )

        def probed(self, who):
            return json.loads((self.workspace / "probed" / f"{who}.json").read_text(encoding="utf-8"))

        def commands(self):
            return {name: (tmp_path / "file_commands" / name).read_text(encoding="utf-8") for name in COMMANDS}

    return Job()


def reached(probed):
    return {name for name, got in probed.items() if got is True}


def pull_request(job):
    """A change that makes the agent hostile, checked out merged → its event."""
    job.write("runevals.yaml", SETTINGS)
    job.write("agent.py", HONEST)
    samples = [{"sample_id": "S1", "prompt": "https://docs.example.com/a", "assertions": MIN_LENGTH}]
    job.write("eval-samples.json", samples)
    job.write("server.sh", f"{PYTHON} probe.py mcp > {PROBED}/mcp.json\nexec {PYTHON} mcp_server.py\n")
    shutil.copy(HERE.parent / "mcp_server.py", job.workspace)
    server = {"command": "sh", "args": ["server.sh"], "env": {"CALLS": "/tmp"}}
    named = {**server, "urlPatterns": ["docs.example.com"], "fetchTool": {"name": "fetch"}}
    job.write(".mcp.json", {"mcpServers": {"docs": named}})
    git(job.workspace, "init", "-q", "-b", "main")
    git(job.workspace, "add", "-A")
    git(job.workspace, "commit", "-qm", "base")
    git(job.workspace, "checkout", "-qb", "change")
    job.write("agent.py", HOSTILE)
    git(job.workspace, "commit", "-qam", "change")
    head = git(job.workspace, "rev-parse", "HEAD")
    git(job.workspace, "checkout", "-q", "main")
    git(job.workspace, "merge", "-q", "--no-ff", "-m", "merge", "change")
    own, base = {"id": 1}, git(job.workspace, "rev-parse", "HEAD^1")
    told = {"number": 7, "head": {"sha": head, "ref": "change", "repo": own}}
    event = {"pull_request": {**told, "base": {"sha": base, "ref": "main", "repo": own}}}
    (job.path / "workflow" / "event.json").write_text(json.dumps(event), encoding="utf-8")
    return {
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": "/github/workflow/event.json",
        "GITHUB_SHA": git(job.workspace, "rev-parse", "HEAD"),
    }


MIN_LENGTH = [{"type": "min_length", "value": 1}]


def test_programs_of_a_change_reach_nothing_of_the_job_and_cannot_make_its_red_green(job):
    event = pull_request(job)
    done = job.run(**event)
    text = done.stdout + done.stderr
    ended(done.returncode, 1, text, "✗ no_regression")
    assert {who: reached(job.probed(who)) for who in ("python", "setup", "mcp")} == {
        "python": OWN,
        "setup": OWN,
        "mcp": OWN,
    }
    commands = job.commands()
    assert "PWNED" not in json.dumps(commands)
    assert (commands["ENV"], commands["PATH"], commands["STATE"]) == ("", "", "")
    assert "exit_code<<" in commands["OUTPUT"]
    assert commands["STEP_SUMMARY"].startswith("### ❌")
    owners = {path.lstat().st_uid for path in job.workspace.rglob("*")}
    assert owners == {RUNNER}, "what we leave in .git and elsewhere is the runner's"


def test_where_root_owns_the_checkout_programs_are_nobodys(job):
    """They can read it, and write where their home is and in the temporary folder."""
    job.owner = (0, 0)
    probing = f"{PYTHON} /github/workspace/probe.py command > $HOME/out; cat $HOME/out"
    job.write(
        "runevals.yaml", f"suites: [evals.json]\ntarget: {{type: command, command: [sh, -c, '{probing}']}}\n"
    )
    job.write("evals.json", {**EXACT, "items": numbered(1, "yes")})
    (job.workspace / ".git").mkdir()
    done = job.run()
    ended(done.returncode, 0, done.stdout + done.stderr, "0 of 1 case passes")
    results = json.loads((job.workspace / ".evals/results/results.json").read_text(encoding="utf-8"))
    said = json.loads(results["cases"][0]["attempts"][0]["turns"][0]["output"])
    assert reached(said) == OWN - {"own workspace", "own folder"}


def test_the_probes_reach_what_root_reaches(tmp_path):
    """The control: they see what is open to them, on this machine as its root."""
    done = subprocess.run(
        [sys.executable, HERE / "probe.py", "control"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    found = reached(json.loads(done.stdout))
    assert {"own code", "own folder", "root", "the list of users", "PID 1 with a signal"} <= found
    assert {name for name in PROBES if name.startswith("another user's")} | {"a process namespace"} <= found


READER = """\
import json, os, subprocess, sys
from runevals.programs import processes

def read(pid):
    try:
        with open(f"/proc/{pid}/environ") as file:
            return "token-of-the-job" in file.read()
    except PermissionError:
        return False

def seen(hidden):
    hide = "processes.hide()" if hidden else "None"
    victim = f"from runevals.programs import processes; {hide}; print(flush=True); input()"
    words = [sys.executable, "-c", victim]
    env = {**os.environ, "GITHUB_TOKEN": "ghs_token-of-the-job"}
    with subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        found = read(process.pid)
        process.communicate(b"x")
    return found

if __name__ == "__main__":
    print(json.dumps([os.getuid(), seen(hidden=False), seen(hidden=True)]))
"""


@pytest.mark.parametrize("user", [0, RUNNER])
def test_what_is_hidden_is_read_by_nobody_of_the_same_user(image, user):
    """As it is where we cannot be another user; as root too, from whom containers take the right to trace."""
    done = docker(
        *("run", "--rm", "--label", "runevals-test", "--user", str(user)),
        *("--entrypoint", PYTHON, image, "-c", READER),
    )
    assert json.loads(done.stdout) == [user, True, False], done.stderr
