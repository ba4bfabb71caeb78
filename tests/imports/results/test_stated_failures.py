"""A failure or an error that results state is never read as a pass, wherever it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runevals.imports.results import parse_results
from runevals.records import Outcome
from runevals.records.errors import InvalidDocument
from tests.ending import ended

FINE = {"test_id": "a", "score": 1.0, "target": "bot"}
PROMPTFOO = {
    "testIdx": 0,
    "promptIdx": 0,
    "prompt": {"raw": "?"},
    "vars": {},
    "testCase": {},
    "provider": {"id": "m"},
}
WAZA = {"eval_name": "e", "outcome_id": "o", "config": {}, "summary": {}}


def attempts(content, name="results.json"):
    """Whether each attempt passed; None: it was not measured."""
    text = content if isinstance(content, str) else json.dumps(content)
    run = parse_results(text.encode(), Path(name), name)
    return [(one.passed, one.turn.error is not None) for case in run.cases for one in case.attempts]


@pytest.mark.parametrize(
    "row",
    [
        {**FINE, "execution_status": "execution_error", "attempts": [{"score": 1.0, "execution_status": "ok"}]},
        {**FINE, "execution_status": "timeout"},
        {**FINE, "error": "boom"},
        {"testId": "a", "score": 0, "executionStatus": "execution_error"},
    ],
    ids=["of the row alone", "unknown status", "error without a status", "older form"],
)
def test_of_agentv(row):
    assert attempts(json.dumps({"target": "m", "timestamp": "2026-11-01T10:00:00Z", **row}), "index.jsonl") == [
        (None, True)
    ]


def test_of_a_waza_task_without_a_run():
    task = {"test_id": "a", "display_name": "A", "status": "failed", "runs": []}
    assert attempts({**WAZA, "tasks": [task]}) == [(None, True)]


def test_of_promptfoo_without_a_grading():
    row = {**PROMPTFOO, "success": False, "score": 0, "failureReason": 1, "gradingResult": None}
    row["response"] = {"output": "x"}
    assert attempts({"evalId": "e", "results": {"version": 3, "results": [row], "prompts": []}}) == [
        (False, False)
    ]


def test_of_promptfoo_whose_grading_says_it():
    row = {**PROMPTFOO, "success": True, "score": 1, "gradingResult": {"pass": False, "score": 1, "reason": "no"}}
    row["gradingResult"]["componentResults"] = [{"pass": True, "score": 1, "assertion": {"type": "equals"}}]
    assert attempts({"evalId": "e", "results": {"version": 3, "results": [row], "prompts": []}}) == [
        (False, False)
    ]


INSPECT = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "plan": {}}
SAMPLE = {"id": "a", "epoch": 1, "input": "?", "target": "", "scores": {"match": {"value": "C"}}}


def test_of_a_sample_that_was_invalidated_after_the_run():
    by = {"timestamp": "2026-11-01T10:00:00Z", "author": "a", "reason": "wrong file"}
    assert attempts({**INSPECT, "samples": [SAMPLE, {**SAMPLE, "id": "b", "invalidation": by}]}) == [
        (None, False),
        (None, True),
    ]


def test_of_an_inspect_log_with_an_error():
    log = json.dumps({**INSPECT, "samples": [SAMPLE], "error": {"message": "out of memory"}})
    run = parse_results(log.encode(), Path("l.json"), "l.json")
    assert run.stopped == "Inspect ended with an error: out of memory"


def test_of_deepeval_without_a_metric():
    case = {"name": "a", "input": "?", "actualOutput": "x", "success": False, "metricsData": []}
    assert attempts({"testCases": [case], "metricsScores": []}) == [(False, False)]


@pytest.mark.parametrize("status", ["timeout", "crashed", "killed", "blocked"])
def test_of_a_junit_test_that_has_only_a_status(status):
    text = f'<testsuite name="s"><testcase name="a" status="{status}"/></testsuite>'
    assert attempts(text, "junit.xml") == [(None, True)]


@pytest.mark.parametrize("said", ['outcome="failed"', 'success="false"'])
def test_of_a_junit_test_that_says_so_in_another_attribute(said):
    run = parse_results(f"<testsuite><testcase name='a' {said}/></testsuite>".encode(), Path("j.xml"), "j.xml")
    assert run.cases[0].attempts[0].turn.results[0].outcome is Outcome.FAILED


@pytest.mark.parametrize(
    "root",
    [
        '<testsuites><testsuite name="s"><testcase name="a"/></testsuite><error message="x"/></testsuites>',
        '<testsuites errors="3" failures="0"><testsuite name="s"><testcase name="a"/></testsuite></testsuites>',
    ],
    ids=["an element", "a count"],
)
def test_of_the_root_of_junit(root):
    run = parse_results(root.encode(), Path("junit.xml"), "junit.xml")
    assert "failure outside of its tests" in run.stopped


def test_suites_are_not_nested_without_end():
    text = "<testsuite>" * 31 + '<testcase name="a"/>' + "</testsuite>" * 31
    with pytest.raises(InvalidDocument, match="more than 30 suites are nested"):
        attempts(text, "junit.xml")


def test_gradings_beside_results_of_another_tool_count_too(project, runevals):
    def write(folder, *, passed):
        project.write(f"{folder}/junit.xml", '<testsuite name="s"><testcase name="a"/></testsuite>')
        for n in range(3):
            expectation = {"text": "says hi", "passed": passed, "evidence": "x"}
            summary = {"passed": int(passed), "failed": int(not passed), "total": 1, "pass_rate": float(passed)}
            grading = {"expectations": [expectation], "summary": summary}
            project.write(f"{folder}/eval-{n}/with_skill/run-1/grading.json", grading)

    write("base", passed=True)
    write("head", passed=False)
    code, out, err = runevals("gate", "head", "--baseline", "base", "--deterministic")
    assert (code, "eval-0, eval-1, eval-2 may be lost" in out) == (3, True), out + err  # a model graded them


def test_a_score_of_inspect_that_is_missing_now_is_an_error(project, runevals):
    def write(name, scores):
        samples = [
            {"id": n, "epoch": 1, "input": "q", "target": "x", "output": {"completion": "a"}, "scores": each}
            for n, each in enumerate(scores)
        ]
        log = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": samples}
        project.write(name, json.dumps(log))

    fine, silent = ({"acc": {"value": value}, "fmt": {"value": 1}} for value in ("C", float("nan")))
    write("base.json", [fine] * 10)
    write("head.json", [fine] * 9 + [silent])
    code, out, err = runevals("gate", "head.json", "--baseline", "base.json", "-o", "out.md")
    assert code == 3, err
    assert "acc: judge_failed: the scorer gave no score" in out


def test_a_shard_whose_duration_cannot_be_is_refused(zoo, runevals):
    for part in "12":
        runevals("--shard", f"{part}/2", "-o", f"{part}.json")
    document = zoo.document("1.json")
    document["run"]["duration_s"] = 1e99
    zoo.write("1.json", document)
    code, _, err = runevals("merge", "1.json", "2.json")
    ended(code, 2, err, "the duration of a shard cannot be")


@pytest.mark.parametrize("status", ["failed", "error", "Failed", "timeout"])
def test_of_a_waza_task_whose_runs_pass(status):
    """Its own rule over the runs, such as a share that must pass, was not met."""
    run = {"status": "passed", "validations": {"g": {"passed": True, "score": 1, "type": "code"}}}
    task = {"test_id": "a", "display_name": "A", "status": status, "runs": [run, run]}
    assert [passed for passed, _ in attempts({**WAZA, "tasks": [task]})] == [False, False]


@pytest.mark.parametrize("verdict", ["fail", "FAIL", "failed", "error"])
def test_of_a_row_of_agentv_whose_attempts_pass(verdict):
    fine = {"score": 1.0, "verdict": "pass", "execution_status": "ok"}
    row = {**FINE, "target": "m", "execution_status": "quality_failure", "verdict": verdict}
    assert attempts(json.dumps({**row, "attempts": [fine, fine]}), "index.jsonl") == [
        (False, False),
        (False, False),
    ]


@pytest.mark.parametrize(
    ("summary", "expectations", "failed"),
    [
        ({"passed": 1, "failed": 2, "total": 3, "pass_rate": 0.33}, [True], True),
        ({"passed": 0, "total": 3, "pass_rate": 0}, [True], True),
        ({"passed": 1, "total": 1, "errors": 3}, [True], True),
        ({"passed": 2, "failed": 0, "total": 2, "pass_rate": 1.0}, [True, True], False),
        ({"passed": 0, "failed": 0, "pass_rate": 1.0}, [], True),
    ],
    ids=["more failed than listed", "fewer passed", "errors", "as listed", "none listed"],
)
def test_of_the_counts_of_skill_creator(summary, expectations, failed):
    entries = [
        {"text": f"says {number}", "passed": passed, "evidence": ""} for number, passed in enumerate(expectations)
    ]
    content = json.dumps({"summary": summary, "expectations": entries}).encode()
    run = parse_results(content, Path("grading.json"), "grading.json")
    assert [one.failed for case in run.cases for one in case.attempts] == [failed]


@pytest.mark.parametrize(
    ("text", "stopped"),
    [
        (
            '<testsuite name="s" failures="2"><testcase name="a"><failure/></testcase></testsuite>',
            (
                "junit.xml:1: s counts 2 failures and errors, and its tests have 1: "
                "there is a failure outside of its tests, or it is not the whole report"
            ),
        ),
        (
            '<testsuite><testcase name="a" status="run"/><testcase name="b" status="skewed"/></testsuite>',
            "junit.xml:1: the status 'skewed' of a test is not known",
        ),
    ],
    ids=["a count", "a status"],
)
def test_junit_that_does_not_add_up_was_not_finished(text, stopped):
    assert parse_results(text.encode(), Path("junit.xml"), "junit.xml").stopped == stopped
