"""The pytest plugin: suites as tests, and answers that tests record; it costs nothing until it is asked for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tests.ending import ended
from tests.pytest_forks import pytest_forks
from tests.sample_suites import ANSWERS, SUITE

TESTS = """
import pytest

@pytest.mark.parametrize("attempt", range(2))
def test_refund(evals, attempt):
    evals.record("refund", "30 days", prompt="How long?", tool_calls=[{"name": "lookup", "input": {"id": 1}}])
    assert attempt == 0, "too late"

def test_plain():
    pass
"""


@pytest.fixture(scope="module")
def run_pytest(tmp_path_factory):
    with pytest_forks(tmp_path_factory.mktemp("pytest") / "printed") as run:
        yield run


@pytest.fixture
def pytest_in(project, run_pytest):
    """Runs pytest with the plugin in the project → (exit code, what it printed)."""

    def run(*words):
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
        plugins = ["-p", "runevals.pytest_plugin", "-p", "no:cacheprovider"]
        return run_pytest([*plugins, *words], project.path, environment)

    return run


def test_answers_are_recorded_as_attempts_also_by_workers(project, pytest_in, runevals):
    project.write("test_support.py", TESTS)
    code, text = pytest_in("-p", "xdist", "-n", "2", "--evals-output", "head.json")
    ended(code, 1, text, "1 failed, 2 passed")
    [case] = json.loads((project.path / "head.json").read_text())["cases"]
    assert (case["suite"], case["key"], case["pass_rate"]) == ("test_support.py", "refund", 0.5)
    [turn] = case["attempts"][0]["turns"]
    assert (turn["output"], turn["tool_calls"][0]["name"]) == ("30 days", "lookup")
    code, out, err = runevals("compare", "head.json", "head.json")
    ended(code, 0, out + err, "No regression shown in 1 case")


def test_two_prompts_under_one_key_end_with_the_reason(project, pytest_in):
    one, two = (f"def test_{n}(evals):\n    evals.record('k', 'x', prompt='{n}')\n" for n in ("one", "two"))
    project.write("test_support.py", one + two)
    code, text = pytest_in("--evals-output", "head.json")
    ended(code, 2, text, "the case 'k' of 'test_support.py' is also at", without=["Traceback"])
    assert not (project.path / "head.json").exists()


TEARDOWN = """
import pytest

@pytest.fixture
def checked():
    yield
    raise ValueError("the refund was not booked")

def test_refund(evals, checked):
    evals.record("refund", "30 days")

def test_next(evals):
    evals.record("next", "never")
"""


def test_a_failed_teardown_and_an_early_end_are_no_pass(project, pytest_in):
    project.write("test_support.py", TEARDOWN)
    pytest_in("-x", "--evals-output", "head.json")
    document = project.document("head.json")
    [case] = document["cases"]
    assert (case["key"], case["status"], document["complete"]) == ("refund", "failed", False)
    project.write("test_support.py", "def test_plain():\n    pass\n")
    pytest_in("--evals-output", "head.json")
    assert not (project.path / "head.json").exists(), "nothing was recorded"


MANY = """
import os, pytest

def agent(number):
    if number in (3, 4):
        BREAK
    return "30 days"

@pytest.fixture
def served(request):
    if request.node.callspec.params["number"] == 5:
        SETUP
    yield

@pytest.mark.parametrize("number", range(24))
def test_refund(evals, served, number):
    answer = agent(number)
    evals.record(f"refund-{number}", answer)
    assert "30" in answer
"""


XDIST = ("-p", "xdist", "-n", "1")
ERROR = 'raise RuntimeError("no server")'


@pytest.mark.parametrize(
    ("place", "crash", "words", "reason"),
    [
        pytest.param("BREAK", ERROR, (), "could not be measured", id="in the test"),
        pytest.param("SETUP", ERROR, (), "could not be measured", id="in its fixture"),
        pytest.param("BREAK", "os._exit(1)", XDIST, "a worker of pytest crashed", id="a worker"),
    ],
)
def test_a_crash_before_an_answer_is_recorded_is_no_pass(  # noqa: PLR0917 - a table
    project, pytest_in, runevals, place, crash, words, reason
):
    """Its case was missing, and `compare` showed no regression."""
    project.write("test_support.py", MANY.replace("BREAK", "pass").replace("SETUP", "pass"))
    assert pytest_in("--evals-output", "base.json")[0] == 0
    broken = MANY.replace(place, crash)
    project.write("test_support.py", broken.replace("BREAK", "pass").replace("SETUP", "pass"))
    codes = (pytest_in(*words, "--evals-output", "head.json")[0] for _ in range(3))
    assert next(code for code in codes if code != 3) == 1  # xdist may trip over the crash itself
    code, out, err = runevals("compare", "base.json", "head.json")
    ended(code, 3, out + err, reason)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("output=None", "output must be text, not NoneType"),
        ("output='x', cost_usd=float('nan')", "cost_usd must be from 0 to 1e+12, not nan"),
        ("output='x', latency_s=1e308", "latency_s must be from 0 to 1e+12, not 1e+308"),
        ("output='x', input_tokens=1.5", "input_tokens must be a whole number, not 1.5"),
        ("output='x', tool_calls=[{'name': 'a', 'input': float('nan')}]", "Out of range float values"),
        ("output='x', latency=3.0", "unexpected keyword argument 'latency'"),
    ],
)
def test_what_no_report_can_hold_fails_the_test_that_records_it(project, pytest_in, runevals, argument, message):
    project.write("test_it.py", f"def test_it(evals):\n    evals.record('a', {argument})\n")
    code, said = pytest_in("--evals-output", "out.json")
    assert (code, message in said) == (1, True), said
    assert runevals("report", "out.json", "-o", "out.md")[0] == 0


FIFTY = """
import pytest

@pytest.mark.parametrize("number", range(50))
def test_refund(evals, number):
    evals.record(f"refund-{number}", "30 days")
"""
BROKEN_PLUGIN = """
def pytest_runtest_logfinish(nodeid, location):
    if "46" in nodeid:
        raise RuntimeError("a bug of a plugin")
"""


@pytest.mark.parametrize("words", [(), XDIST])
def test_a_session_that_ends_by_a_bug_of_a_plugin_is_incomplete(project, pytest_in, runevals, words):
    project.write("test_support.py", FIFTY)
    assert pytest_in("--evals-output", "base.json")[0] == 0
    project.write("conftest.py", BROKEN_PLUGIN)
    assert pytest_in(*words, "--evals-output", "head.json")[0] == pytest.ExitCode.INTERNAL_ERROR
    code, out, err = runevals("compare", "base.json", "head.json")
    ended(code, 3, out + err, "pytest ended with an internal error")


RUN_AGAIN = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    \"\"\"As pytest-rerunfailures: a failed test is run again.\"\"\"
    for _ in range(2):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        failed = any(report.failed for report in reports)
        for report in reports:
            report.outcome = "rerun" if report.failed and _ == 0 else report.outcome
            item.ihook.pytest_runtest_logreport(report=report)
        if not failed:
            break
        item._initrequest()
    return True
"""
WRONG_FIRST = """
import pytest
made = []

@pytest.mark.parametrize("attempt", range(4))
def test_refund(evals, attempt):
    made.append(1)
    answer = "WRONG" if len(made) % 2 else "30 days"
    evals.record("refund", answer)
    assert answer == "30 days"
"""
SUBTESTS = """
import pytest

@pytest.mark.parametrize("attempt", range(3))
def test_all(evals, subtests, attempt):
    for number in range(4):
        with subtests.test(number=number):
            evals.record(f"q{number}", "x")
            assert number != 1
"""


def outcomes(project):
    return {
        case["key"]: [attempt["status"] for attempt in case["attempts"]]
        for case in project.document("head.json")["cases"]
    }


def test_a_test_that_is_run_again_does_not_hand_its_old_answers_over_again(project, pytest_in):
    project.write("conftest.py", RUN_AGAIN)
    project.write("test_support.py", WRONG_FIRST)
    pytest_in("--evals-output", "head.json")
    assert outcomes(project) == {"refund": ["failed", "passed"] * 4}


def test_each_answer_has_the_outcome_of_its_subtest(project, pytest_in):
    project.write("test_support.py", SUBTESTS)
    pytest_in("--evals-output", "head.json")
    lost = {"q1": ["failed"] * 3}
    assert outcomes(project) == {f"q{number}": ["passed"] * 3 for number in range(4)} | lost


IN_FIXTURES = """
import pytest

@pytest.fixture
def late(evals):
    answer = []
    yield answer
    evals.record(answer[0], "x")

@pytest.fixture
def early(evals):
    evals.record("early", "x")

def test_passes(late):
    late.append("passes")

def test_fails(late):
    late.append("fails")
    assert 0

def test_skips(evals):
    evals.record("skips", "x")
    pytest.skip("rate limit")

@pytest.mark.xfail
def test_expected_to_fail(evals):
    evals.record("expected to fail", "x")
    assert 0

def test_early(early):
    assert 0

def test_on_demand(request):
    request.getfixturevalue("evals").record("on demand", "x")
    assert 0
"""


def test_an_answer_of_a_fixture_has_the_outcome_of_its_test_and_a_skip_is_not_measured(project, pytest_in):
    project.write("test_support.py", IN_FIXTURES)
    pytest_in("--evals-output", "head.json")
    assert outcomes(project) == {
        "passes": ["passed"],
        "fails": ["failed"],
        "skips": ["errored"],
        "expected to fail": ["failed"],
        "early": ["failed"],
        "on demand": ["failed"],
    }
    reasons = [case["attempts"][0]["turns"][0].get("error") for case in project.document("head.json")["cases"]]
    assert [reason["message"] for reason in reasons if reason] == ["Skipped: rate limit"]


def test_half_of_an_emoji_ends_no_worker(project, pytest_in):
    project.write("test_support.py", FIFTY.replace('"30 days"', '"ok \\ud83d"'))
    for words in ((), ("--evals-output", "head.json")):
        ended(*pytest_in(*XDIST, *words)[:1], 0, "")
    assert len(outcomes(project)) == 50


def test_collecting_alone_leaves_the_last_results_and_a_folder_is_refused(project, pytest_in):
    project.write("test_support.py", TESTS)
    pytest_in("--evals-output", "head.json")
    pytest_in("--evals-output", "head.json", "--collect-only")
    assert list(outcomes(project)) == ["refund"]
    (project.path / "sub").mkdir()
    code, text = pytest_in("--evals-output", "sub")
    ended(code, pytest.ExitCode.USAGE_ERROR, text, "--evals-output: sub: ", without=["Traceback"])


def test_a_file_that_cannot_be_collected_is_no_pass(project, pytest_in, runevals):
    one = 'def test_{0}(evals):\n    evals.record("{0}", "30 days")\n'
    project.write("test_support.py", "".join(one.format(f"case_{number}") for number in range(24)))
    project.write("test_refund.py", one.format("refund"))
    assert pytest_in("--evals-output", "base.json")[0] == 0
    project.write("test_refund.py", "import no_such_module\n")
    pytest_in("--continue-on-collection-errors", "--evals-output", "head.json")
    code, out, err = runevals("compare", "base.json", "head.json")
    ended(code, 3, out + err, "pytest cannot collect test_refund.py")


def test_cases_of_suites_are_tests_that_can_be_selected(project, pytest_in):
    project.write("evals/kb.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    settings = "version: 1\ntarget: {type: recorded, path: answers.jsonl}\nagainst: without-skill\n"
    project.write("runevals.yaml", settings)  # a test is of one target alone
    project.write("pytest.ini", "[pytest]\nevals_suites = evals/*.json\n")
    code, text = pytest_in("-q")
    ended(code, 1, text, "1 failed, 1 passed", "0 of 1 attempts passed", without=["Traceback"])
    alone = [pytest_in("-q", f"evals/kb.json::{key}")[0] for key in ("a", "b")]
    assert sorted(alone) == [0, 1]


@pytest.mark.parametrize("key", ["a\n::error::b", "a ##vso[task.setvariable]b"])
def test_what_a_case_says_is_no_command_in_a_log(project, pytest_in, key):
    live = "no\n::set-output name=x::passed\n##[error]y\x1b[31m\u202e"
    project.write("evals/kb.json", json.dumps({**SUITE, "items": [{**SUITE["items"][0], "testId": key}]}))
    project.write("answers.jsonl", json.dumps({"case": key, "output": live}) + "\n")
    project.write("runevals.yaml", "version: 1\ntarget: {type: recorded, path: answers.jsonl}\n")
    project.write("pytest.ini", "[pytest]\nevals_suites = evals/*.json\n")
    code, text = pytest_in("-q", "-rA")
    ended(code, 1, text, "answer: no", ": :set-output", "1 failed")
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]|^\s*::|##\w*\[", text, re.MULTILINE) is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param("assert 1 == 2", "assert 1 == 2", id="an assertion"),
        pytest.param(
            "assert 'a' in ['b',\n 'c'], 'no a'", "AssertionError: no a", id="an assertion with its words"
        ),
        pytest.param("raise KeyError('x')", "KeyError: 'x'", id="an error"),
    ],
)
def test_the_reason_of_a_failed_test_is_the_line_of_its_assertion(project, pytest_in, line, reason):
    project.write("test_refund.py", f"def test_x(evals):\n    evals.record('refund', 'no')\n    {line}\n")
    assert pytest_in("-q", "--evals-output", "out.json")[0] == 1
    [result] = project.document("out.json")["cases"][0]["attempts"][0]["turns"][0]["results"]
    assert result["reason"] == f"{reason} (test_refund.py:3)"


@pytest.mark.parametrize("pattern", ["eval/*.json", "evals/kp.json", "/evals/*.json"])
def test_a_pattern_of_the_setting_without_a_file_is_refused(project, pytest_in, pattern):
    """Its cases would be missing, and the other tests would pass."""
    project.write("evals/kb.json", SUITE)
    project.write("test_other.py", "def test_other():\n    pass\n")
    project.write("pytest.ini", f"[pytest]\nevals_suites = {pattern}\n")
    code, text = pytest_in("-q")
    ended(code, pytest.ExitCode.USAGE_ERROR, text, f"evals_suites: no file in {project.path} matches {pattern!r}")


def test_a_pattern_of_the_setting_may_match_in_a_deeper_folder(project, pytest_in):
    project.write("kb/evals/kb.json", SUITE)
    project.write("build/lib/evals/kb.json", SUITE)
    project.write("pytest.ini", "[pytest]\nevals_suites = evals/*.json\n")
    code, text = pytest_in("-q", "--collect-only")
    ended(code, 0, text, "2 tests collected")
    project.write("evals/kb.json", SUITE)
    project.write("tests/test_other.py", "def test_other():\n    pass\n")
    for pattern, paths in [("evals/*.json", ""), ("**/evals/*.json", ""), ("evals/*.json", "testpaths = tests\n")]:
        project.write("pytest.ini", f"[pytest]\nevals_suites = {pattern}\n{paths}")
        code, text = pytest_in("-q", "--collect-only")
        ended(code, 0, text, "5 tests collected", without=["build"])


def test_help_is_shown_whatever_the_setting_says(project, pytest_in):
    project.write("pytest.ini", "[pytest]\nevals_suites = none.json\n")
    assert "--evals-output" in pytest_in("--help")[1]


@pytest.mark.parametrize("words", [(), XDIST])
@pytest.mark.parametrize(
    ("pattern", "number"),
    [("evals/*.json", 2), ("evals/**/*.json", 4), ("dist/evals/*.json", 2), (".evs/kb.json", 2)],
)
def test_suites_are_collected_wherever_pytest_looks_for_tests(project, pytest_in, pattern, number, words):
    """By `testpaths` and `norecursedirs` they would be missing, and the rest would pass."""
    for path in ("evals/kb.json", "evals/a/b/kb.json", "dist/evals/kb.json", ".evs/kb.json"):
        project.write(path, SUITE)
    project.write("tests/test_other.py", "def test_other():\n    pass\n")
    project.write("answers.jsonl", ANSWERS)
    project.write("runevals.yaml", "version: 1\ntarget: {type: recorded, path: answers.jsonl}\n")
    project.write("pytest.ini", f"[pytest]\ntestpaths = tests\nevals_suites = {pattern}\n")
    code, text = pytest_in(*words)
    ended(code, 1, text, f"{number // 2} failed, {number // 2 + 1} passed")
    code, text = pytest_in(*words, "tests")
    ended(code, 0, text, "1 passed")
    project.write("pytest.ini", f"[pytest]\nevals_suites = {pattern}\n")
    code, text = pytest_in(*words)
    if pattern.startswith("evals"):
        ended(code, 1, text, f"{number // 2} failed, {number // 2 + 1} passed")
    else:
        ended(code, pytest.ExitCode.USAGE_ERROR, text, "which pytest does not enter (norecursedirs)")


def test_a_folder_as_a_suite_is_refused(project, pytest_in):
    project.write("evals/kb.json", SUITE)
    project.write("pytest.ini", "[pytest]\nevals_suites = evals\n")
    code, text = pytest_in("-q")
    ended(code, pytest.ExitCode.USAGE_ERROR, text, "'evals' is a folder; name its files")


def test_of_several_targets_a_variable_chooses_one(project, pytest_in, monkeypatch):
    project.write("evals/kb.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    targets = "targets: {good: {type: recorded, path: answers.jsonl}, bad: {type: recorded, path: none.jsonl}}"
    project.write("runevals.yaml", f"version: 1\n{targets}\n")
    project.write("pytest.ini", "[pytest]\nevals_suites = evals/*.json\n")
    monkeypatch.setenv("RUNEVALS_TARGET", "good")
    code, text = pytest_in("-q")
    ended(code, 1, text, "1 failed, 1 passed")


def test_an_invalid_suite_is_an_error_without_a_traceback(project, pytest_in):
    project.write("evals/kb.json", {**SUITE, "default_evaluators": {"ExctMatch": {}}})
    project.write("pytest.ini", "[pytest]\nevals_suites = evals/*.json\n")
    code, text = pytest_in("-q")
    ended(code, 2, text, "there is no evaluator 'ExctMatch'", without=["Traceback", "load_suites"])


def test_without_a_setting_nothing_is_collected_and_little_is_loaded(project, pytest_in):
    project.write("evals/kb.json", SUITE)
    assert pytest_in("-q")[0] == pytest.ExitCode.NO_TESTS_COLLECTED
    script = "import sys, runevals.pytest_plugin; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {name for name in loaded if name.startswith("runevals")} == {"runevals", "runevals.pytest_plugin"}
