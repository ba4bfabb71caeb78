"""Several judges, votes and the cache, as a user meets them."""

from __future__ import annotations

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.judge.replies import verdict

ITEMS = [{"testId": key, "prompt": f"{key}?", "expected_response": "x"} for key in "abcd"]
SUITE = {"schemaVersion": "1.2.0", "default_evaluators": {"Relevance": {}}, "items": ITEMS}
ANSWERS = "".join(f'{{"case": "{key}", "output": "answer {key}"}}\n' for key in "abcd")
SETTINGS = "suites: [evals.json]\ntarget: {type: recorded, path: answers.jsonl}\n"


@pytest.fixture
def judged(project, monkeypatch):
    """A project whose judges are models of one server; each gives the score that it is named after."""
    scores = {"three": 3, "four": 4, "five": 5}

    def answer(body, number):
        return Reply(verdict(body, scores[body["model"]]))

    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-ours")
        project.server = server
        yield project


def results(document):
    return [case["attempts"][0]["turns"][0]["results"][0] for case in document["cases"]]


def test_the_median_of_several_judges_counts_and_each_is_named(judged, runevals):
    judged.write("runevals.yaml", SETTINGS + "judges: [three, {model: four}, five]\n")
    code, out, err = runevals("-o", "out.json", "-o", "out.md")
    assert code == 0, err
    document = judged.document()
    assert [result["value"] for result in results(document)] == [4.0, 4.0, 4.0, 4.0]
    assert results(document)[0]["details"] == {"votes": [3.0, 4.0, 5.0], "judges": ["three", "four", "five"]}
    assert document["run"]["judge"]["model"] == "three + four + five"
    (agreement,) = document["agreement"]
    assert (agreement["evaluator"], agreement["checks"], agreement["contested"]) == ("Relevance", 4, 4)
    assert -1 < agreement["alpha"] < 0
    assert "4 of 4 contested" in out
    assert "contested" in (judged.path / "out.md").read_text()


def test_a_panel_is_not_compared_with_one_judge(judged, runevals):
    judged.write("runevals.yaml", SETTINGS + "judge: four\n")
    assert runevals("-o", "base.json")[0] == 0
    judged.write("runevals.yaml", SETTINGS + "judges: [three, four, five]\n")
    _, out, _ = runevals("--baseline", "base.json")
    assert (
        "judge scores are not comparable and were left out: the judge was four on base, three + four + five" in out
    )


def test_a_second_run_asks_no_judge_and_says_so(judged, runevals):
    judged.write("runevals.yaml", SETTINGS + "judge: {model: four, votes: 2}\n")
    runevals("-o", "first.json")
    assert len(judged.server.requests) == 8
    code, out, _ = runevals("-o", "second.json", "--baseline", "first.json")
    assert (code, len(judged.server.requests)) == (0, 8)
    assert "4 judgements from the cache" in out
    first, second = judged.document("first.json"), judged.document("second.json")
    assert [result["cached"] for result in results(second)] == [True] * 4
    assert [r["value"] for r in results(first)] == [r["value"] for r in results(second)]
    assert (first["totals"]["judge_cached"], second["totals"]["judge_cached"]) == (0, 4)
    assert second["totals"]["judge_cost_usd"] == 0.0


@pytest.mark.parametrize("way", ["CI", "none"])
def test_in_ci_and_where_asked_nothing_is_kept_nor_believed(judged, runevals, monkeypatch, way):
    judged.write("runevals.yaml", SETTINGS + "judge: four\n")
    runevals("-q", "-o", "out.json")
    flags = []
    if way == "CI":
        monkeypatch.setenv("CI", "true")
    else:
        flags = ["--cache", "none"]
    runevals("-q", "-o", "out.json", *flags)
    assert len(judged.server.requests) == 8
    code, _, err = runevals("cache-info", *flags)
    ended(code, 2, err, "nothing is cached here; name a folder with --cache")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("judge: four\njudges: [three, four]\n", "stands beside 'judge'; name one, or list them all here"),
        ("judges: [three]\n", "judges"),
        ("judges: [three, {model: four, vote: 2}]\n", "votes"),
    ],
)
def test_judges_that_are_written_wrongly_are_told(judged, runevals, written, told):
    judged.write("runevals.yaml", SETTINGS + written)
    code, _, err = runevals("validate")
    ended(code, 2, err, told)


def test_one_model_cannot_be_named_for_several_judges(judged, runevals):
    judged.write("runevals.yaml", SETTINGS + "judges: [three, four]\n")
    code, _, err = runevals("--judge-model", "five")
    ended(code, 2, err, "judge_model names one model, but there are several judges")


def test_settings_show_every_judge(judged, runevals):
    judged.write("runevals.yaml", SETTINGS + "judges: [three, four]\n")
    _, out, _ = runevals("settings")
    assert "judge_model" in out
    assert "three + four" in out
    assert "openai model=three" in out
    assert "a-key-of-ours" not in out


def test_in_ci_nothing_that_anybody_could_have_signed_is_believed(judged, runevals, monkeypatch):
    judged.write("runevals.yaml", SETTINGS + "judge: four\n")
    monkeypatch.setenv("CI", "true")
    runevals("-q", "-o", "out.json", "--cache", "kept")
    runevals("-q", "-o", "out.json", "--cache", "kept")
    assert len(judged.server.requests) == 4  # signed with the key
    monkeypatch.delenv("OPENAI_API_KEY")
    runevals("-q", "-o", "out.json", "--cache", "other")
    runevals("-q", "-o", "out.json", "--cache", "other")
    assert len(judged.server.requests) == 12


@pytest.mark.parametrize(("check", "code"), [("Relevance", 2), ("ExactMatch", 1)])
def test_a_judge_that_no_check_asks_needs_no_key(judged, runevals, monkeypatch, check, code):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    judged.write("evals.json", {**SUITE, "default_evaluators": {check: {}}})
    judged.write("runevals.yaml", SETTINGS + "judge: {model: four}\nmin_pass_rate: 1\n")
    ended_with, out, err = runevals()
    told = "OPENAI_API_KEY is not set" if code == 2 else "0 of 4 passed"
    ended(ended_with, code, out + err, told)
