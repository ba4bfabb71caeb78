"""`runevals history --from artifacts`: which stored results it reads, and the badge."""

from __future__ import annotations

import json

import pytest

from tests.ending import ended
from tests.github.emulator import FORK_ID, TOKEN
from tests.sample_suites import AGENT, SUITE


@pytest.fixture
def results(project, runevals, hub, monkeypatch):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    assert runevals("--target", "python:agent.py:answer", "-o", "x.json")[0] == 0
    for name, value in {"REPOSITORY": "o/r", "TOKEN": TOKEN, "API_URL": hub.url}.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    return (project.path / "x.json").read_text(encoding="utf-8")


def test_only_what_the_branchs_own_runs_stored_is_read(project, runevals, hub, results):
    hub.run(1, "a" * 40)
    hub.run(2, "b" * 40, event="schedule")
    hub.run(3, "c" * 40, event="pull_request")
    hub.run(4, "d" * 40, repository_id=FORK_ID)
    hub.run(5, "e" * 40, branch="other")
    for run in range(1, 6):
        hub.artifact(run, "runevals-evals", {"results.json": results})
    hub.artifact(2, "runevals-broken", {"results.json": "{"})
    hub.artifact(2, "coverage", {"results.json": results})
    hub.artifact(2, "runevals-old", {"results.json": results}, expired=True)
    code, out, err = runevals("history", "--from", "artifacts", "-o", "site/index.html", "-o", "site/badge.json")
    assert (code, out) == (0, "Written: site/index.html\nWritten: site/badge.json\n")
    assert err.startswith("skipped runevals-broken of run 2: ")
    assert (project.path / "site/index.html").read_text(encoding="utf-8").count("runevals-evals of run") == 2
    assert json.loads((project.path / "site/badge.json").read_text(encoding="utf-8")) == {
        "schemaVersion": 1,
        "label": "evals",
        "message": "1 of 2 cases pass",
        "color": "brightgreen",
    }
    assert runevals("history", "--from", "artifacts", "--last", "1")[1].count(" of run ") == 1


def test_without_a_token_or_results_it_says_what_is_missing(runevals, results, monkeypatch):
    code, _, err = runevals("history", "--from", "artifacts")
    ended(code, 2, err, "no artifact of a run of main in o/r has results")
    monkeypatch.delenv("GITHUB_TOKEN")
    code, _, err = runevals("history", "--from", "artifacts")
    ended(code, 2, err, "needs GITHUB_REPOSITORY")


def test_artifacts_of_a_fork_do_not_hide_those_of_the_branch(runevals, hub, results):
    hub.run(1, "a" * 40)
    hub.artifact(1, "runevals-evals", {"results.json": results})
    hub.run(2, "f" * 40, event="pull_request", repository_id=FORK_ID)
    for number in range(300):
        hub.artifact(2, f"runevals-{number}", {"results.json": results})
    assert runevals("history", "--from", "artifacts")[1].count(" of run 1") == 1
