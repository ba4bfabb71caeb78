"""What a run says of how far it is, where there is no terminal to draw a bar."""

from __future__ import annotations

import re
import time

import pytest

from runevals.cli.progress import Tally, lines
from runevals.models.http.throttle import Throttles
from runevals.records import CheckResult, Outcome, Problem, Response, Trace, TurnTrace
from runevals.run.evaluate import Evaluation
from tests.sample_suites import AGENT, SUITE


def evaluation(outcome=Outcome.PASSED, cost_usd=None, judge_usd=None, problem=None):
    check = CheckResult(id="c", evaluator="c", layer="fact", outcome=outcome)
    judged = CheckResult(
        id="j", evaluator="j", layer="judge", outcome=outcome, judge_model="m", cost_usd=judge_usd
    )
    answer = Response(text="x", cost_usd=cost_usd, problem=problem)
    results = (check,) if judge_usd is None else (check, judged)
    return Evaluation(trace=Trace(position=0, turns=(TurnTrace(response=answer),)), turns=(results,))


def tallied(*evaluations, total=10, **more):
    tally = Tally(total, [Throttles()], **more)
    tally.begin()
    for each in evaluations:
        tally.add(each)
    return tally


@pytest.mark.parametrize(
    ("evaluations", "counts"),
    [
        pytest.param([], "0 passed, 0 failed", id="nothing yet"),
        pytest.param([evaluation()], "1 passed, 0 failed", id="an unknown cost is none, not $0"),
        pytest.param([evaluation(cost_usd=0.0)], "1 passed, 0 failed, $0.00", id="a known one of nothing is $0"),
        pytest.param([evaluation(cost_usd=0.25, judge_usd=0.5)], "1 passed, 0 failed, $0.75", id="with the judge"),
        pytest.param(
            [evaluation(judge_usd=0.5), evaluation(Outcome.FAILED, cost_usd=0.25)],
            "1 passed, 1 failed, ≥ $0.75",
            id="a part of it is unknown",
        ),
        pytest.param(
            [
                evaluation(Outcome.ERRORED, problem=Problem(code="target_failed", message="x")),
                evaluation(cost_usd=1),
            ],
            "1 passed, 0 failed, 1 not measured, $1.00",
            id="a call that failed cost nothing that is known of",
        ),
    ],
)
def test_counts_and_cost(evaluations, counts):
    assert tallied(*evaluations).counts == counts


def test_the_time_left_is_told_once_a_trial_is_done():
    assert tallied().left == ""
    assert re.fullmatch(r"\d+:\d\d left", tallied(evaluation()).left)
    assert tallied(evaluation(), total=1).left == ""
    assert str(tallied(evaluation(), phase="head")).startswith("head: 1 of 10 trials done, ")


def test_lines_are_told_even_while_nothing_comes(capfd):
    with lines(tallied(evaluation(), total=2), 0.01):
        deadline = time.monotonic() + 30
        told = ""
        while told.count("\n") < 2 and time.monotonic() < deadline:
            told += capfd.readouterr().err
    assert told.startswith("1 of 2 trials done, 1 passed, 0 failed, 0:0")
    assert told.replace("\n", "").isprintable()


@pytest.fixture
def two(project):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    return ("--target", "python:agent.py:answer", "-o", "out.json")


def test_a_short_run_in_a_pipe_says_nothing_on_the_way(two, runevals):
    assert runevals(*two)[2] == ""


def test_every_trial_is_told_where_it_is_asked_for(two, runevals):
    _, _, err = runevals(*two, "--verbose", "--repeat", "2", "--concurrency", "1")
    assert sorted(err.splitlines()) == ["✓ a", "✓ a run 2", "✗ b  ExactMatch", "✗ b run 2  ExactMatch"]


def test_a_jobs_log_folds_the_progress_away(two, runevals, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    _, out, err = runevals(*two)
    of = " · evals.json · python agent.py:answer"
    assert err == f"::group::6 trials{of}\n6 of 6 trials done, 3 passed, 3 failed{of}\n::endgroup::\n"
    assert "::" not in out
    assert runevals("--quiet", *two)[2] == ""


def test_each_part_of_a_longer_run_is_named(repository, runevals, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    _, _, err = runevals("--base", "main", "-o", "out.json")
    assert [line.split(":")[4] for line in err.splitlines() if "::group" in line] == ["base", "head"]
