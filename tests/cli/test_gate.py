"""`runevals gate`: results of other tools, compared as a run of ours is."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tests.against_base import on_main, pull_request_event
from tests.ending import ended

CASES = 40


def junit(failing=(), runs=1):
    """The report of so many tests, each run so many times; the first few fail."""
    tests = "".join(
        f'<testcase classname="test_kb" name="test_{number}" time="0.1">'
        + ("<failure message='no refund'/>" if number in failing else "")
        + "</testcase>"
        for number in range(CASES)
        for _ in range(runs)
    )
    return f'<testsuites><testsuite name="kb">{tests}</testsuite></testsuites>'


@pytest.fixture
def results(project):
    project.write("main.xml", junit(runs=3))
    project.write("same.xml", junit(runs=3))
    project.write("worse.xml", junit(range(12), runs=3))
    project.write("one.xml", junit([7]))
    return project


def test_without_a_base_the_result_is_stored_for_the_next(results, runevals):
    code, out, _ = runevals("gate", "main.xml", "-o", "base.json", "-o", "report.html", "-o", "junit.xml")
    ended(code, 0, out, f"{CASES} of {CASES} cases pass – nothing to compare with yet")
    assert json.loads((results.path / "base.json").read_text())["run"]["target"]["type"] == "junit"
    page = (results.path / "report.html").read_text()
    assert "test_kb.test_3" in page
    assert "--filter" not in page, "we cannot run its cases"


@pytest.mark.parametrize("base", ["main.xml", "base.json", "folder"])
def test_results_are_compared_with_a_base_of_any_form(results, runevals, base):
    runevals("gate", "main.xml", "-o", "base.json")
    results.write("folder/main.xml", junit(runs=3))
    code, out, _ = runevals("gate", "worse.xml", "--baseline", base)
    ended(code, 1, out, "test: no refund  12 ×  test_kb.test_0, test_kb.test_1 and 10 more", "deterministic")
    code, out, _ = runevals("gate", "same.xml", "--baseline", base)
    ended(code, 0, out, f"No regression shown in {CASES} cases")


@pytest.mark.parametrize("base", ["main.xml", "folder"])
def test_parameters_are_attempts_in_the_base_s_results_too(project, runevals, base):
    tests = "".join(f'<testcase classname="k" name="t[{number}]"/>' for number in range(16))
    for name in ("main.xml", "folder/main.xml", "head.xml"):
        project.write(name, f"<testsuite>{tests}</testsuite>")
    code, out, _ = runevals("gate", "head.xml", "--baseline", base, "--parameters-are-attempts")
    ended(code, 0, out, "No regression shown in 1 case")


def test_one_lost_test_of_junit_blocks_unless_the_results_are_said_to_be_stochastic(results, runevals):
    """No test of the files has two outcomes: nothing in them is random."""
    code, out, _ = runevals("gate", "one.xml", "--baseline", "main.xml")
    ended(
        code,
        1,
        out,
        f"1 of {CASES} cases regressed",
        "taken as deterministic, unless `--stochastic` is set: every difference is real",
    )
    told = "⚠ No loss proven – test_kb.test_7 failed that passed on the base"
    code, out, _ = runevals("gate", "one.xml", "--baseline", "main.xml", "--stochastic")
    ended(code, 0, out, told, "would be lost without any change")


def test_results_with_two_outcomes_of_a_test_are_not_deterministic_unless_they_are_said_to_be(results, runevals):
    failed_too = '<testcase classname="test_kb" name="test_8"><failure/></testcase></testsuite>'
    results.write("flaky.xml", junit([7]).replace("</testsuite>", failed_too))
    code, out, err = runevals("gate", "flaky.xml", "--baseline", "main.xml")
    ended(code, 0, out, "⚠ No loss proven – test_kb.test_7 failed that passed on the base")
    assert "--deterministic makes every newly failing case a loss" in err
    code, out, _ = runevals("gate", "flaky.xml", "--baseline", "main.xml", "--deterministic")
    ended(code, 1, out, "2 cases lost: test_kb.test_7, test_kb.test_8", "every difference is real")


@pytest.mark.parametrize("number", [7, 8])
def test_a_repetition_that_was_skipped_is_no_second_outcome(results, runevals, number):
    skipped = f'<testcase classname="test_kb" name="test_{number}"><skipped/></testcase></testsuite>'
    results.write("skipped.xml", junit([7]).replace("</testsuite>", skipped))
    code, out, _ = runevals("gate", "skipped.xml", "--baseline", "main.xml")
    ended(code, 1, out, f"1 of {CASES} cases regressed: test_kb.test_7", "every difference is real")


def deepeval(score):
    metric = {"name": "Relevancy", "threshold": 0.5, "success": True, "score": score, "evaluationModel": "gpt-5"}
    cases = [{"name": f"k{n}", "input": "?", "success": True, "metricsData": [metric]} for n in range(12)]
    return json.dumps({"testCases": cases, "metricsScores": []})


def test_a_pass_without_a_score_is_not_compared_with_the_size_of_one(project, runevals):
    scores = {"none": None, "ten": 7, "high": 0.9, "low": 0.55}
    for name, score in scores.items():
        project.write(f"{name}.json", deepeval(score))
    for head, base in (("high", "none"), ("high", "ten"), ("none", "low"), ("ten", "low")):
        code, out, _ = runevals("gate", f"{head}.json", "--baseline", f"{base}.json")
        ended(code, 0, out, "No regression shown in 12 cases", without=["Improved"])
    code, out, _ = runevals("gate", "low.json", "--baseline", "high.json")
    ended(code, 1, out, "The score of 12 cases fell by 35.0 points")


def test_a_file_that_is_named_twice_counts_once(results, runevals):
    copy = results.path / "one.xml"
    code, out, _ = runevals("gate", "one.xml", copy, "--baseline", "main.xml", "-o", "out.json")
    ended(code, 1, out, f"1 of {CASES} cases regressed")
    assert results.document()["run"]["repeat"] == 1
    assert f"{copy} is named twice, and counts once" in results.document()["run"]["notices"]


def test_a_case_that_is_skipped_now_is_named(results, runevals):
    skipped = junit(runs=3).replace('"test_7" time="0.1">', '"test_7" time="0.1"><skipped/>')
    results.write("skipped.xml", skipped)
    _, out, _ = runevals("gate", "skipped.xml", "--baseline", "main.xml")
    assert out.startswith("⚠ No regression shown in 39 cases – 1 case skipped: test_kb.test_7\n")
    assert "test_kb.test_7: it was measured on the base, and is skipped now" in out
    assert out.count("skipped now") == 1


def test_a_case_that_errors_now_is_not_called_skipped(results, runevals):
    broken = junit(runs=3).replace('"test_7" time="0.1">', '"test_7" time="0.1"><error message="no fixture"/>')
    results.write("broken.xml", broken)
    code, out, _ = runevals("gate", "broken.xml", "--baseline", "main.xml")
    ended(code, 3, out, "no fixture", without=["skipped now"])


@pytest.mark.parametrize(
    ("end", "expected", "words"),
    [
        pytest.param('status="disabled">', 0, "is skipped now", id="disabled"),
        pytest.param('status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>', 0, "skipped now", id="skipped"),
        pytest.param('status="notrun"><skipped message="Unable to find executable"/>', 3, "Unable", id="absent"),
    ],
)
def test_a_test_that_ctest_did_not_run_has_not_passed(project, runevals, end, expected, words):
    tests = [f'<testcase name="t{n}" classname="t{n}" {{}}</testcase>' for n in range(8)]
    suite = "<testsuite name='(empty)'>{}</testsuite>"
    run = [test.format('status="run">') for test in tests]
    project.write("main.xml", suite.format("".join(run)))
    project.write("change.xml", suite.format("".join([*run[1:], tests[0].format(end)])))
    code, out, _ = runevals("gate", "change.xml", "--baseline", "main.xml", "--deterministic")
    ended(code, expected, out, words, without=["8 of 8"])


@pytest.mark.parametrize(
    ("added", "expected", "headline"),
    [
        pytest.param('<testcase classname="" name="TestMain"><failure/></testcase>', 3, "TestMain of kb", id="go"),
        pytest.param(
            '<testcase classname="K" name="executionError"><failure/></testcase>', 3, "Incomplete", id="gradle"
        ),
        pytest.param('<testcase classname="K" name=""><error/></testcase>', 3, "xml:1: K of", id="surefire"),
        pytest.param('<testcase classname="K" name=""><skipped/></testcase>', 0, "No regression", id="disabled"),
        pytest.param(
            "<system-err>Error - The active test run was aborted. Reason: x</system-err>", 3, "Reason", id=".NET"
        ),
    ],
)
def test_a_class_a_package_or_a_run_that_failed_as_a_whole_is_incomplete(
    results, runevals, added, expected, headline
):
    results.write("change.xml", junit().replace("</testsuite>", f"{added}</testsuite>"))
    code, out, _ = runevals("gate", "change.xml", "--baseline", "main.xml", "--deterministic")
    ended(code, expected, out, headline)


def inspect_log(judge, first=None):
    """A log of 20 samples that a scorer finds right, with another scorer's score of each."""
    scores = [judge if first is None else first, *[judge] * 19]
    samples = [
        {"id": n, "input": f"q{n}", "target": "a", "scores": {"right": {"value": "C"}, "judge": {"value": score}}}
        for n, score in enumerate(scores)
    ]
    return json.dumps({"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": samples})


FEW = "Not known – only 0 of the base's 20 cases can be compared"


@pytest.mark.parametrize(
    ("log", "expected", "headline"),
    [
        pytest.param(inspect_log(0), 1, "20 of 20 cases regressed", id="all scores fell"),
        pytest.param(inspect_log(0, first="unsure"), 1, "19 of 19 cases regressed", id="one is a word"),
        pytest.param(
            inspect_log(0, first=-1),
            3,
            "Not known – only 0 of the base's 20 cases can be compared",
            id="one is of another scale",
        ),
        pytest.param(
            inspect_log(0, first=10**400),
            3,
            "Not known – only 0 of the base's 20 cases can be compared",
            id="one is huge",
        ),
        pytest.param(inspect_log(None), 3, FEW, id="none at all"),
    ],
)
def test_a_scorer_of_inspect_that_the_base_measured_is_not_left_out(project, runevals, log, expected, headline):
    project.write("main.json", inspect_log(1))
    project.write("change.json", log)
    code, out, _ = runevals("gate", "change.json", "--baseline", "main.json")
    ended(code, expected, out, headline)


@pytest.mark.parametrize("first", [None, float("nan"), "NaN"])
@pytest.mark.parametrize("words", [[], ["--deterministic"]])
def test_a_sample_without_the_score_that_the_base_has_is_an_error(project, runevals, first, words):
    log = json.loads(inspect_log(1))
    for sample in log["samples"][:2]:
        sample["scores"]["judge"]["value"] = str(first) if first != first else first  # noqa: PLR0124 - NaN
    project.write("main.json", inspect_log(1))
    project.write("change.json", json.dumps(log))
    code, out, _ = runevals("gate", "change.json", "--baseline", "main.json", *words)
    ended(code, 3, out, "the scorer gave no score")
    assert runevals("gate", "change.json", "--baseline", "change.json", *words)[0] == 0  # none on the base either


def test_a_scorer_that_the_change_removes_is_no_error(project, runevals):
    log = json.loads(inspect_log(1))
    for sample in log["samples"]:
        del sample["scores"]["judge"]
    project.write("main.json", inspect_log(1))
    project.write("change.json", json.dumps(log))
    code, out, _ = runevals("gate", "change.json", "--baseline", "main.json")
    ended(code, 3, out, "Not known – only 0 of the base's 20 cases can be compared", "a score (judge in 20); `run")
    code, out, _ = runevals("accept", "--all", "--reason", "no judge any more")
    ended(code, 0, out, "Written: runevals.accepted.yaml, 20 cases")  # as line one advises
    project.write("runevals.yaml", "on_unknown: pass\n")
    assert runevals("gate", "change.json", "--baseline", "main.json")[0] == 0


def agentv_rows(*verdicts):
    """Ten passing cases, each run with one more grader of each of these verdicts."""
    lines = []
    for verdict in verdicts:
        grader = {"type": "llm-rubric", "score": 1, "weight": 1}
        graders = [{**grader, "name": "fmt", "verdict": "pass"}, {**grader, "name": "safety", "verdict": verdict}]
        row = {"suite": "s", "score": 1, "verdict": "pass", "target": "t", "execution_status": "ok"}
        lines += [json.dumps({**row, "test_id": f"k{n}", "scores": graders}) for n in range(10)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("verdicts", "expected"), [(["skip"] * 3, 3), (["pass", "skip", "skip"], 3), (["skip", "pass", "pass"], 0)]
)
@pytest.mark.parametrize("last", ["pass", "skip"])
def test_cases_that_pass_without_a_check_of_the_base_are_not_comparable(
    project, runevals, verdicts, expected, last
):
    project.write("main.jsonl", agentv_rows("pass", "pass", last))
    project.write("change.jsonl", agentv_rows(*verdicts))
    code, out, _ = runevals("gate", "change.jsonl", "--baseline", "main.jsonl")
    assert code == expected, out
    assert ("only 0 of the base's 10 cases can be compared" in out) is (expected == 3)
    assert runevals("gate", "change.jsonl", "--baseline", "change.jsonl", "--deterministic")[0] == 0


@pytest.mark.parametrize("status", ["cancelled", "error"])
def test_critical_cases_that_an_interrupted_tool_did_not_reach_are_not_removed(project, runevals, status):
    log = json.loads(inspect_log(1))
    for sample in log["samples"]:
        sample["metadata"] = {"category": "redteam"}
    project.write("main.json", json.dumps(log))
    stopped = {**log, "status": status, "samples": log["samples"][:15]}
    project.write("change.json", json.dumps(stopped))
    code, out, _ = runevals("gate", "change.json", "--baseline", "main.json")
    ended(code, 3, out, "Incomplete – Inspect", "15 of 15 cases were measured")


def test_quarantined_cases_and_gates_count_as_in_a_run(results, runevals):
    until = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
    entry = {"key": "test_kb.test_7", "owner": "@ana", "reason": "flaky", "expires": until}
    results.write("runevals.quarantine.json", [entry])
    results.write("runevals.yaml", "version: 1\nquarantine: runevals.quarantine.json\n")
    code, out, _ = runevals("gate", "one.xml", "--baseline", "main.xml", "--deterministic")
    ended(code, 0, out, "quarantined: test_kb.test_7")
    code, out, _ = runevals("gate", "worse.xml", "--min-pass-rate", "0.9")
    ended(code, 1, out, "min_pass_rate")


def test_results_of_another_tool_are_not_comparable(results, runevals):
    results.write("other.jsonl", '{"test_id": "a", "score": 1}\n')
    code, out, _ = runevals("gate", "other.jsonl", "--baseline", "main.xml")
    ended(code, 3, out, "Not known – the target is of another type, rows, than the base's, junit")
    results.write("empty/notes.txt", "none")
    code, _, err = runevals("gate", "main.xml", "--baseline", "empty")
    ended(code, 2, err, "empty holds no results document of a measured run, and of other tools: there are no")


def test_secrets_and_content_stay_out(results, runevals, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "hunter2-hunter2")
    results.write("leak.xml", junit([1]).replace("no refund", "no refund hunter2-hunter2"))
    code, _, err = runevals("gate", "leak.xml", "-o", "leak.json")
    ended(code, 0, err)
    assert "hunter2" not in (results.path / "leak.json").read_text()
    runevals("gate", "one.xml", "--redact", "none", "-o", "bare.json")
    assert "no refund" not in (results.path / "bare.json").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["absent.xml"], "absent.xml: there is no such file", id="absent"),
        pytest.param(["html.xml"], "html.xml:1: the root element is <html>", id="unknown dialect"),
        pytest.param(["main.xml", "-o", "main.xml"], "--output main.xml is one of the results", id="overwritten"),
        pytest.param(
            ["none.xml"], "none.xml has no test: did a filter select no test (`pytest -k`", id="none run"
        ),
        pytest.param(["main.xml", "--filter", "none"], "no case of the results is left", id="filtered"),
        pytest.param(["main.xml", "--baseline", "html.xml"], "html.xml:1: the root element is <html>", id="base"),
    ],
)
def test_what_cannot_be_read_ends_before_anything_is_written(results, runevals, words, message):
    results.write("html.xml", "<html/>")
    results.write("none.xml", '<testsuites><testsuite name="pytest" tests="0"/></testsuites>')
    code, _, err = runevals("gate", *words)
    ended(code, 2, err, message)
    assert (results.path / "main.xml").read_text() == junit(runs=3)


def test_a_change_cannot_bring_its_own_results(repository, runevals, monkeypatch):
    repository.git("branch", "-f", "base")
    repository.write("out/junit.xml", junit())
    repository.git("add", "-A")
    repository.git("commit", "-qm", "bring results")
    pull_request_event(repository.path, monkeypatch, repository.git("rev-parse", "base"))
    for named in ("out/junit.xml", "out"):
        code, _, err = runevals("gate", named)
        ended(code, 2, err, "a file of the repository: a change could bring its own results")
    repository.write("fresh.xml", junit())
    code, out, err = runevals("gate", "fresh.xml")
    ended(code, 0, out + err, "nothing to compare with yet")


PYTEST = """<testsuite name="pytest" tests="1"><testcase classname="test_shop" name="test_price">
<failure message="AssertionError: assert 5 == 6">self = &lt;test_shop.TestShop object at 0x7f&gt;

    def test_price(self):
&gt;       assert 5 == 6
E       AssertionError: assert 5 == 6</failure></testcase></testsuite>"""


def test_the_reason_of_a_test_of_pytest_begins_with_what_was_raised(project, runevals):
    project.write("pytest.xml", PYTEST)
    _, out, _ = runevals("gate", "pytest.xml")
    assert "      test: AssertionError: assert 5 == 6 self =" in out


@pytest.mark.parametrize("lines", [20, 400])
def test_a_long_text_of_a_failure_keeps_its_end_in_every_report(project, runevals, lines):
    """The text of pytest shows the whole test, and ends with the cause and its place."""
    shown = "    order = shop.order('a long line of the test')\n" * lines
    text = PYTEST.replace("&gt;       assert 5", f"{shown}&gt;       assert 5")
    project.write("pytest.xml", text.replace("</failure>", "\n\ntests/test_shop.py:88: AssertionError</failure>"))
    _, out, _ = runevals("gate", "pytest.xml", "-o", "report.md", "-o", "report.html")
    reports = [out, *((project.path / name).read_text() for name in ("report.md", "report.html"))]
    for report in reports:
        plain = " ".join(html.unescape(report).split())
        assert "test: AssertionError: assert 5 == 6 self =" in plain
        assert "tests/test_shop.py:88: AssertionError" in plain


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([], 3, "⚠ Not known – there is no base to compare with: name its results with `--baseline FILE`"),
        (["--baseline", "none"], 0, "✓ 40 of 40 cases pass – nothing to compare with yet"),
        (["--baseline", "same.xml"], 0, "✓ No regression"),
    ],
)
def test_a_base_whose_results_nothing_names_is_no_pass(repository, runevals, words, code, told):
    for name in ("main.xml", "same.xml"):
        repository.write(name, junit(runs=3))
    got, out, err = runevals("gate", "main.xml", "--base", "main", *words)
    ended(got, code, out + err, told)


@pytest.mark.parametrize(
    ("base", "expected", "told"),
    [
        pytest.param("base", 1, "1 of 2 cases regressed: a.t of s (support)", id="of both"),
        pytest.param("base/support/j.xml", 1, "1 of 1 case regressed: a.t of s (support)", id="of its project"),
        pytest.param("base/search/j.xml", 0, "No regression shown in 1 case", id="of the other project"),
        pytest.param(
            "base/j.xml", 2, "a.t: is a test of several projects (search, support)", id="of neither folder"
        ),
    ],
)
def test_a_base_of_one_of_several_projects_is_compared_with_that_project(project, runevals, base, expected, told):
    """Results that were compared with the first would let what another lost pass."""
    test = '<testsuite name="s"><testcase classname="a" name="t">{}</testcase></testsuite>'
    for name in ("base/search/j.xml", "base/support/j.xml", base, "search/j.xml"):
        if name.endswith(".xml"):
            project.write(name, test.format(""))
    if base == "base":
        project.write("base/search/j.xml", test.format(""))
    project.write("support/j.xml", test.format('<failure message="no"/>'))
    code, out, err = runevals("gate", "search/j.xml", "support/j.xml", "--baseline", base)
    ended(code, expected, out + err, told)


SUITE_OF_PYTEST = """
import os, pytest

@pytest.fixture
def database():
    yield
    if os.environ.get("LOST"):
        raise ConnectionError("the database is gone")

def test_refund(database):
    assert not os.environ.get("LOST")

@pytest.mark.parametrize("n", range(20))
def test_other(n):
    pass
"""


def test_a_test_of_pytest_that_fails_and_cannot_be_torn_down_is_one_that_fails(project, runevals):
    """pytest writes two test cases of one run, which are no two outcomes, and no error beside the failure."""
    project.write("test_shop.py", SUITE_OF_PYTEST)
    for name, lost in (("base.xml", ""), ("now.xml", "1")):
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={name}"]
        subprocess.run(words, cwd=project.path, env={**os.environ, "LOST": lost}, capture_output=True, check=False)
    assert (project.path / "now.xml").read_text(encoding="utf-8").count("test_refund") >= 2
    code, out, err = runevals("gate", "now.xml", "--baseline", "base.xml")
    ended(code, 1, out + err, "1 of 21 cases regressed: test_shop.test_refund", "taken as deterministic")
    both = '<testsuite name="s"><testcase name="t">{}</testcase></testsuite>'
    project.write("old.xml", both.format(""))
    project.write("new.xml", both.format('<failure message="no"/><error message="failed on teardown"/>'))
    code, out, err = runevals("gate", "new.xml", "--baseline", "old.xml")
    ended(code, 1, out + err, "1 of 1 case regressed: t")


def of_classes(**classes):
    """The report of a suite with so many tests in each class."""
    return "".join(
        f'<testcase classname="{name}" name="t{n}"/>' for name, most in classes.items() for n in range(most)
    )


@pytest.mark.parametrize(
    ("base", "now", "told"),
    [
        pytest.param(
            {"a.xml": {"a": 30}, "b.xml": {"b": 5}},
            {"a.xml": {"a": 30}},
            (
                "Not known – there is no result of base/b.xml, of which the base has some: is a results file "
                "missing, or did it not run? Only 0 of the base's 5 cases in b can be compared"
            ),
            id="a file",
        ),
        pytest.param(
            {"a.xml": {"a": 30, "b": 30}},
            {"a.xml": {"a": 30}},
            "Not known – there is no result of b, of which the base has some: is a results file missing",
            id="a class",
        ),
        pytest.param(
            {"a.xml": {"a": 30}, "b.xml": {"b": 5}},
            {"a.xml": {"a": 30}},
            "b.t4 of b: the case was removed, as all of base/b.xml: is a results file missing?",
            id="each test of a file",
        ),
        pytest.param(
            {"a.xml": {"a": 30, "b": 2}},
            {"a.xml": {"a": 30}},
            "b.t0, b.t1 of a: the case was removed, as all of b: is a results file missing?",
            id="few tests of a class",
        ),
        pytest.param(
            {"a.xml": {"a": 30, "b": 30}},
            {"a.xml": {"a": 30, "b": 1}},
            "Not known – only 31 of the base's 60 cases can be compared",
            id="not all of a class",
        ),
    ],
)
def test_what_has_no_result_at_all_now_is_asked_for_before_it_is_called_removed(
    project, runevals, base, now, told
):
    """A shard that was not uploaded looks like tests that were deleted, which `accept --all` would take."""
    for side, files in {"base": base, "now": now}.items():
        for name, classes in files.items():
            suite = name.removesuffix(".xml")
            project.write(f"{side}/{name}", f'<testsuite name="{suite}">{of_classes(**classes)}</testsuite>')
    _, out, _ = runevals("gate", "now", "--baseline", "base")
    assert told in " ".join(out.split()), out


@pytest.mark.parametrize(
    ("path", "expected", "told"),
    [
        ("new/support/j.xml", 1, "1 of 1 case regressed: a.t"),
        ("new/search/j.xml", 3, "1 case removed"),
        ("new/j.xml", 2, "a.t: is a test of several projects (search, support), and its results do not say"),
    ],
)
def test_results_of_one_project_are_compared_with_it_if_the_base_has_several(
    project, runevals, path, expected, told
):
    """Results that were compared with another's, whose test failed already, would let what it lost pass."""
    test = '<testsuite name="s"><testcase classname="a" name="t">{}</testcase></testsuite>'
    project.write("base/search/j.xml", test.format('<failure message="no"/>'))
    project.write("base/support/j.xml", test.format(""))
    project.write(path, test.format('<failure message="no"/>'))
    code, out, err = runevals("gate", "new", "--baseline", "base")
    ended(code, expected, out + err, told)


def test_a_folder_that_is_both_sides_and_a_report_that_is_no_shard_name_a_way(project, runevals):
    for name in ("new/j.xml", "old/j.xml"):
        project.write(name, '<testsuite name="s"><testcase classname="shop" name="refund"/></testsuite>')
    code, _, err = runevals("gate", "new", "--baseline", "new")
    ended(code, 2, err, "1 of them, of the baseline, do not count")
    runevals("gate", "new", "--baseline", "old", "-o", "both.json")
    code, _, err = runevals("merge", "both.json")
    ended(code, 2, err, "is not a shard", "`runevals gate FILES` reads all files of another tool")
    code, _, err = runevals("accept", "refund", "--results", "both.json", "--reason", "wanted")
    ended(code, 2, err, "there is no case refund", "did you mean 'shop.refund'?")


def test_a_test_that_is_renamed_and_fails_is_in_line_one(project, runevals):
    """It may be a loss: nobody looks for it in the fold of new failures."""
    project.write("base.xml", junit(runs=1))
    project.write("now.xml", junit(failing=(7,), runs=1).replace('test_7"', 'renamed_7"'))
    out = runevals("gate", "now.xml", "--baseline", "base.xml")[1]
    assert "1 case removed: test_kb.test_7 – 1 case added and failing: test_kb.renamed_7" in out.splitlines()[0]
    project.write("dead.xml", junit(failing=(7,), runs=1))
    runevals("gate", "dead.xml", "--baseline", "base.xml")
    code, _, err = runevals("accept", "nothing", "--reason", "wanted")
    ended(code, 2, err, "there is no case nothing", "lost are test_kb.test_7")


def test_a_service_that_did_not_run_is_no_pass(project, runevals):
    """Its results are missing; those of the others have more than 80 % of the cases."""
    tests = {"billing": 20, "search": 6, "support": 5}
    for side, services in (("main", tests), ("reports", {**tests, "support": 0})):
        for name, count in services.items():
            cases = "".join(f'<testcase classname="{name}" name="t{n}"/>' for n in range(count))
            if count:
                project.write(f"{side}/{name}/junit.xml", f'<testsuite name="pytest">{cases}</testsuite>')
    code, out, _ = runevals("gate", "reports", "--baseline", "main")
    ended(code, 3, out, "there is no result of support/junit.xml", "5 cases removed")
    runevals("accept", "--all", "--reason", "the service is gone")
    accepted = (project.path / "runevals.accepted.yaml").read_text(encoding="utf-8")
    assert accepted.count("removed") == 5


def test_what_a_run_that_ended_early_did_not_reach_is_accepted_only_after_what_it_lost(project, runevals):
    """`accept --all` of a report that is cut would take the tests that are missing in it, too."""
    project.write("base.xml", junit())
    cut = junit(failing=(1,)).replace('"test_kb" name="test_1', '"test_kb" name="lost').split("<testcase")[:3]
    project.write("now.xml", "<testcase".join(cut).replace("lost", "test_1") + "</testsuite></testsuites>")
    for keys, advised in (("test_1",), "accept test_kb.test_1 --reason"), (range(40), "accept --all --reason"):
        code, out, _ = runevals("gate", "now.xml", "--baseline", "base.xml")
        ended(code, 1, out, f"wanted?  runevals {advised}")
        _, out, _ = runevals("accept", "--all", "--reason", "it is wanted")
        assert f"{len(keys) - 1 or 1} case" in out, out
    assert "39 cases will be accepted" in runevals("gate", "now.xml", "--baseline", "base.xml")[1]


@pytest.mark.parametrize(
    ("lost", "failing", "code", "told"),
    [
        pytest.param(100, 0, 1, "✗ 100 cases lost: c0", id="in all, where another gains"),
        pytest.param(20, 0, 1, "✗ 20 cases lost: c0", id="in some, where another gains"),
        pytest.param(
            3, 3, 3, "⚠ Not known – c0, c1, c2 may be lost: with 3 runs a side", id="beside a known failure"
        ),
        pytest.param(0, 3, 0, "✓ No regression shown in 100 cases", id="in none"),
    ],
)
def test_no_gain_and_no_known_failure_hides_a_check_that_is_lost(project, runevals, lost, failing, code, told):
    for name, is_base in (("base.csv", True), ("now.csv", False)):
        rows = ["id,run,a,b"]
        for n in range(100):
            b = int(n >= failing and (n >= lost or not is_base))
            rows += [f"c{n},{run},{int(is_base or n >= lost)},{b}" for run in (1, 2, 3)]
        project.write(name, "\n".join(rows) + "\n")
    words = ("--columns", "score=a", "--columns", "score=b", "--baseline", "base.csv")
    ended(*runevals("gate", "now.csv", *words)[:1], code, runevals("gate", "now.csv", *words)[1], told)


@pytest.mark.parametrize("form", ["xml", "json", "promptfoo"])
def test_what_a_base_that_is_cut_lacks_was_not_measured_there(project, runevals, form):
    """It may have passed: a case that fails now is not new."""
    tests = [f'<testcase classname="kb" name="t{n}"/>' for n in range(4)]
    suite = '<testsuite name="kb" tests="4">{}</testsuite>'
    sides = {"base.xml": suite.format("".join(tests[:2])), "same.xml": suite.format("".join(tests))}
    sides["now.xml"] = sides["same.xml"].replace('name="t3"/>', 'name="t3"><failure message="no"/></testcase>')
    if form == "promptfoo":
        sides = {
            f"{name[:-4]}.json": promptfoo(n, failing)
            for name, n, failing in (("base.xml", 2, 9), ("same.xml", 4, 9), ("now.xml", 4, 3))
        }
    for name, content in sides.items():
        project.write(name, content)
    suffix = "json" if form == "promptfoo" else "xml"
    base = f"base.{suffix}"
    if form == "json":
        runevals("gate", base, "-o", "kept.json")
        base = "kept.json"
    code, out, err = runevals("gate", f"now.{suffix}", "--baseline", base)
    ended(
        code,
        3,
        out + err,
        "t3 may be lost: not measured on the base, whose run is incomplete",
        "! the base's run is incomplete",
    )
    code, out, err = runevals("gate", f"same.{suffix}", "--baseline", base)
    ended(code, 0, out + err, "No regression shown in 2 cases")


def promptfoo(number, failing):
    """Results that count four attempts, with so many of them."""
    rows = [
        {
            "testCase": {"description": f"t{n}", "vars": {}},
            "vars": {},
            "success": n != failing,
            "score": int(n != failing),
            "response": {"output": "x"},
            "gradingResult": {"pass": n != failing, "componentResults": []},
            "provider": {"id": "p"},
            "prompt": {"raw": "q", "label": "q"},
        }
        for n in range(number)
    ]
    failures = int(failing < 4)
    stats = {"successes": 4 - failures, "failures": failures, "errors": 0}
    return {"evalId": "e", "config": {}, "results": {"version": 3, "results": rows, "stats": stats}}


def test_a_test_that_two_projects_lost_can_be_accepted_of_one(repository, runevals):
    test = '<testsuite name="s"><testcase classname="a" name="t">{}</testcase></testsuite>'
    for name in ("search", "support"):
        repository.write(f"base/{name}/j.xml", test.format(""))
        repository.write(f"{name}/j.xml", test.format('<failure message="no"/>'))
    repository.git("add", "-A")
    repository.git("commit", "-qm", "change")
    runevals("gate", "search/j.xml", "support/j.xml", "--baseline", "base")
    code, out, err = runevals("accept", "s (support): a.t", "--reason", "wanted")
    ended(code, 0, out + err, "1 case", "Not accepted, and still blocking: a.t")
    code, out, err = runevals("accept", "a.t", "--reason", "wanted")
    ended(code, 0, out + err, "a.t is of 2 suites, and accepted in all", "2 cases")
    (repository.path / "runevals.accepted.yaml").unlink()
    assert "runevals accept 's (search): a.t'" in out + err
    code, out, err = runevals("accept", "s (search): a.t", "--reason", "wanted")
    ended(code, 0, out + err, "1 case")


@pytest.mark.parametrize(("f1", "code"), [(0.9, 0), (0.6, 1)])
@pytest.mark.parametrize("more", ["score=easy", "score=hard"])
def test_a_score_that_one_side_alone_has_is_not_compared(project, runevals, more, f1, code):
    """A mean with it would rise over a loss, or fall without one."""
    for name, value in (("base", 0.9), ("head", f1)):
        rows = [{"id": f"k{n}", "f1": value, "easy": 1, "hard": 0.55} for n in range(20)]
        project.write(f"{name}.jsonl", "\n".join(map(json.dumps, rows)))
    runevals("gate", "base.jsonl", "--columns", "score=f1", "-o", "base.json")
    both = ("--columns", "score=f1", "--columns", more)
    ended, out, err = runevals("gate", "head.jsonl", *both, "--baseline", "base.json")
    assert ended == code, out + err
    assert ("The score of 20 cases fell by 30.0 points" in out) == bool(code)
    assert ("runevals accept --all" in out) == bool(code), out


def test_rows_with_a_new_id_and_the_same_question_are_renamed(project, runevals):
    for name, of, fails in (("base", "a", ()), ("head", "b", (1,))):
        ids = [f"{of}{n}" if n < 3 else f"k{n}" for n in range(12)]
        asked = [{"id": id_, "prompt": f"q{n}", "expected": "x"} for n, id_ in enumerate(ids)]
        rows = [{**row, "passed": n not in fails} for n, row in enumerate(asked)]
        project.write(f"{name}.jsonl", "\n".join(map(json.dumps, rows)))
    code, out, _ = runevals("gate", "head.jsonl", "--baseline", "base.jsonl", "--deterministic")
    ended(code, 1, out, "1 of 12 cases regressed: b1", "Renamed: a0 → b0", without=["removed"])


def test_output_items_of_openai_evals_are_the_cases_of_their_data(project, runevals):
    """Each run gives them ids of its own."""
    for name, fails in (("base", ()), ("head", (1,))):
        rows = [
            {"id": f"outputitem_{name}{n}", "datasource_item_id": n, "status": "fail" if n in fails else "pass"}
            for n in range(12)
        ]
        project.write(f"{name}.jsonl", "\n".join(map(json.dumps, rows)))
    code, out, _ = runevals("gate", "head.jsonl", "--baseline", "base.jsonl", "--deterministic")
    ended(code, 1, out, "1 of 12 cases regressed: 1")


def test_where_losses_are_proven_nothing_is_advised_that_makes_more_of_them(project, runevals):
    for name, ends in (("base", "ppp"), ("head", "fff")):
        cases = {f"k{n}": ends if n < 3 else "ppp" for n in range(12)}
        cases["flaky"] = {"base": "ppf", "head": "pff"}[name]
        rows = [{"id": key, "passed": end == "p"} for key, runs in cases.items() for end in runs]
        project.write(f"{name}.jsonl", "\n".join(map(json.dumps, rows)))
    code, out, err = runevals("gate", "head.jsonl", "--baseline", "base.jsonl")
    ended(code, 1, out + err, "3 of 13 cases regressed: k0, k1, k2", without=["--deterministic"])


@pytest.mark.parametrize("baseline", ["out/main.xml", "out/main"])
def test_a_baseline_in_the_folder_of_the_results_is_none_of_them(results, runevals, baseline):
    """As one, it would be a second run of each case, which passed."""
    results.write("out/head.xml", junit([7]))
    results.write(baseline if baseline.endswith(".xml") else f"{baseline}/main.xml", junit([]))
    code, out, err = runevals("gate", "out", "--baseline", baseline)
    ended(code, 1, out + err, f"1 of {CASES} cases regressed: test_kb.test_7")


@pytest.mark.parametrize(
    ("words", "name", "writes"),
    [
        (["gate", "a.jsonl"], "no.jsonl", "your tool writes it"),
        (["gate", "a.jsonl"], "on/no.json", "`runevals gate RESULTS --output on/no.json` or your tool writes it"),
        (
            ["run", "--target", "recorded:a.jsonl"],
            "no.json.gz",
            "`runevals run --output no.json.gz` or your tool writes it",
        ),
        (["run", "--target", "recorded:a.jsonl"], "no.xml", "your tool writes it"),
    ],
)
def test_a_base_that_is_not_there_is_told_with_what_writes_one(project, runevals, words, name, writes):
    project.write("evals.json", '{"items": [{"prompt": "q", "expected_response": "a"}]}')
    project.write("a.jsonl", '{"id": "a", "score": 1, "input": "q", "output": "a"}\n')
    code, _, err = runevals(*words, "--baseline", name)
    ended(code, 2, err, f"/{name}: {writes} on the base")


def test_a_baseline_of_the_settings_that_the_base_lacks_can_be_named(repository, runevals):
    on_main(repository, "runevals.yaml", "baseline: base.xml\n")
    repository.write(".gitignore", "*.xml\n")
    for name in ("base.xml", "now.xml"):
        repository.write(name, junit())
    code, _, err = runevals("gate", "now.xml", "--base", "main")
    ended(code, 2, err, "has no such file: commit it there, or name the file by --baseline")
    code, out, err = runevals("gate", "now.xml", "--base", "main", "--baseline", "base.xml")
    ended(code, 0, out + err, "No regression shown in 40 cases")


def test_sides_with_other_names_of_columns_are_read_each_by_its_own(project, runevals):
    project.write("main.csv", "Testfall,Bestanden\n" + "".join(f"k{n},true\n" for n in range(20)))
    project.write("r.csv", "Fall,ok\n" + "".join(f"k{n},{'false' if n < 9 else 'true'}\n" for n in range(20)))
    project.write("plain.csv", "id,passed\nk0,true\n")
    code, _, err = runevals("gate", "plain.csv", "--baseline", "main.csv")
    ended(code, 2, err, "main.csv is a table: the first line must name the columns", "--columns id=COLUMN")
    names = ("--columns", "id=Fall", "--columns", "passed=ok")
    code, _, err = runevals("gate", "r.csv", "--baseline", "main.csv", *names)
    ended(
        code,
        2,
        err,
        "main.csv has no column 'Fall'",
        "runevals gate FILE --columns … -o FILE.json reads a side alone",
    )
    code, out, err = runevals(
        "gate", "main.csv", "--columns", "id=Testfall", "--columns", "passed=Bestanden", "-o", "main.json"
    )
    ended(code, 0, out + err, "20 of 20 cases pass")
    code, out, err = runevals("gate", "r.csv", "--baseline", "main.json", *names)
    ended(code, 1, out + err, "The pass rate of 20 cases fell by 45.0 points")


def test_the_baseline_is_no_run_of_the_change(results, runevals):
    """As `gate *.xml --baseline main.xml` names it."""
    results.write("main.xml", junit())
    code, out, _ = runevals("gate", "main.xml", "one.xml", "--baseline", "main.xml")
    ended(code, 1, out, "1 of 40 cases regressed", "main.xml is the baseline, and does not count as a run")
