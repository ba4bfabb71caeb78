"""Results of another tool as a report: its own verdicts count, and what has no check is left out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runevals.records import Outcome
from runevals.records.errors import InvalidDocument
from runevals.run.tool_results import parse_report, read_report, report_of
from runevals.suites.importing.results import read_results

RESULTS = Path(__file__).parents[1] / "suites" / "importing" / "results"
NOW = datetime.now(UTC)


def report(name):
    return report_of(read_results([RESULTS / name]), written_at=NOW)


def test_a_test_that_its_tool_lets_pass_passes_though_one_of_its_assertions_fails():
    found = report("promptfoo/valid/prompts-and-repeats.json")
    half = [case for case in found.cases if case.name == "half"]
    assert [case.status for case in half] == [Outcome.PASSED, Outcome.PASSED]
    assert {result.outcome for result in half[0].attempts[0].turns[0].results} == {Outcome.PASSED, Outcome.FAILED}
    assert (found.run.target.type, found.run.target.model, found.run.repeat) == ("promptfoo", "echo", 2)


def test_cases_without_a_check_are_left_out_with_a_notice():
    found = report("promptfoo/valid/prompts-and-repeats.json")
    assert "No checks here" not in {case.name for case in found.cases}
    assert found.run.notices == ("left out: 2 cases without a check",)
    row = {"testIdx": 0, "promptIdx": 0, "provider": "echo", "testCase": {}, "success": True}
    text = json.dumps({"evalId": "x", "results": {"version": 3, "results": [row]}})
    with pytest.raises(InvalidDocument, match="has no case with a check"):
        parse_report(text.encode(), "x.json")


def test_an_error_is_neither_a_pass_nor_a_failure():
    found = {case.key: case for case in report("agentv/valid/index.jsonl").cases}
    assert (found["shipping"].status, found["refund"].pass_rate) == (Outcome.ERRORED, 0.5)


def test_an_attempt_without_an_answer_keeps_the_names_of_its_checks():
    [case] = report("inspect-log/valid/interrupted.json").cases
    answered, broken, _ = case.attempts
    assert [result.id for result in broken.turns[0].results] == [result.id for result in answered.turns[0].results]
    assert broken.status is Outcome.ERRORED


def test_an_interrupted_run_is_incomplete():
    found = report("inspect-log/valid/interrupted.json")
    assert (found.complete, found.run.stopped.message) == (False, "Inspect was interrupted")


def test_a_score_between_0_and_1_is_compared_by_its_size():
    [first, _] = report("inspect-log/valid/epochs.json").cases
    assert [attempt.graded for attempt in first.attempts] == [True] * 3
    assert first.attempts[0].value != first.attempts[2].value


def test_the_judge_is_known_where_the_results_name_it():
    assert report("waza/valid/outcome.json").run.judge.model == "gpt-5-mini"
    assert report("junit/valid/surefire.xml").run.judge is None


def test_results_of_the_future_are_of_now(tmp_path):
    """A runner that writes local time without its zone may be ahead of UTC."""
    path = tmp_path / "junit.xml"
    ahead = (NOW + timedelta(hours=9)).replace(tzinfo=None).isoformat()
    path.write_text(f'<testsuite timestamp="{ahead}"><testcase name="a"/></testsuite>')
    assert read_report(path).run.started_at <= datetime.now(UTC)


def test_what_is_neither_ours_nor_of_a_tool_is_refused_as_a_results_document(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": 1}')
    with pytest.raises(
        InvalidDocument,
        match="is not a results document that can be read: it has no 'format_version'; 1 is needed",
    ):
        read_report(path)
