"""The documented workflow files on a runner: `act`, the action's image, and a GitHub of the test's own.

A job runs in the container that act is started in, as on a machine of its own. Where a test needs more, each job
has a container: act then copies files in and out of it at each step, which takes most of the time.

Not the real thing: the checkout, which is act's copy of the folder, and upload and download, which are stand-ins
for actions/upload-artifact and actions/download-artifact (`actions/`) that speak to act's artifact service. What
is uploaded is then put where the API finds it.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from runevals.version import ACTION_REF
from tests.conftest import docker
from tests.github.emulator import FORK_ID, REPOSITORY_ID, TOKEN, Fault
from tests.sample_suites import AGENT, WORSE

pytestmark = pytest.mark.needs("container")

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / "docs" / "workflows"
PUSH = {"before": "0" * 40, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}


CRASH_OF_ACT = "fatal error: concurrent map"
# What act says of itself, many lines for each step: without them the log of a failure is short enough to be read.
OF_ACT = re.compile(r"LocalRepositoryCache|⭐ Run (Pre|Post) |Success - (Pre|Post) ")

JOB_IMAGE = """
FROM runevals-under-test
RUN rm -rf /opt/runevals && python3 -m pip install -q uv \
 && python3 -m venv /usr/local/agents && /usr/local/agents/bin/pip install -q tabulate
ENV RUNEVALS_IN_CONTAINER= PYTHONDONTWRITEBYTECODE= SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
"""


@pytest.fixture(scope="session")
def job_image(image):
    """What jobs run in: Python, uv and git, and nothing of ours."""
    command = ["build", "--quiet", "--tag", "runevals-job", "-"]
    built = docker(*command, text=JOB_IMAGE)
    assert built.returncode == 0, built.stderr
    return "runevals-job"


@pytest.fixture(scope="session")
def runner_temp(tmp_path_factory):
    """What the action downloads, it downloads once; in containers of jobs it is RUNNER_TEMP, too."""
    folder = tmp_path_factory.mktemp("temp")
    folder.chmod(0o1777)
    return folder


@pytest.fixture(scope="session")
def actions(image, tmp_path_factory):
    """What the workflows use: the action as a release has it, and stand-ins for upload and download."""
    folder = tmp_path_factory.mktemp("action")
    for name in ("action.yml", "requirements-image.lock"):
        shutil.copy(ROOT / name, folder)
    for name in ("container", "runner"):
        shutil.copytree(ROOT / name, folder / name)
    dist = tmp_path_factory.mktemp("dist")
    built = docker("build", "--build-arg", "BASE_IMAGE", "--target", "wheel", "--output", str(dist), str(ROOT))
    assert built.returncode == 0, built.stderr
    [wheel] = dist.glob("*.whl")
    command = [sys.executable, ROOT / ".ci" / "release_files.py", f"{image}:latest", wheel]
    subprocess.run(command, cwd=folder, check=True)
    [upload] = set(re.findall(r"actions/upload-artifact@\w+", (ROOT / "action.yml").read_text("utf-8")))
    [download] = re.findall(r"actions/download-artifact@\w+", (WORKFLOWS / "sharded.yml").read_text("utf-8"))
    stand_ins = Path(__file__).parent / "actions"
    return {
        f"runevals/runevals@{ACTION_REF}": folder,
        upload: stand_ins / "upload-artifact",
        download: stand_ins / "download-artifact",
    }


@pytest.fixture
def workflow(repository, hub, actions, job_image, runner_temp, tmp_path_factory):
    """Runs a workflow of the documentation for an event, in the repository → (whether it succeeded, its log)."""
    repository.write(".gitignore", ".evals/\n")
    folder = repository.path / ".github" / "workflows"
    shutil.copytree(WORKFLOWS, folder)
    repository.git("update-ref", "-d", "HEAD")  # so that the base is the same commit in every test
    repository.git("add", "-A")
    repository.git("commit", "-qm", "base")
    repository.git("branch", "-f", "main")
    runner = tmp_path_factory.mktemp("runner")
    found = shutil.which("node")
    node = [] if found is None else ["-v", f"{Path(found).resolve()}:/usr/local/bin/node:ro"]
    act = Path(sys.executable).with_name("act")

    def run(
        number: int,
        file: str,
        event: str,
        payload: dict,
        *,
        containers: bool = False,
        shards: Sequence[str] = (),
        **more: str,
    ) -> tuple[bool, str]:
        (runner / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        environment = {
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_RUN_ID": str(number),
            "GITHUB_API_URL": hub.url,
            "GITHUB_WORKFLOW_REF": f"o/r/.github/workflows/{file}@refs/heads/main",
            **more,
        }
        command = [
            *(act, event, "-W", renamed(folder / file, runner) if containers else folder / file),
            *("-e", runner / "event.json"),
            *("-P", f"ubuntu-latest={job_image if containers else '-self-hosted'}"),
            *("--pull=false", "--no-cache-server", "--rm"),
            *("--container-options", " ".join(["-v", f"{runner_temp}:/tmp", *node])),
            *("--concurrent-jobs", "1"),  # a matrix at once asks too much of a busy machine
            *(word for shard in shards for word in ("--matrix", f"shard:{shard}")),
            *("--container-daemon-socket", "-", "-s", "GITHUB_TOKEN", "-s", "OPENAI_API_KEY"),
            *("--artifact-server-addr", "127.0.0.1", "--artifact-server-port", str(free_port())),
            *("--artifact-server-path", runner / "artifacts"),
            *(word for name, value in environment.items() for word in ("--env", f"{name}={value}")),
            *(word for name, own in actions.items() for word in ("--local-repository", f"{name}={own}")),
        ]
        secrets = {"GITHUB_TOKEN": TOKEN, "OPENAI_API_KEY": "not-a-real-key"}
        words = [str(word) for word in command]
        if containers:
            home = {"HOME": str(runner), "XDG_CACHE_HOME": str(runner / "cache")}
            started = partial(
                subprocess.run,
                words,
                cwd=repository.path,
                env={**os.environ, **secrets, **home},
                capture_output=True,
                text=True,
                timeout=600,  # of eight steps of the action on a busy machine; alone they take 75 s
                check=False,
            )
        else:
            folders = [*(repository.path, runner, runner_temp, act), *actions.values()]
            caches = {"XDG_CACHE_HOME": runner_temp / "cache", "UV_CACHE_DIR": runner_temp / "uv"}
            options = [
                *("--rm", "--network", "host", "--workdir", str(repository.path), "--entrypoint", str(act), *node),
                *(word for path in folders for word in ("-v", f"{path}:{path}")),
                *(word for name in secrets for word in ("-e", name)),
                *(word for name, path in caches.items() for word in ("-e", f"{name}={path}")),
            ]
            started = partial(docker, "run", *options, job_image, *words[1:], **secrets)
        done = started()
        if CRASH_OF_ACT in done.stderr:  # before a step of ours: jobs side by side read its actions
            done = started()
        path = f".github/workflows/{file}"
        hub.run(number, repository.git("rev-parse", "HEAD"), event=event, path=path)
        for archive in (runner / "artifacts" / str(number)).glob("*/*.zip"):
            if archive.stem.endswith(".html"):
                run.pages.append(archive.stem)
            else:
                hub.artifact(number, archive.stem, archive.read_bytes())
        lines = (done.stdout + done.stderr).splitlines(keepends=True)
        return done.returncode == 0, "".join(line for line in lines if not OF_ACT.search(line))

    run.repository, run.pages = repository, []
    return run


def renamed(workflow: Path, runner: Path) -> Path:
    """The workflow under a name that no other has: act names containers and volumes by workflow and job."""
    own = runner / "workflows" / f"{uuid.uuid4().hex}.yml"
    own.parent.mkdir(exist_ok=True)
    lines = [line for line in workflow.read_text("utf-8").splitlines() if not line.startswith("name:")]
    own.write_text("\n".join([f"name: {own.stem}", *lines, ""]), "utf-8")
    return own


def free_port() -> int:
    """A free port from which the system starts no connection of its own: it is taken minutes later."""
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port
    raise AssertionError("none of 100 ports is free")


_pushed: dict[str, Sequence[dict]] = {}  # workflow and commit → what its run stored


def push_to_main(workflow, hub, file: str = "pull-request.yml") -> None:
    """A push of the base; the tests of one workflow share what its run stored."""
    repository = workflow.repository
    repository.git("checkout", "-q", "main")
    base = repository.git("rev-parse", "main")
    hub.history = [base]
    if f"{file} {base}" in _pushed:
        hub.run(1, base, event="push", path=f".github/workflows/{file}")
        for one in _pushed[f"{file} {base}"]:
            hub.artifact(1, one["shown"]["name"], one["content"])
        return
    succeeded, log = workflow(1, file, "push", PUSH)
    assert succeeded, log
    assert {one["run"] for one in hub.artifacts} == {1}
    _pushed[f"{file} {base}"] = tuple(hub.artifacts)


def merged(repository, text: str, file: str = "agent.py") -> dict:
    """Checks out a change of a file merged into main, as GitHub does → the event of its pull request."""
    repository.git("checkout", "-q", "change")
    repository.write(file, text)
    repository.git("commit", "-qam", "change")
    head = repository.git("rev-parse", "change")
    repository.git("checkout", "-q", "--detach", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "change")
    own = {"id": REPOSITORY_ID}
    base = {"sha": repository.git("rev-parse", "main"), "ref": "main", "repo": own}
    change = {"number": 7, "head": {"sha": head, "ref": "change", "repo": own}, "base": base}
    return {"number": 7, "pull_request": change}


BETTER = AGENT + "\n"


def test_a_worse_prompt_is_red_and_its_fix_turns_the_same_comment_green(workflow, hub):
    push_to_main(workflow, hub)

    succeeded, log = workflow(2, "pull-request.yml", "pull_request", merged(workflow.repository, WORSE))
    assert not succeeded, log
    [comment] = hub.comments[7]
    assert "### ❌ 1 of 2 cases regressed" in comment["body"]
    assert "- Paris\n+ Rome" in comment["body"]
    assert [one["run"] for one in hub.artifacts] == [1, 2], "a red result is stored too"
    assert "baseline_run_id=1" in log

    succeeded, log = workflow(3, "pull-request.yml", "pull_request", merged(workflow.repository, BETTER))
    assert succeeded, log
    [same] = hub.comments[7]
    assert same["id"] == comment["id"]
    assert "### ✅ No regression shown in 2 cases" in same["body"]


def test_a_merge_queue_is_held_by_a_worse_group(workflow, hub):
    push_to_main(workflow, hub)
    repository = workflow.repository
    merged(repository, WORSE)
    group = {
        "head_sha": repository.git("rev-parse", "HEAD"),
        "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-0",
        "base_sha": repository.git("rev-parse", "main"),
        "base_ref": "refs/heads/main",
    }
    succeeded, log = workflow(2, "pull-request.yml", "merge_group", {"merge_group": group})
    assert not succeeded, log
    assert "✗ 1 of 2 cases regressed" in log
    assert "baseline_run_id=1" in log
    assert not hub.comments


def test_a_forks_change_is_commented_on_by_a_workflow_that_runs_nothing_of_it(workflow, hub):
    push_to_main(workflow, hub)
    repository = workflow.repository
    event = merged(repository, WORSE)
    event["pull_request"]["head"]["repo"] = {"id": FORK_ID}
    sha = event["pull_request"]["head"]["sha"]
    hub.faults = [Fault("POST", 403, message="Resource not accessible by integration", times=1)]
    succeeded, log = workflow(2, "pull-request.yml", "pull_request", event)
    assert not succeeded, log
    assert not hub.comments

    forks = {"branch": "change", "event": "pull_request", "repository_id": FORK_ID}
    hub.run(2, sha, path=hub.runs.pop()["path"], **forks)
    hub.pull(7, sha, branch="change", owner="mallory", repository_id=FORK_ID)
    repository.git("checkout", "-q", "main")
    told = {"workflow_run": {"id": 2, "event": "pull_request"}, "repository": {"default_branch": "main"}}
    succeeded, log = workflow(3, "fork-comment.yml", "workflow_run", told, containers=True)
    assert succeeded, log
    [body] = hub.bodies()
    assert "### ⚠ Reported by the fork's own run, not verified: 0 of 2 cases pass" in body


def test_the_first_five_minutes_end_with_a_blocked_merge(workflow, hub):
    """The files of docs/github.md, as they stand there."""
    page = (ROOT / "docs" / "github.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"^\*\*\d\. [^`\n]*`([\w./]+)`[^\n]*\n\n```\w+\n(.*?)^```$", page, re.M | re.S))
    assert len(files) == 4
    repository = workflow.repository
    repository.git("checkout", "-q", "main")
    for name, text in files.items():
        repository.write(name, text)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "add evals")
    repository.git("branch", "-f", "change")
    hub.history = [repository.git("rev-parse", "main")]
    first_line, _, rest = files["agent.py"].partition("\n")
    assert first_line.startswith("PRICES = {")
    succeeded, log = workflow(1, "evals.yml", "push", PUSH)
    assert succeeded, log
    broken = merged(repository, f"PRICES = {{}}\n{rest}", "agent.py")
    succeeded, log = workflow(2, "evals.yml", "pull_request", broken)
    assert not succeeded, log
    assert "### ❌ 2 of 3 cases regressed" in hub.bodies()[0]


ANIMALS = tuple(f"animal {number}" for number in range(120))
ECHO = "def answer(prompt):\n    return prompt\n"
WORSE_ECHO = "def answer(prompt):\n    return prompt.replace('7', 'seven')\n"


@pytest.fixture
def sharded(workflow, hub):
    """The sharded workflow, with a stored result of 120 cases on main."""
    repository = workflow.repository
    repository.git("checkout", "-q", "main")
    items = [{"testId": name, "prompt": name, "expected_response": name} for name in ANIMALS]
    repository.write(
        "evals.json", {"default_evaluators": {"ExactMatch": {}}, "schemaVersion": "1.2.0", "items": items}
    )
    repository.write("agent.py", ECHO)
    repository.git("commit", "-qam", "many cases")
    repository.git("branch", "-f", "change")
    push_to_main(workflow, hub, "sharded.yml")
    stored = sorted(one["shown"]["name"] for one in hub.artifacts)
    assert len(stored) == 4
    assert stored[0] == "runevals-evals"
    assert all(name.startswith(f"shard-{part}-of-3-runevals-") for part, name in enumerate(stored[1:], start=1))
    return workflow


def test_shards_are_planned_run_and_merged_into_one_comment(sharded, hub):
    event = merged(sharded.repository, WORSE_ECHO)
    succeeded, log = sharded(2, "sharded.yml", "pull_request", event)
    assert not succeeded, log
    assert hub.comments, log
    [comment] = hub.comments[7]
    lost = [name for name in ANIMALS if "7" in name]
    assert f"### ❌ {len(lost)} of 120 cases regressed" in comment["body"], log
    assert sum(name in comment["body"] for name in lost) >= 2, comment["body"]  # examples of their group
    assert "baseline_run_id=1" in log
    assert "split by the durations in run 1" in log

    succeeded, log = sharded(3, "sharded.yml", "pull_request", merged(sharded.repository, ECHO + "\n"))
    assert succeeded, log
    [same] = hub.comments[7]
    assert same["id"] == comment["id"]
    assert "### ✅ No regression shown in 120 cases" in same["body"]


def test_a_shard_that_left_nothing_is_named_and_nothing_is_green(sharded, hub):
    """As that of a runner which is taken away: its job ends without a word."""
    event = merged(sharded.repository, ECHO + "\n")
    succeeded, log = sharded(2, "sharded.yml", "pull_request", event, shards=("1/3", "3/3"))
    assert not succeeded, log
    [body] = hub.bodies()
    assert "### ⛔ Not measured – of 3 shards, these are missing&#58; 2" in body


def test_a_change_that_brings_its_own_shard_is_red_where_the_plan_fails(sharded, hub, runevals):
    """Then no job runs a part, and the merge finds only what is committed."""
    repository, name = sharded.repository, ".github/workflows/sharded.yml"
    assert runevals("--shard", "1/1", "-q", "-o", "shards/results.json")[0] == 0
    repository.git("checkout", "-q", "change")
    repository.git("add", "-f", "shards")
    planned = "          cases_per_shard: 50\n"
    text = (repository.path / name).read_text("utf-8").replace(planned, planned + "      - run: exit 1\n")
    succeeded, log = sharded(2, "sharded.yml", "pull_request", merged(repository, text, name))
    assert not succeeded, log
    assert "The plan of the shards failed" in log
    assert hub.comments, log
    [body] = hub.bodies()
    assert "### ⛔ Not measured – shards&#47;results.json is in the repository itself" in body


def form(name: str, uses: str, settings: str, *more: str) -> str:
    """A step of the action, in one of its forms. act tells its steps apart by nothing, GitHub by GITHUB_ACTION."""
    given = f"{{config: {settings}.yaml, comment_id: {name}}}"
    lines = [f"- uses: runevals/runevals{uses}@{ACTION_REF}", *more, f"  with: {given}"]
    return "".join(f"      {line}\n" for line in lines)


JOB = """\
on: push
permissions: {contents: read, actions: read}
jobs:
  forms:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v7
"""
OF_JOB = """\
      - run: |
          echo /usr/local/agents/bin >>"$GITHUB_PATH"
          setsid --fork python3 server.py >/dev/null 2>&1  # act ends what a step leaves in its session
          timeout 60 bash -c 'until echo >/dev/tcp/127.0.0.1/PORT; do sleep 0.1; done' 2>/dev/null
"""
ON_RUNNER = [form(f"runner-{name}", "", name) for name in ("plain", "package", "server", "node")]
IN_CONTAINER = [
    form(f"container-{name}", "/container", name, "  if: always()", "  continue-on-error: true")
    for name in ("plain", "package", "elsewhere", "node")
]
OF_FORMS = {
    ".github/workflows/runner.yml": "".join((JOB, OF_JOB, *ON_RUNNER)),
    ".github/workflows/container.yml": "".join((JOB, *IN_CONTAINER)),
    "with_tabulate.py": "import tabulate\nfrom agent import answer\n",
    "agent.js": """\
const { prompt } = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(prompt === "Capital of France?" ? "Paris" : "Quito");
""",
    "server.py": """\
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from agent import answer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"output": answer(asked["prompt"])}).encode())


HTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
""",
}
TARGETS = {
    "plain": "{type: python, function: 'agent.py:answer', deterministic: true}",
    "package": "{type: python, function: 'with_tabulate.py:answer', deterministic: true}",
    "server": "{type: http, url: 'http://localhost:PORT/', deterministic: true}",
    "elsewhere": "{type: http, url: 'http://localhost:9/', deterministic: true}",
    "node": "{type: command, command: [node, agent.js], deterministic: true}",
}


@pytest.mark.needs("node")
def test_the_runner_has_all_that_the_job_has_and_the_container_says_what_it_lacks(workflow, hub):
    repository, port = workflow.repository, str(free_port())
    repository.git("checkout", "-q", "main")
    settings = {f"{name}.yaml": f"suites: [evals.json]\ntarget: {told}\n" for name, told in TARGETS.items()}
    for name, text in {**OF_FORMS, **settings}.items():
        repository.write(name, text.replace("PORT", port))
    repository.git("add", "-A")
    repository.git("commit", "-qm", "two forms")
    hub.history = [repository.git("rev-parse", "main")]
    succeeded, log = workflow(1, "runner.yml", "push", PUSH)
    assert succeeded, log
    succeeded, log = workflow(2, "container.yml", "push", PUSH, containers=True)
    assert succeeded, log
    documents = stored_documents(hub)
    measured = {name for name, document in documents.items() if document["verdict"]["exit_code"] == 0}
    assert measured == {"runner-plain", "runner-package", "runner-server", "runner-node", "container-plain"}, log
    answers = [[case["status"] for case in documents[name]["cases"]] for name in measured]
    assert all(given == ["passed", "failed"] for given in answers)
    both = (json.dumps(documents[name]).replace(name, "a form") for name in ("runner-plain", "container-plain"))
    assert set(differences(*map(json.loads, both))) <= TIMES | WHERE_THEY_RAN
    instead = "; use runevals/runevals, which runs on the runner, instead of runevals/runevals/container"
    for lacks in (
        "No module named 'tabulate' (with_tabulate.py:1)",
        "localhost:9/ within the container",
        "target: there is no program node",
    ):
        assert f"{lacks}{instead}" in log
    assert len(workflow.pages) == len(set(workflow.pages)) == len(hub.artifacts)


def stored_documents(hub) -> dict[str, dict]:
    """The stored results, by the comment_id of their step."""
    documents = {}
    for one in hub.artifacts:
        with zipfile.ZipFile(io.BytesIO(one["content"])) as archive:
            name = one["shown"]["name"].removeprefix("runevals-")
            documents[name] = json.loads(archive.read("results.json"))
    return documents


# The fields of two runs of one commit that may differ, and those that differ as the programs are others.
TIMES = {"run.started_at", "run.duration_s", "latency_s", "latency_p95_s"}
WHERE_THEY_RAN = {"run.python"}


def differences(one: Any, other: Any, place: str = "") -> Iterator[str]:
    """The places where two documents differ; times of a call by their name alone."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted({*one, *other}):
            yield from differences(one.get(name), other.get(name), f"{place}.{name}".removeprefix("."))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{place}[{number}]")
    elif one != other:
        name = place.rpartition(".")[2]
        yield name if name in TIMES else place
