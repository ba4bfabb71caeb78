"""The files of skill authors' tools, in the names that these read."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from runevals.records import Finding, Outcome, Problem, Reason, State, ToolCall
from runevals.reports import reporter_for
from tests.reports.conclusions import ALL, all_passed, everything_broken, regressions, thousand_cases


def rendered(name, conclusion, form="results"):
    return json.loads(reporter_for(name, form).render(conclusion))


def test_a_benchmark_has_the_names_of_skill_creator():
    document = rendered("benchmark.json", regressions())
    assert list(document) == ["metadata", "runs", "run_summary", "notes"]
    assert list(document["metadata"]) == [
        *("skill_name", "skill_path", "executor_model", "analyzer_model", "timestamp", "evals_run"),
        "runs_per_configuration",
    ]
    run = document["runs"][0]
    assert list(run) == [
        *("eval_id", "eval_name", "configuration", "run_number", "result", "expectations", "notes"),
    ]
    assert list(run["result"]) == [
        *("pass_rate", "passed", "failed", "total", "time_seconds", "tokens", "tool_calls", "errors"),
    ]
    assert list(run["expectations"][0]) == ["text", "passed", "evidence"]


def test_both_sides_are_summed_up_and_the_difference_is_a_text():
    summary = rendered("benchmark.json", regressions())["run_summary"]
    assert list(summary) == ["with_skill", "old_skill", "delta"]
    assert list(summary["with_skill"]["pass_rate"]) == ["mean", "stddev", "min", "max"]
    difference = summary["with_skill"]["pass_rate"]["mean"] - summary["old_skill"]["pass_rate"]["mean"]
    assert summary["delta"]["pass_rate"] == f"{difference:+.2f}"
    numbers = rendered("benchmark.json", regressions(), "agentskills")
    assert numbers["run_summary"]["delta"]["pass_rate"] == pytest.approx(difference, abs=1e-4)
    assert "assertion_results" in numbers["runs"][0]


def test_without_a_base_there_is_one_side():
    document = rendered("benchmark.json", everything_broken())
    assert list(document["run_summary"]) == ["with_skill"]


def test_what_was_not_measured_is_an_error_and_no_failure():
    conclusion = all_passed()
    case = conclusion.report.cases[0]
    (turn,) = case.attempts[0].turns
    broken = replace(turn.results[0], outcome=Outcome.ERRORED, error=Problem(code="judge_failed", message="m"))
    calls = (ToolCall(name="search"), ToolCall(name="search"))
    turn = replace(turn, results=(*turn.results, broken), tool_calls=calls, input_tokens=3, output_tokens=4)
    case = replace(case, key="7", attempts=(replace(case.attempts[0], turns=(turn,)),))
    report = replace(conclusion.report, cases=(case,))
    conclusion = replace(conclusion, report=report, comparison=None)
    (run,) = rendered("benchmark.json", conclusion)["runs"]
    assert (run["eval_id"], run["notes"]) == (7, ["1 check or answer could not be measured"])
    counts = {name: run["result"][name] for name in ("passed", "failed", "errors", "tokens", "tool_calls")}
    assert counts == {"passed": 1, "failed": 0, "errors": 1, "tokens": 7, "tool_calls": 2}
    grading = rendered("grading.json", conclusion)
    assert grading["summary"] == {"pass_rate": 1.0, "passed": 1, "failed": 0, "total": 1}
    assert grading["execution_metrics"]["tool_calls"] == {"search": 2}
    assert grading["execution_metrics"]["errors_encountered"] == 1


def test_a_run_without_a_measured_check_has_no_rate_and_is_in_no_mean():
    conclusion = all_passed()
    case = conclusion.report.cases[0]
    (turn,) = case.attempts[0].turns
    turn = replace(turn, latency_s=4.0)
    error = Problem(code="no_answer", message="m")
    broken = replace(turn, error=error, results=(), latency_s=60.0)
    cases = [
        replace(case, key=key, attempts=(replace(case.attempts[0], turns=(one,)),))
        for key, one in (("a", turn), ("b", broken))
    ]
    report = replace(conclusion.report, cases=tuple(cases))
    document = rendered("benchmark.json", replace(conclusion, report=report, comparison=None))
    assert [run["result"]["pass_rate"] for run in document["runs"]] == [1.0, None]
    summary = document["run_summary"]["with_skill"]
    assert (summary["pass_rate"]["mean"], summary["time_seconds"]["mean"]) == (1.0, 4.0)
    report = replace(conclusion.report, cases=(cases[1],))
    document = rendered("benchmark.json", replace(conclusion, report=report, comparison=None))
    assert document["run_summary"]["with_skill"]["pass_rate"]["mean"] is None


@pytest.mark.parametrize("make", [make for make in ALL if make is not thousand_cases])
@pytest.mark.parametrize("name", ["benchmark.json", "grading.json"])
@pytest.mark.parametrize("form", ["results", "agentskills"])
def test_a_statement_is_told_whole_and_with_its_evidence(make, name, form):
    conclusion = make()
    found = rendered(name, conclusion, form)
    entries = found.get("expectations", found.get("assertion_results"))
    if name == "grading.json":
        assert found["summary"]["total"] == len(entries)
        assert ("expectations" in found) is (form == "results")


def test_they_are_meant_by_their_whole_name():
    assert reporter_for("benchmark.json").NAME == "benchmark"
    assert reporter_for("benchmark.mini.json").NAME == "benchmark"  # of one of several targets
    assert reporter_for("my-benchmark.json").NAME == reporter_for(".json").NAME == "results"
    assert reporter_for("json") is None
    assert reporter_for("report.html", "agentskills").NAME == "html"


def test_a_run_writes_them(project, runevals):
    assertion = {"id": "has-a", "type": "contains", "value": "a"}
    project.write("SKILL.md", "---\nname: notes\ndescription: d\n---\n")
    project.write(
        "evals/evals.json", {"skill_name": "notes", "evals": [{"id": 1, "prompt": "?", "assertions": [assertion]}]}
    )
    project.write("answers.jsonl", '{"case": "1", "output": "a"}\n')
    options = ("--target", "recorded:answers.jsonl")
    assert runevals("run", *options, "-o", "benchmark.json", "-o", "out/grading.json", "-o", "out.json")[0] == 0
    assert project.document("benchmark.json")["metadata"]["skill_name"] == "notes"
    assert project.document("benchmark.json")["metadata"]["skill_path"] == "."
    assert project.document("out/grading.json")["expectations"][0]["text"] == "has-a"
    assert runevals("report", "out.json", "-o", "grading.json", "--format", "agentskills")[0] == 0
    assert project.document("grading.json")["assertion_results"][0]["passed"] is True
    code, _, err = runevals("report", "out.json", "-o", "other.json", "--format", "agentskills")
    assert (code, "--format agentskills writes benchmark.json and grading.json" in err) == (2, True)


def test_fresh_runs_of_single_cases_are_listed_and_in_no_mean():
    plain = regressions()
    case = plain.report.cases[0]
    finding = Finding(
        family="case",
        suite=case.suite,
        name=case.key,
        title=case.name,
        state=State.NOT_WORSE,
        reason=Reason.PASSED_AGAIN,
        head=case,
    )
    comparison = replace(plain.comparison, findings=(finding,))
    without, document = (
        rendered("benchmark.json", replace(plain, comparison=one))
        for one in (replace(comparison, findings=()), comparison)
    )
    fresh = [run for run in document["runs"] if run not in without["runs"]]
    assert {(run["eval_name"], run["configuration"]) for run in fresh} == {(case.name, "with_skill")}
    assert [run["run_number"] for run in fresh] == [
        comparison.rounds_planned + attempt.attempt for attempt in case.attempts
    ]
    assert fresh[0]["notes"][0] == "a fresh run, to check a possible loss"
    assert document["run_summary"] == without["run_summary"]
