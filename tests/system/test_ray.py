"""`--executor ray` on a real cluster of several nodes, one of which is killed in mid-run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import interrupt
from tests.json_server import Answer, json_server
from tests.ray_cluster import LOOPBACK, growing_cluster, ray_cluster
from tests.sample_reports import without_times
from tests.sample_suites import EXACT, numbered
from tests.serving import CallBarrier

CASES = 90
SUITE = {**EXACT, "items": numbered(CASES, "yes")}
ON_NODES = "key-of-the-nodes-0123456789"
HERE = "key-of-this-machine-0123456789"

pytestmark = pytest.mark.needs("linux")


@pytest.fixture(scope="module")
def cluster():
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # socket paths may not be long
    with ray_cluster(2, folder, OPENAI_API_KEY=ON_NODES) as running:
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
def model(monkeypatch):
    """A model whose calls can be held; the runs of this process call it with the key HERE."""
    barrier = CallBarrier()

    def answer(body, number):
        barrier.call()
        return Reply("no" if "7?" in body["messages"][-1]["content"] else "yes")

    with chat_server(answer) as server:
        server.barrier = barrier
        server.environment = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": HERE}
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


RUN = ("--target", "openai:tiny", "--concurrency", "6", "-q")
ON_RAY = (*RUN, "--executor", "ray")


def test_calls_run_on_nodes_with_the_files_resources_and_environment_that_are_named(project, started):
    project.write(
        "agent.py",
        "import os, time\nfrom pathlib import Path\nfrom words import WORD\n\n"
        "def answer(prompt):\n"
        "    time.sleep(0.05)\n"
        "    words = WORD, os.environ['WORD'], Path('.env.local').exists(), __file__, os.getppid()\n"
        "    return ' '.join(map(str, words))\n",
    )
    project.write("words.py", "WORD = 'hello'\n")
    project.write(".env.local", "AGENT_TOKEN=secret\n")
    project.write("env.yaml", "env_vars: {WORD: environment}\n")
    words = ("--target", "python:agent.py:answer", "--executor", "ray", "-q", "-o", "out.json")
    resources = ("--ray-num-cpus", "0.5", "--ray-runtime-env", "env.yaml", "--concurrency", "4")
    run = started(*words, *resources)
    out, err = run.communicate(timeout=300)
    assert run.returncode == 0, out + err
    outputs = {case["attempts"][0]["turns"][0]["output"] for case in project.document()["cases"]}
    assert all(output.startswith("hello environment False /") for output in outputs)
    assert not any(str(project.path) in output for output in outputs)
    assert 1 < len(outputs) <= 4  # a process a call
    run = started(*words, "--ray-num-cpus", "2", "--ray-num-gpus", "1")
    assert "Ray: waiting for a node with 2 CPU and 1 GPU that is free" in run.stderr.readline()
    run.send_signal(signal.SIGTERM)
    run.send_signal(signal.SIGTERM)
    assert run.wait(60) in (130, 143)


def test_an_autoscaler_starts_nodes_for_the_calls_that_wait(project, started):
    project.write("agent.py", "def answer(prompt):\n    return 'yes'\n")
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    project.write("runevals.yaml", "target: {type: python, function: 'agent.py:answer'}\n")
    words = ("--executor", "ray", "--ray-num-cpus", "1", "--concurrency", "2", "-q", "-o", "out.json")
    with growing_cluster(folder) as address:
        out, err = started(*words, RAY_ADDRESS=address).communicate(timeout=300)
    shutil.rmtree(folder, ignore_errors=True)  # of processes that are just ending
    assert "Ray: waiting for a node with 1 CPU that is free" in err
    assert {case["status"] for case in project.document()["cases"]} == {"passed"}, out


def test_a_key_that_a_node_lacks_ends_the_run_before_anything_is_sent(project, started, model):
    target = "target: {type: openai, model: tiny, api_key_env: OTHER_KEY}\n"
    project.write("runevals.yaml", f"{target}suites: [evals.json]\nexecutor: ray\n")
    run = started("-q", **model.environment, OTHER_KEY=HERE)
    out, err = run.communicate(timeout=300)
    assert run.returncode == 3, out + err
    assert "on the node " in err
    assert "the environment variable OTHER_KEY is not set there" in err
    assert not model.requests


def test_an_interrupt_ends_a_run_on_a_cluster_and_the_resumed_one_ends_as_one_on_this_machine(
    project, started, model, runevals
):
    code, _, _ = runevals(*RUN, "-o", "here.json")
    assert set(model.keys) == {f"Bearer {HERE}"}
    model.keys.clear()

    model.barrier.after(20)
    run = started(*ON_RAY, "-o", "out.json", **model.environment)
    model.barrier.wait_until_reached()
    interrupt(run, run.stderr, signal.SIGTERM)
    model.barrier.after(None)
    out, err = run.communicate(timeout=300)
    assert run.returncode == 130, out + err
    document = project.document()
    assert document["complete"] is False
    assert document["totals"]["passed"] >= 10
    assert "runevals run --resume" in out + err
    before = len(model.requests)
    again = started("run", "--resume", "-q", **model.environment)
    out, err = again.communicate(timeout=300)
    assert again.returncode == code, out + err
    assert len(model.requests) - before <= CASES - document["totals"]["passed"] + 6
    assert without_times(project.document()) == without_times(project.document("here.json"))
    assert set(model.keys) == {f"Bearer {ON_NODES}"}  # no node was sent ours


@pytest.fixture
def endpoint(project):
    """Conversations of three turns, whose endpoint names them; from the `slow_from`th call on, it is slow."""
    turns = [{"prompt": f"turn {number}", "expected_response": "yes"} for number in (1, 2, 3)]
    items = [{"name": f"t{number}", "turns": turns} for number in range(CASES // 3)]
    project.write("evals.json", {**SUITE, "items": items})
    quick = threading.Event()

    def answer(request, number):
        if number >= server.slow_from:
            quick.wait(2)
        known = request.body.get("conversation_id")
        begins = request.body["prompt"] == "turn 1"
        right = "yes" if begins == (known is None) else "no"
        return Answer({"answer": right, "conversation_id": f"c{number}" if begins else known})

    with json_server(answer) as server:
        server.quick, server.slow_from = quick, CASES
        yield server


def test_a_run_that_loses_a_node_ends_as_one_on_this_machine(project, started, cluster, endpoint, runevals):
    """Conversations go on elsewhere with the id that the endpoint gave."""
    words = ("--target", f"http:{endpoint.url}", "--concurrency", "6", "-q", "-o")
    code, _, _ = runevals(*words, "here.json")
    assert len(endpoint.requests) == CASES
    endpoint.slow_from = CASES + CASES // 3  # the node may join late
    run = started(*words, "nodes.json", "--executor", "ray")
    cluster.wait_for_call(1, endpoint.url)
    cluster.kill_node(1)
    endpoint.quick.set()
    out, err = run.communicate(timeout=300)
    assert run.returncode == code == 0, out + err
    assert "was lost; its calls are repeated on another" in err
    assert without_times(project.document("nodes.json")) == without_times(project.document("here.json"))
    assert project.document("nodes.json")["totals"]["passed"] == CASES // 3
    assert 0 <= len(endpoint.requests) - 2 * CASES <= 6  # those that the node had under way
    assert "\x1b" not in out + err
