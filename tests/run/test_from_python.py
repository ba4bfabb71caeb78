"""`runevals.evaluate`: a function and a list are a run, as the command line makes one."""

from __future__ import annotations

import asyncio
import html
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import numpy
import pytest

import runevals
from runevals.evaluators import Check, Verdict, evaluator

CASES = [
    {"question": "Capital of France?", "answer": "Paris"},
    {"question": "Capital of Peru?", "answer": "Lima", "id": "peru", "tags": ["south"]},
]
SAME = [
    runevals.Case("Capital of France?", expected="Paris"),
    runevals.Case("Capital of Peru?", expected="Lima", id="peru", tags=("south",)),
]


def right(prompt):
    return {"Capital of France?": "Paris"}.get(prompt, "Lima")


async def worse(prompt):
    await asyncio.sleep(0)
    return "Paris"


def broken(prompt):
    raise ValueError(prompt)


def contains(answer):
    return answer != ""


def short(answer, most=4):
    return {"passed": len(answer) <= most, "reason": f"{len(answer)} letters"}


@evaluator("has_no_digit")
@dataclass(frozen=True, kw_only=True)
class HasNoDigit(Check):
    """The answer has no digit."""

    but: str = ""

    def check(self, subject):
        return Verdict(float(not re.search(r"\d", subject.response.text.replace(self.but, ""))), "")


@pytest.fixture(autouse=True)
def here(project):
    return project


@pytest.mark.parametrize("cases", [CASES, SAME, iter(CASES)], ids=["mappings", "cases", "an iterator"])
def test_rows_hold_what_a_table_needs(cases):
    evaluation = runevals.evaluate(cases, right, checks=["ExactMatch"], repeat=2)
    assert evaluation.passed
    assert [(row["case"], row["attempt"]) for row in evaluation.rows if row["case"] == "peru"] == [
        ("peru", 1),
        ("peru", 2),
    ]
    [row] = [row for row in evaluation.rows if (row["case"], row["attempt"]) == ("peru", 2)]
    assert {
        name: row[name] for name in ("prompt", "expected", "answer", "passed", "score", "ExactMatch", "error")
    } == {
        "prompt": "Capital of Peru?",
        "expected": "Lima",
        "answer": "Lima",
        "passed": True,
        "score": 5.0,
        "ExactMatch": 1.0,
        "error": None,
    }


def test_a_worse_function_fails_against_an_evaluation_and_against_its_document(here, request):
    called = request.getfixturevalue("runevals")  # the package has this name
    before = runevals.evaluate(CASES, right, checks=["ExactMatch"], deterministic=True)
    before.save("base.json")
    for baseline in (before, "base.json", here.path / "base.json"):
        after = runevals.evaluate(SAME, worse, checks={"ExactMatch": {}}, baseline=baseline, deterministic=True)
        assert (after.passed, after.verdict.exit_code) == (False, 1)
        assert "Lost\n  peru" in str(after)
        after.save("after.json")
        code, out, err = called("report", "after.json", "-o", "after.md", "-o", "after.html")
        texts = [(here.path / name).read_text(encoding="utf-8") for name in ("after.md", "after.html")]
        assert code == 0, out + err
        assert not any(
            "runevals run cases" in text or "runevals accept" in text for text in texts
        )  # none would work
    assert runevals.evaluate(CASES, right, checks=["ExactMatch"], baseline=before, deterministic=True).passed


def test_checks_with_options_may_stand_in_a_list_beside_names_and_functions():
    checks = ["ExactMatch", {"max_length": {"value": 9}}, short]
    row = runevals.evaluate(CASES, right, checks=checks).rows[0]
    assert {"ExactMatch", "max_length", "short"} <= row.keys()


@pytest.mark.parametrize(
    ("cases", "names"),
    [
        pytest.param(CASES, {"PartialMatch"}, id="an expected text"),
        pytest.param(
            [{**CASES[0], "checks": {"max_length": {"value": 9}}}], {"PartialMatch", "max_length"}, id="own"
        ),
    ],
)
def test_checks_have_a_default_and_a_case_may_add_its_own(cases, names):
    row = runevals.evaluate(cases, right).rows[0]
    assert {name.removesuffix(" reason") for name in row if name.endswith(" reason")} == names


def test_repeat_settles_a_dead_case_where_no_base_can_be_run():
    """Else one run and two fresh ones decide, which are too few, however many `repeat` allows."""
    cases = [{"question": str(n), "answer": str(n)} for n in range(20)]
    before = runevals.evaluate(cases, lambda prompt: prompt, checks=["ExactMatch"], repeat=8)
    same = runevals.evaluate(cases, lambda prompt: prompt, checks=["ExactMatch"], repeat=8, baseline=before)
    dead = runevals.evaluate(
        cases, lambda prompt: prompt.replace("7", ""), checks=["ExactMatch"], repeat=8, baseline=before
    )
    assert (same.verdict.exit_code, len(same.rows)) == (0, 160)
    assert (dead.verdict.exit_code, len(dead.rows)) == (1, 160), dead.verdict.headline


@pytest.mark.parametrize(
    ("checks", "scores"),
    [
        pytest.param(short, {"short": 0.0, "short reason": "5 letters"}, id="one function"),
        pytest.param(
            [short, "ExactMatch"], {"short": 0.0, "ExactMatch": 1.0}, id="a function beside one that has a name"
        ),
        pytest.param(
            {"same": lambda output, expected: output == expected}, {"same": 1.0}, id="a function with a name"
        ),
        pytest.param({"same": lambda prompt, metadata: metadata["of"] in prompt}, {"same": 1.0}, id="of the case"),
        pytest.param(lambda text: text == "Paris", {"<lambda>": 1.0}, id="one parameter with any name"),
        pytest.param([HasNoDigit], {"has_no_digit": 1.0}, id="a class"),
        pytest.param(
            {"has_no_digit": {"but": "7"}}, {"has_no_digit": 1.0}, id="a class by its name, with options"
        ),
    ],
)
def test_functions_and_classes_of_the_program_check(checks, scores):
    cases = [{**CASES[0], "of": "France"}]
    evaluation = runevals.evaluate(cases, right, checks=checks, deterministic=True)
    assert {name: evaluation.rows[0][name] for name in scores} == scores
    assert evaluation.verdict.exit_code == 0
    wrong = runevals.evaluate(
        cases, lambda prompt: "Rome 12", checks=checks, baseline=evaluation, deterministic=True
    )
    lost = [name for name in scores if "reason" not in name and wrong.rows[0][name] != scores[name]]
    assert wrong.passed == (not lost)


def test_a_check_that_raises_or_returns_something_else_is_not_measured():
    for returned in ("yes", 3, None):
        evaluation = runevals.evaluate(CASES, right, checks={"odd": lambda answer, value=returned: value})
        assert evaluation.verdict.exit_code == 3
    evaluation = runevals.evaluate(CASES, right, checks={"odd": lambda answer: 1 / 0})
    assert (evaluation.verdict.exit_code, evaluation.rows[0]["passed"]) == (3, None)


def test_a_check_that_is_defined_again_is_the_new_one():
    """As the cell of a notebook is run again."""
    for value in (True, False):

        def again(answer, value=value):
            return value

        assert runevals.evaluate(CASES, right, checks=[again]).rows[0]["again"] == value


def test_a_check_is_known_in_its_evaluation_alone():
    evaluation = runevals.evaluate(CASES, right, checks=[short])
    assert str(evaluation).startswith("✓") == evaluation.passed
    assert "short" in evaluation._repr_html_()
    with pytest.raises(runevals.InvalidSuite, match="no evaluator 'short'"):
        runevals.evaluate(CASES, right, checks=["short"])


def evaluated(cases, baseline):
    checks = ["ExactMatch"]
    found = runevals.evaluate(cases, lambda prompt: prompt.replace("q", "a"), checks=checks, baseline=baseline)
    return found if baseline is None else found.verdict


def test_a_function_that_needs_the_expected_text_skips_cases_without():
    def same(answer, expected):
        return answer.lower() == expected.lower()

    cases = [*CASES, {"question": "Who?"}]
    assert [row["same"] for row in runevals.evaluate(cases, right, checks=[same]).rows] == [True, True, None]
    evaluation = runevals.evaluate(CASES, right, checks={"share": lambda answer: 0.7})
    assert "a check returns a bool, or {'passed': …, 'score': …}" in str(evaluation)


def test_the_score_of_a_row_is_the_one_that_the_summary_has():
    graded = {"graded": lambda answer: {"passed": True, "score": 0.7}}
    evaluation = runevals.evaluate(CASES, right, checks=graded)
    assert [row["score"] for row in evaluation.rows] == [pytest.approx(3.8)] * 2
    assert "score 3.80 of 5" in str(evaluation)


def test_what_settles_it_can_be_done_in_python():
    cases = [{"prompt": f"q{n}", "expected": f"a{n}", "id": f"k{n}"} for n in range(12)]
    before = evaluated(cases, None)
    assert evaluated([{**cases[0], "expected": "Quito"}, *cases[1:]], before).headline.endswith(
        "the function of the base is not here; take a run with the edit as the baseline"
    )
    others = [{**case, "prompt": f"q{case['prompt']}", "expected": f"a{case['expected']}"} for case in cases]
    assert evaluated(others, before).headline.endswith("; make a new baseline")


def test_rows_of_a_data_frame_are_cases():
    """Numbers as ids, and cells that are not there: `frame.to_dict("records")` has NaN for them."""
    absent = float("nan")
    frame = [
        {"id": 7, "frage": "Capital of France?", "soll": "Paris", "category": 1.0, "land": "FR"},
        {"id": absent, "frage": "Capital of Peru?", "soll": "Lima", "category": absent, "land": absent},
    ]
    seen = {}

    def answer(prompt, messages, case):
        seen[prompt] = case["metadata"]
        return right(prompt)

    columns = {"prompt": "frage", "expected": "soll"}
    rows = runevals.evaluate(frame, answer, columns=columns).rows
    assert [(row["category"], row["expected"]) for row in rows] == [("1", "Paris"), (None, "Lima")]
    assert [row["case"] == "7" for row in rows] == [True, False]
    assert seen == {"Capital of France?": {"land": "FR"}, "Capital of Peru?": {}}


def test_values_of_other_libraries_are_what_a_file_would_have():
    """A column of dates, ids that are numbers of an array, and a check that compares two of those."""
    rows = [
        {
            "id": numpy.int64(7),
            "question": "a",
            "answer": "A",
            "at": datetime(2026, 1, 2, tzinfo=UTC),
            "cost": Decimal("1.5"),
        },
        {"id": numpy.int64(8), "question": "b", "at": None, "cost": None, "vector": numpy.array([1, 2])},
    ]
    seen = {}

    def answer(prompt, case):
        seen[prompt] = case["metadata"]
        return prompt.upper()

    checks = {"contains": {}, "one": lambda answer: numpy.bool_(answer in "AB")}
    evaluation = runevals.evaluate(rows, answer, checks=checks)
    assert [row["case"] for row in evaluation.rows] == ["7", "8"]
    assert [(row["passed"], row["contains"]) for row in evaluation.rows] == [(True, 1.0), (True, None)]  # skipped
    assert seen == {"a": {"at": "2026-01-02 00:00:00+00:00", "cost": "1.5"}, "b": {"vector": [1, 2]}}


def test_a_column_that_nothing_reads_edits_no_case():
    """It would hide a loss, as would a number that another library writes as 1.0."""

    def wrong(prompt):
        return "Rome"

    def reads(prompt, case):
        return right(prompt)

    before = runevals.evaluate([{**row, "priority": 1} for row in CASES], right, checks=["ExactMatch"])
    for column in ({"priority": 1.0}, {"owner": "ana"}):
        cases = [{**row, **column} for row in CASES]
        same = runevals.evaluate(cases, right, checks=["ExactMatch"], baseline=before)
        assert (same.verdict.headline, same.verdict.exit_code) == ("No regression shown in 2 cases", 0)
        lost = runevals.evaluate(cases, wrong, checks=["ExactMatch"], baseline=before, deterministic=True)
        assert lost.verdict.exit_code != 0
        edited = runevals.evaluate(cases, reads, checks=["ExactMatch"], baseline=before)
        assert "edited" in edited.verdict.headline


def test_cases_and_mappings_may_stand_in_one_list():
    rows = runevals.evaluate([runevals.Case("Capital of Peru?", expected="Lima"), CASES[0]], right).rows
    assert [row["passed"] for row in rows] == [True, True]


def test_a_function_that_fails_is_not_measured_and_never_a_pass():
    evaluation = runevals.evaluate(CASES, broken)
    assert (evaluation.passed, evaluation.verdict.exit_code) == (False, 3)
    assert re.match(r"ValueError: Capital of Peru\? \(.*test_from_python\.py:\d+\)", evaluation.rows[1]["error"])
    assert evaluation.rows[1]["passed"] is None
    of_check = runevals.evaluate(CASES, right, checks=[lambda answer, expected: 0.9])
    assert "a check returns a bool" in of_check.rows[0]["error"]


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        pytest.param({"answer": "bot"}, runevals.InvalidSettings, "must be a function", id="no function"),
        pytest.param({"cases": []}, runevals.InvalidSuite, "has no entry", id="no cases"),
        pytest.param({"cases": [{"x": "1"}]}, runevals.InvalidSettings, r"columns=\{'prompt': …", id="no prompt"),
        pytest.param(
            {"columns": {"prompt": "frage"}},
            runevals.InvalidSettings,
            r"no case has 'frage' \(there are question, answer, ",
            id="no such column",
        ),
        pytest.param({"columns": {"promt": "question"}}, runevals.InvalidSettings, "'prompt'", id="no such part"),
        pytest.param({"checks": [lambda a, b: True]}, runevals.InvalidSettings, "'a'", id="another parameter"),
        pytest.param({"checks": [contains]}, runevals.InvalidSettings, "already used", id="the name of ours"),
        pytest.param(
            {"checks": [short, short]}, runevals.InvalidSettings, "two checks are called", id="a name twice"
        ),
        pytest.param({"checks": {"case": short}}, runevals.InvalidSettings, "a column of `rows`", id="a field"),
        pytest.param(
            {"cases": [{"prompt": "?", "x": object()}]}, runevals.InvalidSettings, "'x': object", id="an object"
        ),
        pytest.param({"checks": [7]}, runevals.InvalidSettings, "a function", id="neither name nor function"),
        pytest.param({"checks": 7}, runevals.InvalidSettings, "a function", id="neither one nor several"),
        pytest.param({"cases": [{"prompt": "?", "id": {1}}]}, runevals.InvalidSettings, "JSON", id="a set"),
        pytest.param({"cases": "qa.csv"}, runevals.InvalidSettings, "csv.DictReader", id="a file name"),
        pytest.param({"cases": [["a", "b"]]}, runevals.InvalidSettings, "not list", id="a list of lists"),
        pytest.param({"checks": ["ExactMach"]}, runevals.InvalidSuite, "did you mean 'ExactMatch'", id="a name"),
        pytest.param({"baseline": "no.json"}, runevals.InvalidSettings, "there is no file", id="no baseline"),
        pytest.param({"repeat": 0}, runevals.InvalidSettings, "--repeat is 0", id="no attempt"),
    ],
)
def test_wrong_arguments_raise_public_errors(arguments, error, told):
    with pytest.raises(error, match=told):
        runevals.evaluate(**{"cases": CASES, "answer": right, **arguments})


def test_the_settings_file_does_not_bring_another_base_or_target(here):
    here.write("runevals.yaml", "targets: {a: openai:a, b: openai:b}\nbaseline: base.json\nagainst: a\n")
    assert runevals.evaluate(CASES, right).passed


def test_a_notebook_shows_the_page_of_the_report():
    shown = runevals.evaluate(CASES, right)._repr_html_()
    [page] = re.findall(r'srcdoc="([^"]*)"', shown)
    assert html.unescape(page).startswith("<!doctype html>")
    assert repr(runevals.evaluate(CASES, right)) == "<Evaluation: 2 of 2 cases pass – nothing to compare with yet>"


def test_an_evaluation_runs_inside_an_event_loop_as_notebooks_have_one():
    async def cell():
        return runevals.evaluate(CASES, worse).rows

    assert len(asyncio.run(cell())) == 2
