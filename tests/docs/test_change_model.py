"""The workflow that proposes a cheaper model: its own lines, with a server of models and a `gh` of the test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.chat_server import Reply, chat_server
from tests.docs.pages import ROOT
from tests.sample_suites import EXACT

STEPS = yaml.safe_load((ROOT / "docs/workflows/change-model.yml").read_text(encoding="utf-8"))["jobs"]
GH = '#!/bin/sh\necho "$*" >> "$GH_LOG"\n'
SETTINGS = """\
target: {type: openai, model: gpt-5-mini}  # of the team
prices:
  gpt-5-mini: {input: 1, output: 1}
  gpt-5-nano: {input: 0.1, output: 0.1}
  gpt-6.1-terra: {input: 5, output: 5}
"""


def script(name):
    return next(step["run"] for step in STEPS[name]["steps"] if step.get("name") == name)


@pytest.mark.parametrize(
    ("candidate", "model", "knows", "proposed"),
    [
        pytest.param("gpt-5-nano", "gpt-5-nano", True, True, id="cheaper"),
        pytest.param("gpt-5-nano", "gpt-5-nano", False, False, id="worse"),
        pytest.param("", "gpt-6.1-terra", True, True, id="the announced replacement, though it costs more"),
        pytest.param("", "gpt-6.1-terra", False, False, id="a worse replacement"),
    ],
)
def test_it_proposes_the_model_only_if_it_is_not_worse(
    repository, tmp_path_factory, candidate, model, knows, proposed
):
    cases = [{"testId": f"k{number}", "prompt": "?", "expected_response": "yes"} for number in range(160)]
    repository.write("evals.json", {**EXACT, "items": cases})
    repository.write("runevals.yaml", SETTINGS)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "first")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    origin = elsewhere / "origin.git"
    repository.git("init", "-q", "--bare", str(origin))
    repository.git("remote", "add", "origin", str(origin))
    program = elsewhere / "bin" / "gh"
    program.parent.mkdir()
    program.write_text(GH)
    program.chmod(0o755)
    log = elsewhere / "gh.log"

    def answer(body, _number):
        return Reply(text="yes" if knows or body["model"] == "gpt-5-mini" else "no")

    with chat_server(answer) as server:
        environment = {
            **os.environ,
            "PATH": f"{program.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "k",
            "CANDIDATE": candidate,
            "GH_LOG": str(log),
            **{name: str(elsewhere / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")},
        }
        for name in ("measure", "propose"):
            text = script(name).replace("--repeat 3", "--repeat 1 -q")
            words = ["bash", "-e", "-c", text]
            ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
            assert ran.returncode == 0, ran.stdout + ran.stderr
            environment.update(
                dict(line.split("=", 1) for line in (elsewhere / "GITHUB_OUTPUT").read_text().split())
            )
    assert (environment["CURRENT"], environment["CANDIDATE"]) == ("gpt-5-mini", model)
    branches = repository.git("ls-remote", "origin")
    asked = log.read_text() if log.exists() else ""
    assert (f"pr create --head change-model-{model}" in asked, model in branches) == (proposed, proposed)
    if proposed:
        assert f"model: {model}}}  # of the team" in (repository.path / "runevals.yaml").read_text()
        assert "gpt-5-mini: {input: 1" in (repository.path / "runevals.yaml").read_text()
