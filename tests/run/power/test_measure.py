"""`runevals doctor --aa`: the runs it makes or takes, and what it says first."""

from __future__ import annotations

import pytest

from runevals.run.power.measure import rounds_of
from tests.ending import ended
from tests.sample_suites import AGENT, SUITE

SETTINGS = "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\n"


@pytest.fixture
def doctor(project, runevals, monkeypatch):
    for limit in ("FEWEST", "MOST"):  # what is predicted: test_predict.py
        monkeypatch.setattr(f"runevals.run.power.predict.{limit}", 20)
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    project.write("runevals.yaml", SETTINGS)
    return lambda *words: runevals("doctor", "--aa", *words)


def test_the_suite_is_run_twice_and_the_calls_are_said_before(doctor):
    code, out, err = doctor()
    assert code == 0, err
    assert "Measuring the suite twice, 10 runs of each case in all: 20 calls of target and judge" in err
    assert "– a/a " in out
    assert "from 20 measured runs" in " ".join(out.split())
    assert "never passed" in out


def test_runs_that_were_made_already_are_taken(doctor, runevals):
    assert runevals("run", "--repeat", "2", "-o", "out.json")[0] == 0
    code, out, err = doctor("--results", "out.json")
    assert code == 0
    assert " changes of each kind and size in 2 cases; of thousands of cases, it takes some minutes" in err
    assert "calls" not in err
    assert "from 4 measured runs" in " ".join(out.split())


def test_runs_of_an_earlier_commit_are_left_out_and_that_is_said(repository, doctor, runevals):
    for number in (1, 2):
        repository.git("add", "-A")
        repository.git("commit", "-qm", "more", "--allow-empty")
        assert runevals("run", "--repeat", "2", "-o", f"{number}.json")[0] == 0
    code, out, err = doctor("--results", "1.json", "--results", "2.json")
    ended(code, 0, err, "Left out, of another commit or target than the newest: 1 result")
    assert "from 4 measured runs" in " ".join(out.split())


def test_one_of_several_targets_is_run_alone_also_if_the_settings_compare_it_with_another(project, doctor):
    targets = SETTINGS.replace("target:", "targets:\n  small:").replace("'}", "'}\n  old: 'command:false'")
    project.write("runevals.yaml", f"{targets}against: old\n")
    code, _, err = doctor("--target", "small")
    ended(code, 0, err, "20 calls of target and judge")


@pytest.mark.parametrize(
    ("settings", "words", "code", "told"),
    [
        (SETTINGS.replace("'}", "', deterministic: true}"), [], 2, "there is no noise to measure"),
        (SETTINGS.replace("agent.py", "none.py"), [], 3, ""),
        (SETTINGS, ["--max-calls", "3"], 2, "20 calls of target and judge are planned"),
        (SETTINGS, ["--max-cost", "1"], 3, "--max-cost cannot be kept: what a call costs is unknown"),
    ],
)
def test_what_cannot_be_measured_is_said(project, doctor, settings, words, code, told):
    project.write("runevals.yaml", settings)
    found, _, err = doctor(*words)
    ended(found, code, err, told)


def test_what_a_limit_left_is_told_of_and_what_is_simulated(project, doctor):
    paid = "def answer(prompt):\n    return {'output': 'x', 'costUSD': 0.1}\n"
    project.write("agent.py", paid)
    project.write("runevals.yaml", f"{SETTINGS}concurrency: 1\n")
    code, out, err = doctor("--max-cost", "0.5")
    ended(
        code,
        0,
        err,
        "Ended early: --max-cost 0.5 is spent",
        "so far; measured: 1 case, and what follows is of it alone",
    )
    ended(code, 0, err, "Simulating losses of one case", "Simulating gains of every case")
    assert "from 5 measured runs" in " ".join(out.split())


def test_results_of_other_cases_are_refused(project, doctor, runevals):
    assert runevals("run", "-o", "out.json")[0] == 0
    project.write("evals.json", {**SUITE, "items": [{"testId": "z", "prompt": "?", "expected_response": "x"}]})
    code, _, err = doctor("--results", "out.json")
    ended(code, 2, err, "the results have no run of these cases as they are now")


@pytest.mark.parametrize(("cases", "rounds"), [(1, 5), (20, 5), (30, 4), (34, 3), (10_000, 3)])
def test_few_cases_are_run_more_often(cases, rounds):
    assert rounds_of(cases) == rounds


def test_results_are_for_aa(doctor, runevals):
    code, _, err = runevals("doctor", "--results", ".")
    ended(code, 2, err, "--results is for --aa; give both")
