"""Losses that something else in the repository could hide: none of them passes."""

from __future__ import annotations

import json

import pytest

from tests.against_base import AGAINST, on_main
from tests.ending import ended
from tests.sample_suites import EXACT, SETTINGS, numbered

STOCHASTIC = SETTINGS.replace(", deterministic: true", "")
AGENT = "def answer(prompt):\n    return 'right'\n"
GRADED = """
def evaluate(input, output, expected, metadata):
    return {"passed": True, "score": float(output == "right")}
"""
LEAKS_LATER = """
def answer(prompt, messages, case):
    return "wrong" if case["key"] == "k7" and case["attempt"] > 1 else "right"
"""


def suite(count=20, **fields):
    items = numbered(count, "right")
    items[7] |= fields
    return {**EXACT, "items": items}


@pytest.fixture
def base(repository):
    """A base whose twenty cases pass; `base(name=content)` puts more on it."""

    def made(settings=STOCHASTIC, cases=None, **files):
        of_base = {"evals.json": cases or suite(), "agent.py": AGENT, "runevals.yaml": settings}
        for name, content in {**of_base, ".gitignore": ".evals/\nout.json\nbuild/\n", **files}.items():
            on_main(repository, name, content)
        return repository

    return made


def test_a_score_of_nothing_is_a_fall_though_the_grader_calls_it_a_pass(base, runevals):
    grader = "evaluators:\n  - {id: mine, type: code, language: python, file: grader.py}\n"
    cases = {**suite(), "default_evaluators": {"mine": {}}}
    change = base(SETTINGS + grader, cases, **{"grader.py": GRADED})
    assert runevals(*AGAINST)[0] == 0
    change.write("agent.py", AGENT.replace("right", "wrong"))
    code, out, _ = runevals(*AGAINST)
    ended(code, 1, out, "score 5.00 → 1.00 of 5")


def test_each_attempt_at_a_redteam_case_is_made_also_beside_a_base(base, runevals):
    change = base(STOCHASTIC + "repeat: 3\n", suite(category="redteam"))
    change.write("agent.py", LEAKS_LATER)
    code, out, _ = runevals(*AGAINST)
    ended(code, 1, out, "k7")
    attempts = {case["key"]: len(case["attempts"]) for case in change.document()["cases"]}
    assert (attempts["k7"], attempts["k1"]) == (3, 1)


def test_a_folder_that_the_base_lacks_hides_no_suite_beside_it(base, runevals, monkeypatch):
    change = base()
    change.write("agent.py", AGENT.replace("right", "wrong"))
    change.write("build/made.txt", "")
    monkeypatch.chdir(change.path / "build")
    code, out, err = runevals("run", "--config", "../runevals.yaml", *AGAINST)
    ended(code, 1, out + err, "20 of 20 cases regressed")


def test_recorded_attempts_that_differ_are_not_passed_over(base, runevals):
    def answers(bad=()):
        rows = [(n, attempt) for n in range(20) for attempt in (1, 2, 3)]
        said = ["wrong" if row in bad else "right" for row in rows]
        lines = [
            {"case": f"k{n}", "attempt": of, "output": text} for (n, of), text in zip(rows, said, strict=True)
        ]
        return "".join(f"{json.dumps(line)}\n" for line in lines)

    recorded = "suites: [evals.json]\nrepeat: 3\ntarget: {type: recorded, path: answers.jsonl}\n"
    change = base(recorded, suite(category="redteam"), **{"answers.jsonl": answers()})
    assert runevals(*AGAINST)[0] == 0
    change.write("answers.jsonl", answers({(7, 2), (7, 3)}))
    code, _, err = runevals(*AGAINST)
    ended(code, 2, err, "another answer in attempt 2 of k7", "`deterministic: false`")


def test_a_listed_case_that_is_critical_on_the_base_counts_though_the_change_takes_the_mark_away(base, runevals):
    entry = "- {key: k7, owner: me, reason: flaky, expires: 2999-12-01}\n"
    change = base(
        SETTINGS, suite(extensions={"runevals": {"critical": True}}), **{"runevals.quarantine.yaml": entry}
    )
    change.write("evals.json", suite())
    change.write("agent.py", AGENT.replace("return 'right'", "return 'wrong' if ' 7?' in prompt else 'right'"))
    code, out, _ = runevals(*AGAINST)
    ended(code, 1, out, "a critical case is lost: k7")


@pytest.mark.parametrize("edited", [12, 20])
def test_cases_that_all_pass_in_their_edited_form_do_not_block_however_many_they_are(base, runevals, edited):
    change = base()
    cases = suite()
    for item in cases["items"][:edited]:
        item["expected_response"] = "new"
    change.write("evals.json", cases)
    program = f"def answer(prompt):\n    return 'new' if int(prompt[9:-1]) < {edited} else 'right'\n"
    change.write("agent.py", program)
    code, out, _ = runevals(*AGAINST)
    ended(code, 0, out, f"⚠ {edited} cases pass only in their edited form")


def test_cases_that_crash_are_named_though_so_many_errors_are_allowed(base, runevals):
    change = base(SETTINGS + "errors: {limit: 0.3}\n")
    change.write("agent.py", "def answer(prompt):\n    return 'right' if int(prompt[9:-1]) > 5 else 1 / 0\n")
    code, out, _ = runevals(*AGAINST)
    ended(code, 0, out, "⚠", "not measured, which `errors.limit` allows")
    assert change.document()["verdict"]["warns"] is True


WER = ("--columns", "score=wer<=0.2")


@pytest.mark.parametrize(
    ("now", "words", "expected"),
    [
        ("0.9", (*WER, "--deterministic"), 1),
        ("0.9", WER, 0),  # nothing says that it is always the same
        ("", WER, 3),
        ("nan", WER, 3),
    ],
)
def test_a_row_that_lost_its_score_or_fails_in_what_is_always_the_same_does_not_pass(
    project, runevals, now, words, expected
):
    rows = [("id", "wer"), *((f"k{n}", "0.1") for n in range(20))]
    project.write("base.csv", "".join(f"{key},{score}\n" for key, score in rows))
    project.write("head.csv", "".join(f"{key},{now if key == 'k7' else score}\n" for key, score in rows))
    code, out, err = runevals("gate", "head.csv", "--baseline", "base.csv", *words)
    ended(code, expected, out + err)


def test_a_loss_that_was_accepted_once_can_be_accepted_again(base, runevals):
    change = base(SETTINGS)
    worse = AGENT.replace("return 'right'", "return 'wrong' if ' 7?' in prompt else 'right'")
    for reason in ("shorter answers", "no answers"):
        change.write("agent.py", worse)
        runevals("run", "--base", "main", "-q")
        runevals("accept", "--all", "--reason", reason)
        assert "1 case will be accepted once a reviewer approves this commit: " in runevals(*AGAINST)[1]
        change.git("add", "-A")
        change.git("commit", "-qm", "lost, and wanted")
        on_main(change, "runevals.accepted.yaml", (change.path / "runevals.accepted.yaml").read_text())


def test_a_lost_case_is_run_again_beside_losses_that_a_reviewer_may_accept(base, runevals):
    """With twelve lost cases the whole is lost, too, and else no case is run again by itself."""
    change = base(STOCHASTIC + "repeat: 3\n", {**EXACT, "items": numbered(30, "right")})
    change.git("checkout", "-q", "main")
    runevals("run", "--baseline", "none", "-q", "-o", "build/base.json")
    change.git("checkout", "-q", "change")
    change.write("agent.py", AGENT.replace("return 'right'", "return 'wrong' if '1' in prompt else 'right'"))
    run = ("run", "--baseline", "build/base.json", "-q", "-o", "out.json")
    runevals(*run)
    lost = [each["name"] for each in change.document()["comparison"]["findings"] if each["family"] == "case"]
    for acceptable, state in (([], "not_known"), ([key for key in lost if key != "k17"], "worse")):
        if acceptable:
            assert runevals("accept", *acceptable, "--results", "out.json", "--reason", "wanted")[0] == 0
        assert runevals(*run)[0] == 1
        found = change.document()["comparison"]["findings"]
        assert [each["state"] for each in found if each["name"] == "k17"] == [state]
