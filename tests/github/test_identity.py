"""`auth: github` in a job: its token goes to target and judge and nowhere else, and not for a fork's change."""

from __future__ import annotations

import json
import re

import pytest

from tests.github.emulator import FORK_ID
from tests.identity_server import PROVIDERS, REQUEST_TOKEN, Issuer, identity_server, of_job
from tests.wires import Turn

PRINTS_ITS_ENVIRONMENT = """import json, os
print(json.dumps({"output": json.dumps(dict(os.environ))}))
"""
PUSH = {"before": "0" * 40, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}


def answer(body, _number):
    """A verdict if it is asked as a judge, else an answer."""
    nonce = re.search(r'"const": ?"(\w+)"', json.dumps(body))
    return Turn(text="Hi" if nonce is None else json.dumps({"reasoning": "ok", "score": 5, "nonce": nonce[1]}))


def shown(printed):
    """What a log shows: the runner takes commands that mask a secret out of it."""
    return "\n".join(line for line in printed.splitlines() if not line.startswith("::add-mask::"))


@pytest.fixture
def in_job(job):
    """Runs a suite that both sides have, with a target and a judge, for an event → (code, outputs, printed)."""
    repository = job.repository

    def run(issuer, event="pull_request", told=None, *, target=None, **environment):
        model = {"type": issuer.provider, "model": "m", "auth": "github", "api": PROVIDERS[issuer.provider][0]}
        repository.write("agent.py", PRINTS_ITS_ENVIRONMENT)
        repository.write("runevals.yaml", {"suites": ["e.json"], "target": target or model, "judge": model})
        case = {"testId": "a", "prompt": "?", "evaluators": {"Relevance": {}}}
        repository.write("e.json", {"schemaVersion": "1.2.0", "items": [case]})
        repository.git("add", "-A")
        repository.git("commit", "-qm", "suite", "--allow-empty")
        repository.git("branch", "-f", "base", "HEAD")
        repository.git("commit", "-qm", "change", "--allow-empty")
        repository.base, repository.head = (repository.git("rev-parse", name) for name in ("base", "HEAD"))
        payload = told(job) if told is not None else job.payload()
        with identity_server(issuer, answer) as server:
            place = {f"{issuer.provider.upper()}_BASE_URL": server.base_url}
            return *job(event, payload, **of_job(server, issuer.provider), **place, **environment), server

    return run


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(("event", "told"), [("pull_request", None), ("push", lambda job: PUSH)])
def test_target_and_judge_are_asked_with_the_identity_of_the_job(in_job, job, provider, event, told):
    issuer = Issuer(provider)
    code, _, printed, server = in_job(issuer, event, told, INPUT_BASELINE="none", INPUT_REPEAT="1")
    assert code == 0, printed
    assert {key.rpartition("-")[0] for key in server.keys} == {f"Bearer made-for-{provider}"}
    assert job.cases()[0].status == "passed"


def test_a_program_of_the_change_gets_no_token(in_job, job):
    issuer = Issuer("openai")
    target = {"type": "command", "command": "python3 agent.py"}
    code, _, printed, server = in_job(issuer, target=target, INPUT_BASELINE="none", INPUT_REPEAT="1")
    assert code == 0, printed
    seen = json.loads(job.cases()[0].attempts[0].turns[0].output)
    assert seen["CI"] == "true"
    assert not [name for name in seen if name.startswith("ACTIONS_")]
    everything = json.dumps(seen) + shown(printed)
    assert not any(secret in everything for secret in (REQUEST_TOKEN, *issuer.made, *issuer.sent))
    assert {*server.keys} == {"Bearer made-for-openai-1"}


def of_fork(job):
    return job.payload(FORK_ID)


def test_a_change_from_a_fork_is_skipped_even_if_its_job_could_get_a_token(in_job):
    issuer = Issuer("openai")
    code, outputs, printed, server = in_job(issuer, told=of_fork, GITHUB_ACTOR="stranger")
    assert (code, outputs["verdict"]) == (0, "skipped"), printed
    assert "changes from forks and Dependabot have no access to the identity of this repository's jobs" in printed
    assert (issuer.asked, server.requests) == ([], [])


@pytest.mark.parametrize(("event", "told"), [("pull_request_target", of_fork), ("issue_comment", lambda job: {})])
def test_an_event_that_may_bring_the_code_of_others_gets_no_token(in_job, event, told):
    issuer = Issuer("openai")
    code, _, printed, server = in_job(
        issuer, event, told, INPUT_ALLOW_UNTRUSTED="true", INPUT_BASELINE="none", GITHUB_ACTOR="stranger"
    )
    assert (code, "auth: this job has no identity token" in printed) == (2, True), printed
    assert (issuer.asked, server.requests) == ([], [])


def test_a_job_that_the_provider_refuses_measures_nothing_and_says_why_in_a_line(in_job):
    issuer = Issuer("openai", audience="https://elsewhere.example")
    code, _, printed, _ = in_job(issuer, INPUT_BASELINE="none")
    assert code == 3
    line = next(line for line in printed.splitlines() if "wrong audience" in line)
    assert "subject repo:o/r:pull_request and audience https://api.openai.com/v1" in line
    assert not any(secret in shown(printed) for secret in (REQUEST_TOKEN, *issuer.sent))
