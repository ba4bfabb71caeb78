"""Rounds: as many runs of the suite as the answer needs, with a target whose answers vary."""

from __future__ import annotations

AGENT = """
import random

def answer(prompt, messages, case):
    chance = random.Random(f"{SEED}/{case['key']}/{case['attempt']}").random()
    return "right" if chance < RATE else "wrong"
"""
SUITE = {
    "schemaVersion": "1.2.0",
    "default_evaluators": {"ExactMatch": {}},
    "items": [{"testId": f"k{n}", "prompt": f"Question {n}?", "expected_response": "right"} for n in range(60)],
}
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
    assert "unlikely to be noise" in out
    assert attempts(project) in ({1}, {2}, {3})
