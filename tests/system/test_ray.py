"""`--executor ray` on a real cluster of several nodes, one of which is killed in mid-run."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter

import pytest

from tests.chat_server import Reply, chat_server
from tests.json_server import Answer, json_server
from tests.ray_cluster import LOOPBACK, ray_cluster
from tests.sample_reports import without_times
from tests.sample_suites import EXACT, numbered

CASES = 90
SUITE = {**EXACT, "items": numbered(CASES, "yes")}
ON_NODES = "key-of-the-nodes-0123456789"
HERE = "key-of-this-machine-0123456789"

pytestmark = pytest.mark.needs("linux")


@pytest.fixture(scope="module")
def cluster():
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # socket paths may not be long
    with ray_cluster(3, folder, OPENAI_API_KEY=ON_NODES) as running:
        yield running
    shutil.rmtree(folder)


@pytest.fixture
def started(project, cluster):
    """Starts runevals; a run that is still there at the end is killed."""
    project.write("evals.json", SUITE)
    runs = []

    def start(*words, **environment):
        run = subprocess.Popen(
            [sys.executable, "-m", "runevals", *words],
            cwd=project.path,
            env={**os.environ, **LOOPBACK, "RAY_ADDRESS": cluster.address, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        runs.append(run)
        return run

    yield start
    for run in runs:
        run.kill()
        run.communicate()


@pytest.fixture
def model():
    """A model that takes a moment; `asked` counts its questions."""
    asked: Counter[str] = Counter()
    lock = threading.Lock()

    def answer(body, number):
        shown = body["messages"][-1]["content"]
        with lock:
            asked[shown] += 1
        time.sleep(server.pause_s)
        return Reply("no" if "7?" in shown else "yes")

    with chat_server(answer) as server:
        server.asked = asked
        server.pause_s = 0.03
        server.environment = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": HERE}
        yield server


RUN = ("--target", "openai:tiny", "--concurrency", "6", "-q")
ON_RAY = (*RUN, "--executor", "ray")


def test_files_of_the_repository_go_to_the_nodes_and_dotenv_files_do_not(project, started):
    project.write(
        "agent.py",
        "from pathlib import Path\nfrom words import WORD\n\n"
        "def answer(prompt):\n"
        "    return ' '.join((WORD, __file__, str(Path('.env.local').exists())))\n",
    )
    project.write("words.py", "WORD = 'hello'\n")
    project.write(".env.local", "AGENT_TOKEN=secret\n")
    run = started("--target", "python:agent.py:answer", "--executor", "ray", "-q", "-o", "out.json")
    out, err = run.communicate(timeout=60)
    assert run.returncode == 0, out + err
    outputs = {case["attempts"][0]["turns"][0]["output"] for case in project.document()["cases"]}
    assert all(output.startswith("hello ") and output.endswith(" False") for output in outputs)
    assert not any(str(project.path) in output for output in outputs)


def test_a_key_that_a_node_lacks_ends_the_run_before_anything_is_sent(project, started, model):
    target = "target: {type: openai, model: tiny, api_key_env: OTHER_KEY}\n"
    project.write("runevals.yaml", f"{target}suites: [evals.json]\nexecutor: ray\n")
    run = started("-q", **model.environment, OTHER_KEY=HERE)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 3, out + err
    assert "on the node " in err
    assert "the environment variable OTHER_KEY is not set there" in err
    assert not model.requests


def test_an_interrupt_ends_a_run_on_a_cluster_in_time_and_with_reports(project, started, model):
    run = started(*ON_RAY, "-o", "out.json", **model.environment)
    while len(model.requests) < 20:
        time.sleep(0.01)
    run.send_signal(signal.SIGTERM)
    out, err = run.communicate(timeout=20)
    assert run.returncode == 130, out + err
    document = project.document()
    assert document["complete"] is False
    assert document["totals"]["passed"] >= 10
    assert "runevals run --resume" in out + err
    before = sum(model.asked.values())
    again = started("run", "--resume", "-q", **model.environment)
    out, err = again.communicate(timeout=60)
    assert again.returncode == 0, out + err
    assert sum(model.asked.values()) - before <= CASES - document["totals"]["passed"] + 6


def test_calls_book_resources_and_run_in_the_environment_that_is_named(project, started):
    project.write(
        "agent.py",
        "import os, time\n\ndef answer(prompt):\n    time.sleep(0.05)\n"
        "    return f'{os.environ[\"WORD\"]} from {os.getppid()}'\n",
    )
    project.write("env.yaml", "env_vars: {WORD: hello}\n")
    words = ("--target", "python:agent.py:answer", "--executor", "ray", "-q", "-o", "out.json")
    resources = ("--ray-num-cpus", "0.5", "--ray-runtime-env", "env.yaml", "--concurrency", "6")
    run = started(*words, *resources)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 0, out + err
    outputs = {case["attempts"][0]["turns"][0]["output"] for case in project.document()["cases"]}
    assert all(output.startswith("hello from ") for output in outputs)
    assert 1 < len(outputs) <= 6  # a process a call
    run = started(*words, "--ray-num-cpus", "2", "--ray-num-gpus", "1")
    assert "Ray: waiting for a node with 2 CPU and 1 GPU that is free" in run.stderr.readline()
    run.send_signal(signal.SIGTERM)
    run.send_signal(signal.SIGTERM)
    assert run.wait(20) in (130, 143)


def test_a_run_that_loses_a_node_ends_as_one_on_this_machine(project, started, model, cluster):
    here = started(*RUN, "-o", "here.json", **model.environment)
    here.communicate(timeout=60)
    assert set(model.keys) == {f"Bearer {HERE}"}
    model.asked.clear()
    model.keys.clear()

    run = started(*ON_RAY, "-o", "nodes.json", **model.environment)
    while sum(model.asked.values()) < CASES // 3:
        time.sleep(0.01)
    model.pause_s = 0.5  # the node may join late
    cluster.wait_for_call(2, model.base_url)
    cluster.kill_node(2)
    model.pause_s = 0.03
    out, err = run.communicate(timeout=60)
    assert run.returncode == here.returncode, out + err
    assert "was lost; its calls are repeated on another" in err
    assert without_times(project.document("nodes.json")) == without_times(project.document("here.json"))
    assert len(model.asked) == CASES
    assert sum(model.asked.values()) - CASES <= 6  # those that the node had under way
    assert set(model.keys) == {f"Bearer {ON_NODES}"}  # no node was sent ours
    assert "\x1b" not in out + err


def test_a_conversation_goes_on_elsewhere_with_the_id_that_the_endpoint_gave(project, started, cluster):
    turns = [{"prompt": f"turn {number}", "expected_response": "yes"} for number in (1, 2, 3)]
    project.write("evals.json", {**SUITE, "items": [{"name": f"t{n}", "turns": turns} for n in range(40)]})
    given = itertools.count()
    pause_s = 0.05

    def answer(request, number):
        time.sleep(pause_s)
        known = request.body.get("conversation_id")
        begins = request.body["prompt"] == "turn 1"
        right = "yes" if begins == (known is None) else "no"
        return Answer({"answer": right, "conversation_id": f"c{next(given)}" if begins else known})

    with json_server(answer) as server:
        run = started("--target", f"http:{server.url}", "--executor", "ray", "-q", "-o", "out.json")
        while len(server.requests) < 40:
            time.sleep(0.01)
        pause_s = 0.5  # the node may join late
        cluster.wait_for_call(1, server.url)
        cluster.kill_node(1)
        pause_s = 0.05
        out, err = run.communicate(timeout=60)
    assert run.returncode == 0, out + err
    assert "was lost" in err
    assert project.document()["totals"]["passed"] == 40
