"""`runevals strength` in words, as JSON, and with a judge: it is asked only about what no code notices."""

from __future__ import annotations

import json

import pytest

from runevals.records import Location
from runevals.run.strength.suite import MOST_OF_A_KIND, lines_of
from runevals.suites.health.hint import Hint
from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.judge.replies import verdict

ITEMS = [
    {"testId": "a", "prompt": "How long is the warranty?", "expected_response": "24 months", "category": "terms"},
    {"testId": "b", "prompt": "Do you ship to Canada?", "expected_response": "Canada"},
]
SUITE = {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}, "items": ITEMS}
ANSWERS = '{"case": "a", "output": "It is 24 months in 7 shops."}\n{"case": "b", "output": "To Canada, yes."}\n'
SETTINGS = "suites: [evals.json]\ntarget: {type: recorded, path: answers.jsonl}\n"


@pytest.fixture
def strength(project, runevals):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    project.write("runevals.yaml", SETTINGS)
    return lambda *words: runevals("strength", *words)


def test_it_says_the_share_each_kind_and_what_is_weak(strength):
    code, out, err = strength()
    assert (code, err) == (0, "")
    assert "evals.json:4:3: weak check: b: ExactMatch: it passes the prompt itself" in out
    assert "not noticed: a: no check notices '7' → '8', 'is' → 'is not'; a check that looks for '7' would" in out
    assert "Strength: 80 % (95 % interval " in out
    assert ") of 15 wrong answers are noticed, in 2 cases" in out
    assert "    50 %  the prompt itself (1 of 2)" in out
    assert "By category:\n" in out
    assert "Harmless edits that fail: 0 of 4 (0 %)" in out


def test_it_is_written_as_json_and_may_fail_a_job(project, strength):
    code, _, _ = strength("--min", "0.9", "-o", "strength.json")
    assert code == 1
    found = project.document("strength.json")
    assert (found["wrong_answers"], found["cases"], found["cases_with_a_right_answer"]) == (15, 2, 2)
    assert found["strength"] == pytest.approx(0.8)
    assert {"weak check", "not noticed"} == {each["kind"] for each in found["findings"]}
    assert strength("--min", "0.5")[0] == 0


def test_right_answers_come_from_past_results(project, strength, runevals):
    assert runevals("run", "-o", "out.json")[0] == 0
    project.write("runevals.yaml", "suites: [evals.json]\n")
    assert "'7' → '8'" in strength("--results", "out.json")[1]
    assert "'7' → '8'" not in strength()[1] or ".evals" in str(project.files())


def judged(item):
    return {**item, "evaluators": {"Relevance": {}}}


def test_the_judge_is_asked_only_about_what_no_code_notices(project, strength, monkeypatch):
    project.write("evals.json", {**SUITE, "items": [judged(ITEMS[0])]})
    _, out, _ = strength()
    assert "Left to the judge: 2 wrong answers (--ask-judge asks it)" in out
    shown = []

    def answer(body, number):
        text = body["messages"][1]["content"]
        shown.append(text)
        return Reply(verdict(body, 1 if "is not" in text else 5))

    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, err = strength("--ask-judge", "--judge-model", "big")
    assert code == 0, err
    assert len(shown) == 2
    assert "The judge is asked about 2 wrong answers." in out
    assert "(1 of 1)" in out.partition("a 'not' added")[2]
    assert "no check notices '7' → '8'; a check" in out
    assert "Left to the judge" not in out


def test_a_budget_ends_the_questions_to_the_judge(project, strength, monkeypatch):
    project.write("evals.json", {**SUITE, "items": [judged(ITEMS[0])]})
    with chat_server(lambda body, number: Reply(verdict(body, 5))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        _, out, _ = strength("--ask-judge", "--judge-model", "big", "--max-calls", "1", "--judge-concurrency", "1")
    assert "Left to the judge: 1 wrong answer" in out


def test_to_ask_a_judge_needs_one(project, strength):
    project.write("evals.json", {**SUITE, "items": [judged(ITEMS[0])]})
    code, _, err = strength("--ask-judge")
    ended(code, 2, err, "ask for a judge, but none is configured")


def test_a_suite_of_judged_checks_has_no_strength_of_its_own(project, strength):
    project.write("evals.json", {**SUITE, "default_evaluators": {}, "items": [judged(ITEMS[0])]})
    _, out, _ = strength()
    assert "Strength: not known – no check of code looks at any answer" in out


def test_long_lists_of_a_kind_are_cut():
    hints = [Hint(kind="weak check", location=Location(file="s", line=n), message="m") for n in range(60)]
    lines = list(lines_of(hints))
    assert (len(lines), lines[-1]) == (MOST_OF_A_KIND + 1, "… and 10 more: weak check")


def test_settings_and_names_are_harmless_on_the_screen(project, strength):
    project.write("evals.json", json.loads(json.dumps(SUITE).replace('"b"', '"b\\u001b[2J"')))
    assert "b\\x1b[2J" in strength()[1]


@pytest.mark.parametrize(("words", "ran"), [(["strength"], True), (["validate", "--health"], False)])
def test_graders_of_the_suite_are_run_only_by_the_command_itself(project, runevals, words, ran):
    project.write("grade.mjs", "export default () => ({passed: true, score: 1, reason: 'ok'})\n")
    project.write(
        "runevals.yaml", "suites: [evals.json]\nevaluators:\n  - {id: own, type: code, file: grade.mjs}\n"
    )
    item = {"testId": "a", "prompt": "?", "evaluators": {"own": {}}}
    project.write("evals.json", {"schemaVersion": "1.2.0", "default_evaluators": {}, "items": [item]})
    code, out, err = runevals(*words)
    assert code == 0, err
    assert ("no check notices" in out) == ran
