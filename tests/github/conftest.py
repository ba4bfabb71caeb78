"""The API of each test's own GitHub, and jobs on it."""

from __future__ import annotations

import json
import shutil

import pytest

from runevals.cli.action import execute
from runevals.github.api import Api
from runevals.models.http.throttle import Throttle
from runevals.reports.results_document import parse
from tests.github.emulator import REPOSITORY_ID, TOKEN
from tests.github.exchanged_files import NAME, read_as_the_runner_does
from tests.github.job_names import ARTIFACT, IDS


@pytest.fixture
def api(hub):
    return Api(hub.url, TOKEN, Throttle(max_retry_s=5, first_delay_s=0.01))


@pytest.fixture
def job(repository, hub, tmp_path_factory, capfd, monkeypatch):
    """Runs the action for an event; by default a pull request whose merge commit is checked out."""
    runner = tmp_path_factory.mktemp("runner")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    repository.write(".gitignore", ".evals/\n__pycache__/\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "change")
    repository.head = repository.git("rev-parse", "HEAD")
    repository.base = repository.git("rev-parse", "main")
    hub.history = [repository.base]

    def payload(repository_id=REPOSITORY_ID):
        head = {"sha": repository.head, "ref": "main", "repo": {"id": repository_id}}
        base = {"sha": repository.base, "ref": "main", "repo": {"id": REPOSITORY_ID}}
        return {"pull_request": {"number": 7, "head": head, "base": base}}

    def run(event="pull_request", told=None, **environment):
        for name in ("output", "summary"):
            (runner / name).write_text("", encoding="utf-8")
        (runner / "event.json").write_text(json.dumps(told or payload()), encoding="utf-8")
        given = {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(runner / "event.json"),
            "GITHUB_OUTPUT": str(runner / "output"),
            "GITHUB_STEP_SUMMARY": str(runner / "summary"),
            "GITHUB_API_URL": hub.url,
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_WORKFLOW_REF": "o/r/.github/workflows/evals.yml@refs/heads/main",
            "GITHUB_RUN_ID": "99",
            "GITHUB_SHA": repository.git("rev-parse", "HEAD"),
            "INPUT_GITHUB_TOKEN": TOKEN,
            **IDS,
            **environment,
        }
        capfd.readouterr()
        code = execute(given, repository.path)
        printed = capfd.readouterr()
        outputs = read_as_the_runner_does((runner / "output").read_text(encoding="utf-8"))
        return code, outputs, printed.out + printed.err

    def cases():
        """Of the last run's document."""
        path = repository.path / ".evals/results/results.json"
        return parse(path.read_text(encoding="utf-8"), path.name).report.cases

    run.payload, run.repository, run.cases, run.runner = payload, repository, cases, runner
    return run


@pytest.fixture(scope="session")
def measured_commits():
    """Commit → its results document."""
    return {}


@pytest.fixture
def stored(job, hub, measured_commits):
    """A result of the base, as a push to main stored it in run 1; the same commit is measured once."""
    repository = job.repository
    if repository.base not in measured_commits:
        repository.git("checkout", "-q", "main")
        push = {"before": "0" * 40, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}
        assert job("push", push)[0] == 0
        path = repository.path / ".evals/results/results.json"
        measured_commits[repository.base] = path.read_text(encoding="utf-8")
        shutil.rmtree(repository.path / ".evals")
        repository.git("checkout", "-q", "change")
    text = measured_commits[repository.base]
    hub.run(1, repository.base)
    hub.artifact(1, ARTIFACT, {NAME: text, "junit.xml": "<x/>"})
    return text
