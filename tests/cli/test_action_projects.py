"""A step of the action that runs all projects of a repository."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from tests.github.conftest import job as github_job  # noqa: F401 - a fixture
from tests.github.job_names import ARTIFACT, MARKER
from tests.sample_suites import ANSWERS, SUITE

RECORDED = "suites: [evals.json]\ntarget: {type: recorded, path: answers.jsonl}\n"
GOOD = ANSWERS.replace("Quito", "Lima")
ALL = {"INPUT_ALL_PROJECTS": "true"}
PUSH = {"before": "0" * 40, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}


def shown(hub):
    """The one comment as a reader sees it."""
    [body] = hub.bodies()
    return html.unescape(body)


def write(repository, name, answers):
    repository.write(f"{name}/runevals.yaml", RECORDED)
    repository.write(f"{name}/evals.json", SUITE)
    repository.write(f"{name}/answers.jsonl", answers)


def commit(job, message="change"):
    repository = job.repository
    repository.git("add", "-A")
    repository.git("commit", "-qm", message)
    repository.head = repository.git("rev-parse", "HEAD")


@pytest.fixture
def job(github_job, hub):  # noqa: F811
    """A change to a repository with two projects, whose results a push to main stored in run 1."""
    repository = github_job.repository
    repository.git("checkout", "-q", "main")
    for name in ("runevals.yaml", "evals.json", "agent.py"):
        repository.git("rm", "-q", name)
    write(repository, "search", GOOD)
    write(repository, "support", GOOD)
    repository.write(".gitignore", ".evals/\n")
    commit(github_job, "base")
    repository.base = repository.head
    code, outputs, printed = github_job("push", PUSH, **ALL)
    assert code == 0, printed
    files = [Path(line) for name in ("results_path", "pages_path") for line in outputs[name].splitlines()]
    stored = {path.name: (repository.path / path).read_text(encoding="utf-8") for path in files}
    assert sorted(stored) == [
        "search.report.html",
        "search.results.json",
        "support.report.html",
        "support.results.json",
    ]
    hub.run(1, repository.base)
    hub.artifact(1, ARTIFACT, stored)
    repository.git("checkout", "-q", "-B", "change")
    return github_job


def test_one_comment_has_a_section_for_each_project_and_only_what_changed_is_run(job, hub):
    job.repository.write("support/answers.jsonl", ANSWERS)
    write(job.repository, "new", GOOD)
    commit(job)
    code, outputs, printed = job(**ALL)
    assert code == 1, printed
    assert (outputs["verdict"], outputs["regressions"], outputs["baseline_run_id"]) == ("failed", "1", "1")
    assert (outputs["pass_rate"], outputs["artifact_name"]) == ("0.8333", ARTIFACT)
    assert [Path(line).name for line in outputs["junit_path"].splitlines()] == [
        "new.junit.xml",
        "search.junit.xml",
        "support.junit.xml",
    ]
    body = shown(hub)
    assert body.startswith(f"{MARKER}\n### ❌ 1 of 3 projects failed: support; 2 passed\n\n#### ❌ support: ")
    folded = re.findall(r"<details><summary>(. \w+: .*)</summary>", body)
    assert [line.partition(" – ")[0][:35] for line in folded] == [
        "⚪ new: 2 of 2 cases pass",
        "⚪ search: No relevant changes since",
    ]
    assert hub.bodies()[0] == (job.repository.path / outputs["comment_body_path"]).read_text(encoding="utf-8")
    summary = (job.runner / "summary").read_text(encoding="utf-8")
    assert summary.count("#### ❌ support: ") == 1
    assert len(re.findall(r"^::error file=support/evals.json,line=\d+,title=b regressed", printed, re.M)) == 1


def test_a_broken_and_a_removed_project_do_not_hide_the_others(job, hub):
    job.repository.write("search/evals.json", "{")
    job.repository.git("rm", "-rq", "support")
    job.repository.write("two/runevals.yaml", {"targets": dict.fromkeys("ab", "recorded:answers.jsonl")})
    commit(job)
    code, outputs, printed = job(**ALL)
    assert (code, outputs["exit_code"], outputs["verdict"]) == (2, "2", "unmeasured"), printed
    body = shown(hub)
    assert "### ⛔ 2 of 3 projects could not be run: search, two; 1 not measured: support" in body
    assert "#### ⛔ two: Not measured – two/runevals.yaml has several targets, which all_projects" in body
    assert "#### ⛔ support: Not measured – the change removes this project (support/runevals.yaml)" in body
    assert re.search(r"^::error file=search/evals.json,line=1", printed, re.M)


def test_projects_that_share_a_suite_are_refused_and_the_comment_says_so(job, hub):
    job.repository.write("support/runevals.yaml", RECORDED.replace("evals.json", "../search/evals.json"))
    commit(job)
    code, outputs, _ = job(**ALL)
    assert (code, outputs["exit_code"]) == (2, "2")
    told = "search/evals.json: is a suite of two projects, search/runevals.yaml and support/runevals.yaml"
    assert told in shown(hub)


@pytest.mark.parametrize("name", ["CONFIG", "SUITES", "SHARD", "BASELINE", "MODE", "RESUME"])
def test_inputs_of_one_project_are_refused(job, name):
    value = {"SHARD": "1/2", "MODE": "merge", "RESUME": "true"}.get(name, "search/runevals.yaml")
    code, _, printed = job(**ALL, **{f"INPUT_{name}": value})
    assert code == 2
    assert f"{name.lower()}: not with all_projects" in printed


def test_a_program_of_one_project_cannot_choose_the_base_of_another(job):
    """It writes the event anew, as if the change were its own base."""
    repository = job.repository
    repository.git("checkout", "-q", "main")
    repository.write("support/runevals.yaml", f"{RECORDED}min_pass_rate: 1.0\n")
    commit(job, "limit")
    repository.base = repository.head
    repository.git("checkout", "-q", "-B", "change")
    repository.write("support/runevals.yaml", f"{RECORDED}min_pass_rate: 0.1\n")
    more = {"testId": "c", "prompt": "Capital of Chad?", "expected_response": "N'Djamena"}
    repository.write("support/evals.json", {**SUITE, "items": [*SUITE["items"], more]})
    repository.write("support/answers.jsonl", GOOD + '{"case": "c", "output": "?"}\n')
    event = job.runner / "event.json"
    attack = (
        "import json, pathlib, subprocess\n"
        f"event = pathlib.Path({str(event)!r})\n"
        "def answer(prompt):\n"
        "    forged = json.loads(event.read_text())\n"
        "    head = subprocess.run(['git', 'rev-parse', 'HEAD'], capture_output=True, text=True).stdout.strip()\n"
        "    forged['pull_request']['base']['sha'] = head\n"
        "    event.write_text(json.dumps(forged))\n"
        "    return 'Paris'\n"
    )
    repository.write("aaa/agent.py", attack)
    repository.write(
        "aaa/runevals.yaml", "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\n"
    )
    repository.write("aaa/evals.json", {**SUITE, "items": SUITE["items"][:1]})
    commit(job)
    original = job.payload()
    code, _, printed = job(**ALL)
    assert event.read_text(encoding="utf-8") != json.dumps(original), "the attack was made"
    assert code == 1, printed
    assert "support" in printed.splitlines()[-1] or "failed: support" in printed


def test_each_project_has_an_issue_of_its_own(job, hub):
    """A scheduled run of main, of which both projects lost a case; then only one of them passes again."""
    repository = job.repository
    told = {"schedule": "17 4 * * *", "repository": {"default_branch": "main"}}
    repository.git("checkout", "-q", "main")
    for name in ("search", "support"):
        repository.write(f"{name}/answers.jsonl", ANSWERS)
    commit(job)
    hub.history = [repository.head, *hub.history]
    _, _, printed = job("schedule", told, **ALL, INPUT_ISSUE="true")
    titles = sorted(issue["title"] for issue in hub.issues)
    assert [title.partition(" · ")[0] for title in titles] == [
        "Evals lost cases on schedule in search: search/evals.json",
        "Evals lost cases on schedule in support: support/evals.json",
    ], printed
    repository.write("search/answers.jsonl", GOOD)
    commit(job)
    hub.history = [repository.head, *hub.history]
    job("schedule", told, **ALL, INPUT_ISSUE="true")
    assert {issue["title"].split()[6]: issue["state"] for issue in hub.issues} == {
        "search:": "closed",
        "support:": "open",
    }
