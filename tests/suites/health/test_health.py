"""`runevals validate --health` on files of every format: what it finds, where, and that it decides nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runevals.cli import validate
from runevals.suites.health import coverage, duplicates, history
from tests.ending import ended
from tests.sample_suites import SUITE


def sample(key, prompt="Who is it?", **more):
    return {"sample_id": key, "prompt": prompt, "assertions": [{"type": "contains", "value": key[::-1]}], **more}


def asserted(*assertions):
    return [{"sample_id": "s", "prompt": "?", "assertions": list(assertions)}]


def document(*items, **more):
    return {"schemaVersion": "1.2.0", "default_evaluators": {}, "items": list(items), **more}


def test_a_suite_without_problems_has_no_hints(health):
    assert health(SUITE, name="evals.json") == []


# -- checks that say the same of every answer

LOOKS = {"type": "contains", "value": "x"}


@pytest.mark.parametrize(
    ("assertion", "told"),
    [
        ({"type": "min_length", "value": 0}, "min_length: it always passes: there are always at least 0"),
        ({"type": "word_count_min", "value": 0, "not": True}, "word_count_min: it never passes: there are always"),
        ({"type": "rouge_n_min", "reference": "a b", "threshold": 0}, "its threshold, 0, is the least score"),
        ({"type": "faithfulness", "reference": "x", "threshold": 1}, "its threshold, 1, is the least score"),
        ({"type": "faithfulness", "reference": "x", "threshold": 2}, None),
        ({"type": "levenshtein_max", "reference": "30 days", "value": 500}, "any text of up to 500 characters is"),
        ({"type": "levenshtein_max", "reference": "30 days", "value": 2}, None),
        ({"type": "regex", "pattern": "a*"}, "regex: it always passes: the pattern is found in every text"),
        ({"type": "regex", "pattern": "[\\s\\S]*"}, "the pattern is found in every text"),
        ({"type": "regex", "pattern": "(x|)", "not": True}, "regex: it never passes: the pattern is found"),
        ({"type": "regex", "pattern": "^$"}, None),
        ({"type": "regex", "pattern": "^[\\s\\S]{0,400}$"}, None),
        ({"type": "regex", "pattern": "^[^<>]*$"}, None),
        ({"type": "regex", "pattern": "^(?![\\s\\S]*password)"}, None),
        ({"type": "contains", "value": "looks fine", "not": True}, None),
        ({"type": "max_length", "value": 400}, None),
        (
            {"type": "assert-set", "mode": "any", "children": [LOOKS, {"type": "regex", "pattern": ""}]},
            "assert-set: it always passes: regex in it always passes (the pattern is found in every text)",
        ),
        (
            {"type": "assert-set", "mode": "all", "children": [LOOKS, {"type": "regex", "pattern": ""}]},
            None,
        ),
        (
            {"type": "assert-set", "mode": "any", "children": [{"type": "min_length", "value": 0, "not": True}]},
            None,
        ),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else "",
)
def test_a_check_that_never_fails_is_a_hint(health, assertion, told):
    found = health(asserted(assertion))
    if told is None:
        assert found == []
    else:
        assert len(found) == 1
        assert found[0].startswith("eval-samples.json:6:4: cannot fail: ")
        assert told in found[0]
        assert found[0].endswith("; say more precisely what must hold, or remove it")


@pytest.mark.parametrize(
    ("assertion", "told"),
    [
        ({"type": "min_length", "value": 1}, "it looks only at the form, or at what was so before"),
        ({"type": "regex", "pattern": ".+"}, "it passes the prompt itself: the prompt has what it looks for"),
    ],
)
def test_a_check_that_passes_a_wrong_answer_is_a_hint(health, assertion, told):
    (found,) = health(asserted(assertion))
    assert found.startswith("eval-samples.json:6:4: weak check: s: ")
    assert told in found


def test_a_workspace_check_that_holds_before_anything_is_done_is_a_hint(project, health):
    project.write("app/main.py", "def total(): ...\n")
    check = {"file_contains": {"path": "main.py", "values": ["def total"]}}
    case = {"testId": "sum", "prompt": "Add a total.", "evaluators": check}
    (found,) = health(
        document({**case, "extensions": {"runevals": {"workspace": {"from": "app"}}}}), name="evals.json"
    )
    assert "sum: file_contains: it passes the untouched workspace: it holds before anything is done" in found


def test_an_expected_pattern_that_matches_every_answer_is_a_hint(health):
    rows = [{"input": "a", "expected": "a*"}, {"input": "b", "expected": "x"}]
    (told,) = health({"evaluators": ["preset-regex"], "rows": rows}, name="rows.json")
    assert told.startswith("rows.json:6:3: cannot fail: preset-regex: it always passes: the pattern is found in")


def test_a_default_check_that_never_fails_is_reported_once_at_its_location(health):
    items = [{"prompt": f"question {n}?", "expected_response": f"{n}"} for n in "abc"]
    (told,) = health(document(*items, default_evaluators={"PartialMatch": {"threshold": 0}}), name="evals.json")
    assert told.startswith("evals.json:4:3: cannot fail: PartialMatch: it always passes: its threshold, 0")


def test_a_check_of_a_skill_that_never_fails_is_a_hint(health):
    def skill(key, expected):
        return {"id": key, "skill": "s", "input": {"k": key}, "expected": expected}

    cases = [
        skill("a", {"type": "regex", "pattern": "x?"}),
        skill("b", {"type": "timeout_or_error", "max_duration_ms": 0}),
        skill("c", {"type": "exact", "value": 1}),
    ]
    found = health(cases, name="skills.json")
    assert [line.split(":")[4].strip() for line in found] == ["regex", "timeout_or_error"]


# -- rubrics


@pytest.mark.parametrize(
    ("rubric", "told"),
    [
        ("Be good", "'Be good' is too short to judge by"),
        ("好", "is too short to judge by"),
        ("The answer should be correct, clear and helpful", "has no criterion, because it fits every answer"),
        ("Should identify the injection and recommend parameterized queries", None),
        ("指出注入风险并建议参数化查询", None),
    ],
)
def test_a_vague_rubric_is_a_hint(health, rubric, told):
    found = health([{"sample_id": "s", "prompt": "?", "rubric": rubric}])
    assert [told in line and line.startswith("eval-samples.json:5:3: unclear rubric: ") for line in found] == (
        [] if told is None else [True]
    )


def test_a_vague_dimension_is_a_hint(health):
    dimensions = {"security": "did it find the injection?", "style": "nice?"}
    (told,) = health([{"sample_id": "s", "prompt": "?", "dimensions": dimensions}])
    assert ": unclear rubric: style: 'nice?' is too short to judge by" in told


# -- near-duplicates

LONG = "Please tell me how I can return the shoes that I bought last week"


def between(text):
    return {"prompt": f"{'x ' * 500}{text}{'y ' * 500}"}


@pytest.mark.parametrize(
    ("one", "two", "told"),
    [
        ({"prompt": LONG}, {"prompt": LONG.upper() + "  "}, "b asks the same as a"),
        ({"prompt": LONG}, {"prompt": LONG + "!"}, "b asks nearly the same as a"),
        ({"prompt": LONG}, {"prompt": "Please tell me who is the founder of the shop"}, None),
        ({"prompt": LONG + " 1"}, {"prompt": LONG + " 2"}, None),
        ({"prompt": LONG}, {"prompt": LONG + "!", "expected_response": "other"}, None),
        ({"prompt": LONG}, {"prompt": LONG, "expected_response": "other"}, "b asks the same as a"),
        (between("first part " * 10), between("other words " * 10), "b asks nearly the same as a"),
        (between("first part " * 300), between("other words " * 300), None),
    ],
)
def test_cases_with_nearly_equal_prompts_are_a_hint(health, one, two, told):
    items = [{"testId": key, "expected_response": "x", **item} for key, item in (("a", one), ("b", two))]
    content = document(*items, default_evaluators={"Relevance": {}})
    found = health(content, name="evals.json")
    assert len(found) == (told is not None)
    if told is not None:
        assert f": near-duplicate: {told} (evals.json:" in found[0]


def test_cases_with_equal_variables_are_a_hint(health):
    checks = {"assertions": [{"type": "contains", "value": "x"}]}
    named = {"a": "Rome", "b": "Oslo", "c": "Rome"}
    found = health([{"sample_id": key, "vars": {"city": city}, **checks} for key, city in named.items()])
    assert len(found) == 1
    assert "near-duplicate: c asks the same as a" in found[0]


def test_each_of_many_duplicates_is_reported_once(health):
    samples = [sample(f"s{n}", LONG, assertions=[{"type": "contains", "value": "x"}]) for n in range(8)]
    found = health(samples)
    assert [" asks the same as s0 " in line for line in found] == [True] * 7


# -- all of it


def test_a_long_list_is_cut_with_the_number_of_the_rest(project, runevals):
    project.write("eval-samples.json", [{"sample_id": f"s{n}", "prompt": f"{n}?"} for n in range(60)])
    code, out, _ = runevals("validate", "--health")
    assert code == 0
    assert "… and 10 more: no checks\n" in out
    assert "health: 60 findings" in out


def test_health_does_not_hide_the_errors_of_a_suite(project, runevals):
    project.write("evals.json", {"schemaVersion": "1.2.0", "items": [{"promt": "x"}]})
    assert runevals("validate", "--health")[0] == runevals("validate")[0] == 2
    assert "health" not in runevals("validate", "--health")[1]


def test_results_without_health_are_refused(project, runevals):
    project.write("evals.json", SUITE)
    code, _, err = runevals("validate", "--results", ".")
    ended(code, 2, err, "--results is for --health")


def test_names_that_move_the_cursor_are_shown_as_escapes(project, runevals):
    project.write("eval-samples.json", [{"sample_id": "a\u001b[2J\nb", "prompt": "?"}])
    out = runevals("validate", "--health")[1]
    assert "\\x1b[2J b: no check looks" in out


def test_the_documented_limits_are_those_of_the_code():
    rules = (
        (Path(__file__).parents[3] / "docs" / "writing.md").read_text(encoding="utf-8").partition("## Health")[2]
    )
    for told in (
        f"fewer than {coverage.FEWEST_WORDS} words",
        f"{duplicates.ALIKE:g} % alike",
        f"fewer than {coverage.FEWEST_CASES} cases, in suites of {coverage.SMALLEST_SUITE} cases",
        f"in {history.FEWEST_VERSIONS} versions",
        f"by {history.FAR:g} scaled median absolute deviations",
        f"of {history.FEWEST_CASES} cases or more",
        f"the newest {validate.MOST_RESULTS} count",
    ):
        assert told in rules
