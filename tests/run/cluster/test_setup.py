"""`--executor ray` where there is no cluster, or no Ray."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from tests.sample_suites import AGENT, SUITE

ASKED = ("--executor", "ray", "--target", "python:agent.py:answer", "-q", "-o", "out.json")
WITHOUT_RAY = "import sys; sys.modules['ray'] = None; from runevals.__main__ import main; main()"


def written(project):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)


def test_a_cluster_that_does_not_answer_is_said_at_once_with_what_to_do(project, runevals):
    written(project)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        code, out, err = runevals(*ASKED, "--ray-address", address)
    assert code == 3
    assert f"the Ray cluster {address} cannot be reached" in err
    assert "ray start --head" in err
    assert out == ""


def test_an_address_that_is_none_is_told_wrong(project, runevals):
    written(project)
    code, _, err = runevals(*ASKED, "--ray-address", "nonsense")
    assert code == 2
    assert "the address of the Ray cluster, nonsense, is invalid" in err


def test_without_ray_the_extra_to_install_is_named(project):
    written(project)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_RAY, *ASKED],
        cwd=project.path,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install 'runevals[ray]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_settings_file_names_the_executor_and_no_address(project, runevals):
    written(project)
    project.write("runevals.yaml", "suites: [evals.json]\nexecutor: ray\nray_address: attacker.example:6379\n")
    code, _, err = runevals("--target", "python:agent.py:answer")
    assert code == 2
    assert "ray_address" in err
    project.write("runevals.yaml", "suites: [evals.json]\nexecutor: kubernetes\n")
    assert runevals("--target", "python:agent.py:answer")[0] == 2


def test_a_target_that_holds_a_secret_is_not_sent(project, runevals, monkeypatch):
    written(project)
    monkeypatch.setenv("SHOP_TOKEN", "shop-0123456789")
    told = "target: {type: python, function: agent.py:answer, parameters: {token: shop-0123456789}}\n"
    project.write("runevals.yaml", f"suites: [evals.json]\nexecutor: ray\n{told}")
    code, _, err = runevals("-q")
    assert code == 2
    assert "`target:` holds the value of a secret" in err


def test_recorded_answers_need_no_cluster(project, runevals):
    written(project)
    project.write("answers.jsonl", '{"case": "k1", "output": "Paris"}\n')
    _, _, err = runevals("--executor", "ray", "--target", "recorded:answers.jsonl", "-q", "-o", "out.json")
    assert "Ray" not in err
    assert project.document()["run"]["target"]["type"] == "recorded"
