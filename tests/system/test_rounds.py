"""Rounds: as many runs of the suite as the answer needs, with a target whose answers vary."""

from __future__ import annotations

import re

import pytest

from tests.ending import ended
from tests.sample_suites import EXACT, numbered

AGENT = """
import random

def answer(prompt, messages, case):
    chance = random.Random(f"{SEED}/{case['key']}/{case['attempt']}").random()
    return "right" if chance < RATE else "wrong"
"""
SUITE = {**EXACT, "items": numbered(60, "right")}
RUN = ["--target", "python:agent.py:answer", "--repeat", "3", "-q", "-o", "out.json"]


def attempts(project):
    return {len(case["attempts"]) for case in project.document()["cases"]}


def test_an_unchanged_agent_is_green_after_one_round_and_a_worse_one_red(project, runevals):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT.replace("SEED", "1").replace("RATE", "0.9"))
    assert runevals(*RUN)[0] == 0
    assert attempts(project) == {3}  # without a base there is no answer to wait for: all repeats are made
    (project.path / "out.json").rename(project.path / "base.json")

    project.write("agent.py", AGENT.replace("SEED", "2").replace("RATE", "0.9"))
    code, out, _ = runevals(*RUN, "--baseline", "base.json")
    assert code == 0, out
    assert attempts(project) == {1}

    project.write("agent.py", AGENT.replace("SEED", "3").replace("RATE", "0.65"))
    code, out, _ = runevals(*RUN, "--baseline", "base.json")
    assert code == 1, out
    assert re.search(r"✗ The pass rate of 60 cases fell by \d\d\.\d points\n", out), out
    assert attempts(project) in ({1}, {2}, {3})


DRIFTING = """
import pathlib, random

IN_A_WORKTREE = (pathlib.Path(__file__).parent / ".git").is_file()

def answer(prompt, messages, case):
    rate = float(pathlib.Path("{rate_file}").read_text()) * {factor}
    chance = random.Random(f"{{IN_A_WORKTREE}}/{{rate}}/{{case['key']}}/{{case['attempt']}}").random()
    return "right" if chance < rate else "wrong"
"""


@pytest.fixture
def drifting(repository, tmp_path_factory):
    """A repository whose agent's luck is in a file outside: a model that drifts under everybody."""
    rate = tmp_path_factory.mktemp("world") / "rate"
    rate.write_text("0.95")
    repository.write("evals.json", SUITE)
    repository.write(
        "runevals.yaml", "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\n"
    )

    def agent(factor):
        repository.write("agent.py", DRIFTING.format(rate_file=rate, factor=factor))

    agent(1.0)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "an agent by chance")
    repository.rate, repository.agent = rate, agent
    return repository


STORED = ["--repeat", "3", "-q", "--baseline", "base.json", "-o", "out.json"]


def test_a_red_that_a_fresh_base_shares_is_not_confirmed_and_green(drifting, runevals):
    assert runevals("--repeat", "3", "-q", "-o", "base.json")[0] == 0
    drifting.rate.write_text("0.55")
    code, out, err = runevals(*STORED)
    assert code == 0, out
    assert out.startswith("✓ No regression shown in 60 cases"), out
    assert "running the base" in err
    found = drifting.document()["comparison"]
    assert (found["state"], found["fresh"][:14]) == ("not_worse", "a fresh run of")


def test_what_the_same_code_lost_on_a_schedule_is_a_loss_and_confirmed_by_it(drifting, runevals, monkeypatch):
    monkeypatch.setenv("CI", "true")  # of no change: nothing says what it would be compared with
    assert runevals("--repeat", "3", "-q", "-o", "base.json")[0] == 0
    assert runevals(*STORED)[0] == 0
    drifting.rate.write_text("0.55")
    code, out, _ = runevals(*STORED)
    ended(code, 1, out, "fell by")
    drifting.write("other.txt", "a change")
    drifting.git("add", "-A")
    drifting.git("commit", "-qm", "something else")
    code, out, _ = runevals(*STORED)
    ended(code, 0, out, "No regression shown")


def test_a_red_that_a_fresh_base_does_not_share_is_confirmed(drifting, runevals):
    assert runevals("--repeat", "3", "-q", "-o", "base.json")[0] == 0
    drifting.agent(0.6)
    code, out, _ = runevals(*STORED)
    assert code == 1, out
    assert "Fresh runs of both sides, made in turn, decided: a fresh run of" in out
    assert drifting.document()["comparison"]["fresh"].startswith("a fresh run of")
    assert drifting.git("worktree", "list").count("\n") == 0


def test_a_red_that_cannot_be_verified_stands_and_says_why(drifting, runevals):
    assert runevals("--repeat", "3", "-q", "-o", "base.json")[0] == 0
    base = drifting.document("base.json")
    base["run"]["commit"] = "0" * 40
    drifting.write("base.json", base)
    drifting.agent(0.6)
    code, out, _ = runevals(*STORED)
    assert code == 1
    assert "the base's commit is not here" in out
    code, out, err = runevals(*STORED, "--verify", "off")
    ended(code, 1, err, without=["running the base"])


def test_a_filtered_red_that_cannot_be_verified_stands_too(drifting, runevals):
    assert runevals("--repeat", "3", "-q", "-o", "base.json")[0] == 0
    base = drifting.document("base.json")
    base["run"]["commit"] = "0" * 40
    drifting.write("base.json", base)
    drifting.agent(0.5)
    code, out, _ = runevals(*STORED, "--filter", "k[0-3]*")
    assert code == 1, out
    assert "the base's commit is not here" in out


@pytest.mark.parametrize(
    ("deterministic", "told"),
    [("true", "fell in 6 of 6 cases: k0, k1, k2 and 3 more"), ("false", "fell in 6 of 6 cases: k0, k1, k2")],
)
def test_checks_that_failing_cases_lose_are_a_loss(repository, runevals, deterministic, told):
    repository.git("checkout", "-q", "main")
    words = ("alpha", "beta", "gamma", "never")
    checks = [{"type": "contains", "value": word} for word in words]
    samples = [{"sample_id": f"k{n}", "prompt": f"q{n}", "assertions": checks} for n in range(6)]
    repository.write("eval-samples.json", samples)
    target = f"{{type: python, function: 'agent.py:answer', deterministic: {deterministic}}}"
    repository.write("runevals.yaml", f"suites: [eval-samples.json]\ntarget: {target}\nrepeat: 2\n")
    repository.write("agent.py", "def answer(prompt):\n    return 'alpha beta gamma'\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "three of four")
    repository.git("checkout", "-qB", "change")
    repository.write("agent.py", "def answer(prompt):\n    return 'sorry'\n")
    code, out, err = runevals("--base", "main", "-q", "-o", "out.json")
    ended(code, 1, out + err, told)
