"""Scores of a judge against a base that is run: lost where they fall for sure, not where the judge varies."""

from __future__ import annotations

import random
import re

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.judge.replies import verdict

TARGET = """
import pathlib

def answer(prompt, messages, case):
    lower = pathlib.Path("lower.txt").read_text().split()
    return f"SCORE {'3' if case['key'] in lower else '5'} by {case['key']}"
"""


@pytest.fixture
def judged(repository, monkeypatch):
    """A repository of so many cases with a rubric; the judge's score is in the answer, or what `noisy` says."""
    draws = random.Random(7)

    def reply(body, _number):
        text = "\n".join(str(message["content"]) for message in body["messages"])
        score, case = re.findall(r"SCORE (\d) by (\w+)", text)[-1]
        score = draws.choice((2, 3)) if case in repository.noisy else int(score)
        return Reply(verdict(body, score))

    with chat_server(reply) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "key-1")

        def suite(cases, *, deterministic, noisy=()):
            samples = [{"sample_id": f"c{n}", "prompt": f"q{n}", "rubric": "Is it right?"} for n in range(cases)]
            repository.noisy = noisy
            repository.git("checkout", "-q", "main")
            repository.write("eval-samples.json", samples)
            repository.write("agent.py", TARGET)
            repository.write("lower.txt", "")
            target = f"{{type: python, function: 'agent.py:answer', deterministic: {str(deterministic).lower()}}}"
            judge = f"{{model: gpt-5, base_url: '{server.base_url}'}}"
            repository.write("runevals.yaml", f"suites: [eval-samples.json]\ntarget: {target}\njudge: {judge}\n")
            repository.git("add", "-A")
            repository.git("commit", "-qm", "a suite with a judge")
            repository.git("checkout", "-qB", "change")

        repository.suite = suite
        yield repository


RUN = ("--base", "main", "--cache", "none", "-q", "-o", "out.json")


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize(("cases", "lower"), [(6, "c3"), (5, "c0 c1 c2 c3 c4")])
def test_answers_that_a_judge_rates_half_as_good_are_lost_although_they_pass(
    judged, runevals, cases, lower, deterministic
):
    judged.suite(cases, deterministic=deterministic)
    judged.write("lower.txt", lower)
    code, out, err = runevals(*RUN)
    ended(code, 1, out + err, without=["passed on fresh runs"])
    findings = judged.document()["comparison"]["findings"]
    lost = [each["name"] for each in findings if each["family"] == "case" and each["state"] == "worse"]
    assert lost == lower.split()


def test_a_judge_that_varies_beside_a_deterministic_target_blocks_nothing(judged, runevals):
    judged.suite(8, deterministic=True, noisy=tuple(f"c{n}" for n in range(8)))
    for _ in range(3):
        code, out, err = runevals(*RUN)
        ended(code, 0, out + err, without=["Improved", "different answers to the same question"])


def test_a_deterministic_target_whose_judge_fails_all_fresh_runs_is_named_without_a_base_to_run(judged, runevals):
    """One result of it is stored, and is enough."""
    judged.suite(6, deterministic=True)
    judged.write(".gitignore", "base.json\nout.json\n")
    assert runevals("--baseline", "none", "--cache", "none", "-q", "-o", "base.json")[0] == 0
    judged.write("agent.py", TARGET.replace("'3' if", "'1' if"))
    judged.write("lower.txt", "c3")
    code, out, err = runevals(
        "--baseline", "base.json", "--verify", "off", "--cache", "none", "-q", "-o", "out.json"
    )
    ended(code, 0, out + err, "⚠ No loss proven – c3 failed that passed on the base")
