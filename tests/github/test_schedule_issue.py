"""The issue of scheduled runs: opened, kept current and closed, and no other user's."""

from __future__ import annotations

import shutil

import pytest

from tests.github.emulator import Fault
from tests.github.exchanged_files import NAME
from tests.github.job_names import ARTIFACT
from tests.reports.hostile import TEXTS
from tests.sample_suites import EXACT, numbered

SCHEDULE = {"schedule": "17 4 * * *", "repository": {"default_branch": "main"}}
GOOD, BAD = "Paris", "Rome"
BY_CHANCE = """
import random
from collections import Counter

asked = Counter()

def answer(prompt):
    asked[prompt] += 1
    share = open({world!r}).read()
    chance = random.Random(f"{{share}} {{prompt}} {{asked[prompt]}}").random()
    return "right" if chance < float(share) else "wrong"
"""


@pytest.fixture
def scheduled(job, hub, tmp_path):
    """Runs the action on main, on schedule; the provider answers as told, and the result is stored."""
    repository, world = job.repository, tmp_path / "world"
    repository.git("checkout", "-q", "main")
    repository.write("agent.py", f"def answer(prompt):\n return open({str(world)!r}).read()\n")
    repository.write(
        "evals.json",
        {
            "schemaVersion": "1.2.0",
            "default_evaluators": {"ExactMatch": {}},
            "items": [{"prompt": "Capital of France?", "expected_response": "Paris", "name": TEXTS[0]}],
        },
    )
    repository.git("commit", "-qam", "a provider")
    hub.history = [repository.git("rev-parse", "HEAD")]

    def run(answer, event="schedule", **environment):
        world.write_text(answer, encoding="utf-8")
        told = job(event, SCHEDULE, **{"INPUT_ISSUE": "true", **environment})
        number = len(hub.runs) + 1
        text = (repository.path / ".evals/results/results.json").read_text(encoding="utf-8")
        shutil.rmtree(repository.path / ".evals")
        hub.run(number, repository.git("rev-parse", "HEAD"), event="schedule")
        hub.artifact(number, ARTIFACT, {NAME: text})
        return told

    return run


def test_a_loss_without_a_change_opens_one_issue_until_it_passes_again(scheduled, hub):
    scheduled(GOOD)
    assert hub.issues == []
    theirs = hub.issue("mine", "<!-- runevals-issue x -->", "mallory")
    scheduled(BAD)
    ours = hub.issues[-1]
    assert ours["title"].startswith("Evals lost cases on schedule: evals.json · python agent.py:answer")
    assert "**The provider changed, your code did not**" in ours["body"]
    assert "@octocat" not in ours["body"]
    theirs["body"] = ours["body"]
    scheduled(BAD)  # the last run failed too: nothing is newly lost
    assert (len(hub.issues), ours["state"]) == (2, "open")
    scheduled(GOOD)
    assert ours["state"] == "closed"
    assert theirs["state"] == "open"
    scheduled(GOOD)
    assert len(hub.issues) == 2


def test_a_model_that_answers_worse_by_chance_opens_the_issue_too(scheduled, job, hub, tmp_path):
    """No case passed always before and fails always now: the whole fell."""
    job.repository.write("evals.json", {**EXACT, "items": numbered(30, "right")})
    job.repository.write(
        "runevals.yaml", "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\n"
    )
    job.repository.write("agent.py", BY_CHANCE.format(world=str(tmp_path / "world")))
    job.repository.git("add", "-A")
    job.repository.git("commit", "-qm", "an agent by chance")
    hub.history = [job.repository.git("rev-parse", "HEAD")]
    scheduled("0.95")
    scheduled("0.950")  # with the luck of another day
    assert hub.issues == []
    scheduled("0.5")
    assert "**The provider changed, your code did not**" in hub.issues[-1]["body"]


@pytest.mark.parametrize("other", [{"event": "push"}, {"INPUT_ISSUE": ""}])
def test_without_a_schedule_or_the_input_no_issue_is_read(scheduled, hub, other):
    scheduled(GOOD, **other)
    scheduled(BAD, **other)
    assert not any(path.endswith("/issues") for path in hub.paths("GET"))
    assert hub.issues == []


def test_without_the_permission_the_job_says_so_and_does_not_fail(scheduled, hub):
    scheduled(GOOD)
    hub.faults.append(Fault("POST .*/issues$", 403, message="Resource not accessible by integration"))
    _, outputs, printed = scheduled(BAD)
    assert outputs["verdict"] in ("passed", "failed")
    assert "The issue could not be written." in printed
    assert "issues: write" in printed
