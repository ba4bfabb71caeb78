"""The container, built from this checkout and run as GitHub runs a Docker action."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from a2a.helpers.proto_helpers import new_text_message

from tests.a2a_server import a2a_server
from tests.conftest import docker
from tests.github.emulator import TOKEN, github

pytestmark = pytest.mark.needs("container")

ROOT = Path(__file__).parents[2]
RUNNER_UID = 1001
[NAMED] = re.findall("^ARG BASE_IMAGE=(.*)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
BASE = os.environ.get("BASE_IMAGE", NAMED)


@pytest.fixture
def step(image, tmp_path):
    """Runs the action in a workspace that belongs to the runner's user, with the given inputs."""
    workspace = tmp_path / "workspace"
    shutil.copytree(ROOT / "examples" / "support-agent", workspace / "examples" / "support-agent")
    (workspace / ".git").mkdir()
    for folder in ("temp", "home", "workflow", "file_commands"):
        (tmp_path / folder).mkdir()
    for path in [tmp_path, *tmp_path.rglob("*")]:
        os.chown(path, RUNNER_UID, RUNNER_UID)
    commands = tmp_path / "file_commands"
    for name in ("output", "summary"):
        (commands / name).touch()

    def run(environment: dict[str, str] | None = None, **inputs: str):
        given = {
            **{f"INPUT_{name.upper()}": value for name, value in {"target": "", "repeat": "", **inputs}.items()},
            "GITHUB_OUTPUT": "/github/file_commands/output",
            "GITHUB_STEP_SUMMARY": "/github/file_commands/summary",
            "GITHUB_SHA": "d4e5f6a" + "0" * 33,
            "GITHUB_REF": "refs/pull/7/merge",
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            "HOME": "/github/home",
            **(environment or {}),
        }
        done = docker(
            *("run", "--rm", "--workdir", "/github/workspace", "--label", "runevals-test", "--network", "host"),
            *(word for name in given for word in ("-e", name)),
            *("-v", f"{tmp_path / 'temp'}:/github/runner_temp", "-v", f"{tmp_path / 'home'}:/github/home"),
            *("-v", f"{tmp_path / 'workflow'}:/github/workflow"),
            *("-v", f"{commands}:/github/file_commands", "-v", f"{workspace}:/github/workspace", image),
            **given,
        )
        return done, workspace, outputs(commands / "output"), (commands / "summary").read_text(encoding="utf-8")

    return run


def outputs(path: Path) -> dict[str, str]:
    """Reads step outputs as the runner does."""
    found, lines = {}, iter(path.read_text(encoding="utf-8").split("\n"))
    for line in lines:
        if line:
            name, delimiter = line.split("<<")
            found[name] = "\n".join(iter(lines.__next__, delimiter))
    return found


def test_the_good_agent_is_green(step):
    done, workspace, told, summary = step(config="examples/support-agent/runevals.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "✓ No regression shown in 24 cases" in done.stdout
    assert (told["verdict"], told["exit_code"], told["pass_rate"], told["regressions"]) == (
        "passed",
        "0",
        "1.0000",
        "0",
    )
    assert summary.startswith("### ✅ No regression shown in 24 cases")
    document = json.loads((workspace / told["results_path"]).read_text(encoding="utf-8"))
    assert document["run"]["commit"].startswith("d4e5f6a")
    assert document["verdict"]["outcome"] == "passed"


def test_the_worse_agent_is_red_by_name_and_its_files_belong_to_the_runner(step):
    done, workspace, told, summary = step(config="examples/support-agent/worse.yaml")
    assert done.returncode == 1, done.stdout + done.stderr
    assert (told["verdict"], told["regressions"]) == ("failed", "3")
    assert "KB&#45;007" in summary
    written = [
        workspace / told[name]
        for name in ("results_path", "html_path", "junit_path", "table_path", "summary_path")
    ]
    assert {path.stat().st_uid for path in written} == {RUNNER_UID}
    assert {folder.stat().st_uid for folder in (workspace / ".evals").rglob("*")} == {RUNNER_UID}


def test_the_same_verdict_as_on_the_host(step, tmp_path):
    _, workspace, told, _ = step(config="examples/support-agent/worse.yaml")
    host = tmp_path / "host.json"
    command = [sys.executable, "-m", "runevals", "run", "--config", "examples/support-agent/worse.yaml"]
    on_host = subprocess.run(
        [*command, "-o", str(host)], cwd=workspace, capture_output=True, text=True, check=False
    )
    assert on_host.returncode == 1, on_host.stderr
    inside = json.loads((workspace / told["results_path"]).read_text(encoding="utf-8"))
    outside = json.loads(host.read_text(encoding="utf-8"))
    assert inside["verdict"] == outside["verdict"]
    assert inside["gates"] == outside["gates"]
    assert [c["status"] for c in inside["cases"]] == [c["status"] for c in outside["cases"]]


def test_without_a_suite_it_ends_at_once_and_says_so_everywhere(step):
    done, workspace, told, _ = step()
    assert done.returncode == 2
    assert "no suite found" in done.stderr
    assert (told["verdict"], told["exit_code"], told["pass_rate"]) == ("unmeasured", "2", "")
    assert "no suite found" in (workspace / told["summary_path"]).read_text(encoding="utf-8")
    assert [path.name for path in (workspace / ".evals").iterdir()] == ["results"]


def test_keys_are_masked_before_anything_is_printed(step):
    secret = {"MY_API_KEY": "not-a-real-key-1234"}
    done, *_ = step(secret, config="examples/support-agent/runevals.yaml")
    assert done.stdout.splitlines()[0] == "::add-mask::not-a-real-key-1234"


def merge_commit(workspace: Path) -> dict:
    """Makes the workspace the checkout of a pull request, a change merged into main → its event."""

    def git(*words: str) -> str:
        options = ("-c", "safe.directory=*", "-c", "user.name=A", "-c", "user.email=a@example.com")
        done = subprocess.run(["git", *options, *words], cwd=workspace, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    (workspace / ".git").rmdir()
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "base")
    git("checkout", "-qb", "change")
    settings = workspace / "examples/support-agent/runevals.yaml"
    settings.write_text(
        settings.read_text(encoding="utf-8").replace("agent.py", "agent_worse.py"), encoding="utf-8"
    )
    git("commit", "-qam", "change")
    head = git("rev-parse", "HEAD")
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-ff", "-m", "merge", "change")
    own = {"id": 1}
    base = {"sha": "a" * 40, "ref": "main", "repo": own}  # of the event; the merge commit knows better
    return {"pull_request": {"number": 7, "head": {"sha": head, "ref": "change", "repo": own}, "base": base}}


def test_a_pull_request_is_commented_on_and_its_files_are_marked(step, tmp_path):
    event = merge_commit(tmp_path / "workspace")
    (tmp_path / "workflow" / "event.json").write_text(json.dumps(event), encoding="utf-8")
    job = {
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": "/github/workflow/event.json",
        "GITHUB_SHA": (tmp_path / "workspace/.git/refs/heads/main").read_text().strip(),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_WORKFLOW": "evals",
        "GITHUB_JOB": "test",
        "INPUT_GITHUB_TOKEN": TOKEN,
    }
    with github() as hub:
        done, workspace, told, _ = step(
            {**job, "GITHUB_API_URL": hub.url}, config="examples/support-agent/runevals.yaml"
        )
    assert done.returncode == 1, done.stdout + done.stderr
    [body] = hub.bodies()
    assert body.startswith("<!-- runevals evals-test-")
    assert "### ❌ 3 of 24 cases regressed" in body
    assert f"/blob/{event['pull_request']['head']['sha']}/examples/support-agent/evals/evals.json#L49)" in body
    assert told["comment_url"] == "https://github.com/o/r/pull/7#issuecomment-1"
    assert (workspace / told["comment_body_path"]).read_text(encoding="utf-8") == body
    assert (workspace / told["comment_body_path"]).stat().st_uid == RUNNER_UID
    assert "::error file=examples/support-agent/evals/evals.json,line=49,title=KB-007 regressed::" in done.stdout


def test_the_image_tells_its_version_and_is_small(image):
    from runevals import __version__

    told = docker("run", "--rm", "--entrypoint", "/opt/runevals/bin/runevals", image, "--version")
    assert told.stdout == f"runevals {__version__}\n"
    size = int(docker("image", "inspect", "--format", "{{.Size}}", image).stdout)
    base = docker("image", "inspect", "--format", "{{.Size}}", BASE).stdout
    if not base.strip():
        docker("pull", "--quiet", BASE)
        base = docker("image", "inspect", "--format", "{{.Size}}", BASE).stdout
    assert size - int(base) < 250 * 1024 * 1024


async def told_back(context, queue, updater):
    await queue.enqueue_event(
        new_text_message(f"You said {context.get_user_input()}", context_id=context.context_id)
    )


def test_an_agent_behind_a2a_is_reached(step, tmp_path):
    items = [{"prompt": "Hi", "expected_response": "You said Hi"}]
    suite = {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}, "items": items}
    (tmp_path / "workspace" / "evals.json").write_text(json.dumps(suite), encoding="utf-8")
    with a2a_server(told_back) as server:
        done, *_ = step(suites="evals.json", target=f"a2a:{server.url}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 case passes" in done.stdout, done.stdout


def test_the_client_of_mcp_servers_is_there(image):
    python = ("--entrypoint", "/opt/runevals/bin/python3", image, "-c")
    done = docker("run", "--rm", *python, "import runevals.suites.urls.mcp_client, mcp; print('here')")
    assert done.stdout == "here\n", done.stderr
