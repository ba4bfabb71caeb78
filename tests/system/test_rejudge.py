"""`compare --rejudge`: another judge, another check, the same answers."""

from __future__ import annotations

import json
import re

import pytest

from tests.chat_server import Reply, chat_server

QUESTIONS = [f"k{n}" for n in range(10)]


def suite(**evaluators):
    items = [{"testId": key, "prompt": f"{key}?", "expected_response": "yes"} for key in QUESTIONS]
    return {"schemaVersion": "1.2.0", "default_evaluators": evaluators, "items": items}


def lines(**fields):
    return "".join(json.dumps({"case": key, **fields}) + "\n" for key in QUESTIONS)


@pytest.fixture
def two_runs(project, runevals):
    """A base that said yes and a head that said no, each judged by another judge."""
    project.write("runevals.yaml", "suites: [evals.json]\n")
    project.write("evals.json", suite(Relevance={}))
    for name, output, score in (("base", "yes", 3), ("head", "no", 5)):
        project.write("answers.jsonl", lines(output=output))
        project.write(f"{name}.judge.jsonl", lines(evaluator="Relevance", score=score, reason=name))
        target, judge = "recorded:answers.jsonl", f"recorded:{name}.judge.jsonl"
        assert runevals("-q", "--target", target, "--judge", judge, "-o", f"{name}.json")[0] == 0
    return project


def test_both_sides_are_judged_by_the_same_judge_of_today(two_runs, runevals):
    two_runs.write("judge.jsonl", lines(evaluator="Relevance", score=4, reason="today"))
    code, out, _ = runevals(
        "compare", "--rejudge", "--judge", "recorded:judge.jsonl", "base.json", "head.json", "-o", "out.json"
    )
    assert code == 0, out
    found = two_runs.document()
    assert found["comparison"]["state"] == "not_worse"
    scores = {r["value"] for c in found["cases"] for t in c["attempts"][0]["turns"] for r in t["results"]}
    assert scores == {4.0}


def test_a_check_that_is_new_is_held_against_the_answers_of_both(two_runs, runevals):
    two_runs.write("evals.json", suite(ExactMatch={}))
    code, out, _ = runevals("compare", "--rejudge", "base.json", "head.json")
    assert code == 1, out
    assert out.startswith("✗ 10 of 10 cases regressed")


def test_answers_to_other_prompts_are_not_judged(two_runs, runevals):
    other = json.dumps(suite(ExactMatch={})).replace("?", "??")
    two_runs.write("evals.json", other)
    code, _, err = runevals("compare", "--rejudge", "base.json", "head.json")
    assert code == 2
    assert "none of its cases has an answer to the prompts of the suites here" in err


def test_the_limits_of_the_settings_hold_for_both_sides_together(two_runs, runevals, monkeypatch):
    def score(body, number):
        nonce = re.search(r"nonce\W+([0-9a-f]{8,})", json.dumps(body))[1]
        return Reply(json.dumps({"nonce": nonce, "reasoning": "it is", "score": 4}))

    two_runs.write("runevals.yaml", "suites: [evals.json]\njudge_concurrency: 1\nmax_tokens: 30\n")
    with chat_server(score) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        code, out, _ = runevals("compare", "--rejudge", "--judge", "j", "base.json", "head.json")
    assert code == 3, out
    assert "--max-tokens 30 are spent" in out
    assert len(server.requests) < 2 * len(QUESTIONS)
