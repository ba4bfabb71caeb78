"""The action with GitHub Models as target and judge, a real server in their place."""

from __future__ import annotations

import pytest

from runevals.cli.action import execute
from runevals.records.errors import TargetRefused
from tests.chat_server import Reply, chat_server
from tests.judge.replies import verdict
from tests.sample_suites import SUITE

TOKEN = "ghs_the-jobs-own-token"
JUDGED = {**SUITE, "default_evaluators": {"Relevance": {}}}
SETTINGS = """target: {type: github-models, model: openai/gpt-4.1-mini}
judge: {type: github-models, model: openai/gpt-4.1}
"""


@pytest.fixture
def job(project, capfd):
    project.write("evals.json", JUDGED)
    project.write("runevals.yaml", SETTINGS)

    def run(url, **environment):
        given = {"CI": "true", "GITHUB_ACTIONS": "true", "RUNEVALS_GITHUB_MODELS_URL": url, **environment}
        code = execute(given, project.path)
        return code, capfd.readouterr().out

    return run


def answer(body, number):
    judging = body["model"] == "openai/gpt-4.1"
    return Reply(verdict(body, 5)) if judging else Reply("Paris")


def test_target_and_judge_are_asked_with_the_jobs_token(job, project):
    with chat_server(answer) as server:
        code, out = job(server.base_url, INPUT_GITHUB_TOKEN=TOKEN)
    assert code == 0, out
    assert {body["model"] for body in server.requests} == {"openai/gpt-4.1-mini", "openai/gpt-4.1"}
    assert set(server.keys) == {f"Bearer {TOKEN}"}
    run = project.document(".evals/results/results.json")["run"]
    assert (run["target"]["type"], run["judge"]["type"]) == ("github-models", "github-models")


def test_a_token_that_the_workflow_sets_goes_before(job):
    with chat_server(answer) as server:
        code, out = job(server.base_url, INPUT_GITHUB_TOKEN=TOKEN, GITHUB_TOKEN="ghs_of-an-app-that-may")
    assert code == 0, out
    assert set(server.keys) == {"Bearer ghs_of-an-app-that-may"}


def test_its_rate_limits_are_ridden_out(job):
    def limited(body, number):
        refusal = {"code": "RateLimitReached", "message": "Rate limit of 2 per 60s exceeded"}
        return (
            Reply(status=429, headers={"Retry-After": "0.2"}, error=refusal)
            if number % 3 == 2
            else answer(body, 0)
        )

    with chat_server(limited) as server:
        code, out = job(server.base_url, INPUT_GITHUB_TOKEN=TOKEN)
    assert code == 0, out
    assert "✓ 2 of 2 cases pass" in out
    assert len(server.requests) > 4


def test_a_job_that_may_not_ask_says_what_is_missing(job):
    def refused(body, number):
        return Reply(status=403, error={"message": "Resource not accessible by integration"})

    with chat_server(refused) as server, pytest.raises(TargetRefused, match=r"permissions: \{models: read\}"):
        job(server.base_url, INPUT_GITHUB_TOKEN=TOKEN)
