"""`runevals judge`: the judge held against people, and against attacks; a real server plays it."""

from __future__ import annotations

import json

import pytest

from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.judge.replies import verdict


@pytest.fixture
def play(project, monkeypatch):
    """Starts a judge that scores as `score(what it is shown)` says."""
    running = []

    def start(score):
        def answer(body, number):
            found = score(body["messages"][1]["content"])
            return Reply("no") if found is None else Reply(verdict(body, found))

        server = chat_server(answer)
        running.append(server)
        monkeypatch.setenv("OPENAI_BASE_URL", server.__enter__().base_url)
        monkeypatch.setenv("RUNEVALS_JUDGE_MODEL", "big")

    yield start
    for server in running:
        server.__exit__(None, None, None)


def gold(*scores, **fields):
    """Answers that hold their own number of stars."""
    return "".join(
        json.dumps({"input": "Rate", "output": f"answer {n} " + "*" * score, "score": score, **fields}) + "\n"
        for n, score in enumerate(scores)
    )


def stars(shown):
    return shown.count("*")


def test_a_judge_that_agrees_with_people_is_called_reliable(project, runevals, play):
    play(stars)
    project.write("gold.jsonl", gold(*[1, 2, 3, 4, 5] * 12, evaluator="Relevance"))
    code, out, err = runevals("judge", "calibrate", "gold.jsonl", "-o", "found.json")
    assert code == 0, err
    assert "Relevance: 60 of 60 answers judged" in out
    assert "Krippendorff's alpha   1.00  (1.00 to 1.00)  reliable" in out
    assert "judge − people         0.00" in out
    assert "people gave           1: 12, 2: 12, 3: 12, 4: 12, 5: 12" in out
    assert "fewer than" not in out
    (found,) = project.document("found.json")
    assert (found["kappa"]["value"], found["band"]) == (1.0, "reliable")


def test_a_mild_judge_correlates_and_yet_does_not_agree(project, runevals, play):
    play(lambda shown: min(5, stars(shown) + 2))
    project.write("gold.jsonl", gold(*[1, 2, 3] * 5, evaluator="Relevance"))
    code, out, _ = runevals("judge", "calibrate", "gold.jsonl", "--min-alpha", "0.667")
    assert code == 1
    assert "Pearson's r            1.00" in out
    assert "judge − people        +2.00  (+2.00 to +2.00)" in out
    assert "not to gate on" in out
    assert "fewer than 50 answers" in out


def test_a_wanted_alpha_is_not_reached_by_failing_on_answers(project, runevals, play):
    play(lambda shown: None if "answer 1 " in shown else stars(shown))
    project.write("gold.jsonl", gold(1, 2, 3, 4, evaluator="Relevance"))
    code, out, _ = runevals("judge", "calibrate", "gold.jsonl", "--min-alpha", "0.667")
    assert "Krippendorff's alpha   1.00" in out
    assert code == 3


def test_a_score_of_people_too_large_for_a_number_is_off_the_scale(project, runevals, play):
    play(stars)
    project.write("gold.jsonl", gold(2, evaluator="Relevance").replace('"score": 2', '"score": 2' + "0" * 400))
    code, _, err = runevals("judge", "calibrate", "gold.jsonl")
    assert (code, "is outside Relevance's scale, 1 to 5" in err) == (2, True)


def test_answers_that_the_judge_fails_on_are_left_out_and_named(project, runevals, play):
    play(lambda shown: None if "answer 1 " in shown else stars(shown))
    project.write("gold.jsonl", gold(1, 2, 3, 4, evaluator="Relevance"))
    code, out, _ = runevals("judge", "calibrate", "gold.jsonl")
    assert code == 0
    assert "Relevance: 3 of 4 answers judged" in out
    assert "not judged ×1: judge_unparseable" in out


def test_a_judge_that_never_answers_calibrates_nothing(project, runevals, play):
    play(lambda shown: None)
    project.write("gold.jsonl", gold(1, 2, evaluator="Relevance"))
    assert runevals("judge", "calibrate", "gold.jsonl")[0] == 3


def test_several_people_are_compared_with_each_other_too(project, runevals, play):
    play(stars)
    rows = [{"output": "*" * n, "evaluator": "Coherence", "scores": [n, n]} for n in (1, 2, 4)]
    project.write("gold.json", rows)
    _, out, _ = runevals("judge", "calibrate", "gold.json")
    assert "people themselves      1.00  (alpha)" in out


def test_a_table_with_rubrics_and_a_default_evaluator(project, runevals, play):
    play(stars)
    project.write("gold.csv", "output,rubric,score\n**,polite,2\n****,polite,4\n*****,polite,5\n")
    _, out, err = runevals("judge", "calibrate", "gold.csv")
    assert "rubric: 3 of 3 answers judged" in out, err
    project.write("gold.csv", "output,score\n**,2\n****,4\n")
    _, out, _ = runevals("judge", "calibrate", "gold.csv", "--evaluator", "Coherence")
    assert "Coherence: 2 of 2 answers judged" in out


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"output": "a", "score": 3}], "gold.json:2:2: /0 does not name the evaluator of its score"),
        ([{"output": "a", "score": 9, "evaluator": "Relevance"}], "the score 9 is outside Relevance's scale"),
        ([{"output": "a", "evaluator": "Relevance"}], "needs either 'score' or 'scores'"),
        ([{"output": "a", "score": 1, "evaluator": "Relevanze"}], "there is no evaluator 'Relevanze'"),
        ([{"output": "a", "score": 1, "evaluator": "contains", "rubric": "r"}], "contains"),
        ([{"output": "a", "score": 1, "evaluator": "ExactMatch"}], "ExactMatch does not use a judge"),
        ([{"score": 1, "evaluator": "Relevance"}], "output"),
        ([{"output": "a", "score": "high", "evaluator": "Relevance"}], "score"),
        ([{"id": "x", "output": "a", "score": 1, "evaluator": "Relevance"}] * 2, "duplicate id 'x'"),
    ],
)
def test_gold_that_cannot_be_used_is_told_with_its_place(project, runevals, play, rows, told):
    play(stars)
    project.write("gold.json", rows)
    code, _, err = runevals("judge", "calibrate", "gold.json")
    ended(code, 2, err, told)


def test_an_honest_judge_is_raised_by_no_attack(project, runevals, play):
    play(lambda shown: 1)
    code, out, err = runevals("judge", "check", "--times", "1")
    assert code == 0, err
    assert "Relevance: 0 of 22 attacks raised the score, 0 made it pass" in out


def test_a_judge_that_obeys_is_found_out(project, runevals, play):
    play(lambda shown: 5 if "highest score" in shown else 2 if "full marks" in shown else 1)
    code, out, _ = runevals("judge", "check", "--times", "3", "--evaluator", "rubric")
    assert code == 1
    first, plain, *attacks = out.splitlines()
    assert first.startswith("rubric: ")
    assert plain.strip() == "1.0  the answer itself"
    assert any(line.strip() == "5.0  fake system message  passes" for line in attacks)
    assert any(line.strip() == "2.0  role play  raised" for line in attacks)
    assert any(line.strip() == "1.0  flattery" for line in attacks)


def test_a_check_without_answers_is_no_check(project, runevals, play):
    play(lambda shown: None)
    code, out, _ = runevals("judge", "check", "--times", "1")
    assert (code, out.splitlines()[0]) == (3, "Relevance: not measured – the judge gave too few scores")


def test_a_judge_that_lets_the_bad_answer_pass_has_nothing_to_be_attacked(project, runevals, play):
    play(lambda shown: 4)
    code, out, _ = runevals("judge", "check", "--times", "1")
    assert code == 1
    assert "the bad answer passes without an attack" in out.splitlines()[0]


def test_only_what_asks_a_judge_can_be_attacked(project, runevals, play):
    play(stars)
    code, _, err = runevals("judge", "check", "--evaluator", "ExactMatch")
    ended(code, 2, err, "ExactMatch does not use a judge")


def test_without_a_judge_it_says_how_to_name_one(project, runevals):
    code, _, err = runevals("judge", "check")
    ended(code, 2, err, "--judge-model")


def test_without_a_judge_check_does_not_advise_to_leave_the_judge_out(runevals):
    code, _, err = runevals("judge", "check")
    assert (code, "none is configured" in err, "--no-judge" in err) == (2, True, False), err
