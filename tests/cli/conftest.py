"""Steps of a job without a GitHub to ask."""

from __future__ import annotations

import pytest

from runevals.cli.action import execute
from tests.sample_suites import ANSWERS, SUITE


@pytest.fixture
def job(project):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    for name in ("output", "summary"):
        project.write(f"runner/{name}", "")

    def run(**inputs):
        environment = {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(project.path / "runner" / "output"),
            "GITHUB_STEP_SUMMARY": str(project.path / "runner" / "summary"),
            "MODEL_ACCESS": "not-named-like-a-secret",
            **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
        }
        return execute(environment, project.path)

    return run
