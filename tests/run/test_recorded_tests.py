"""The answers that tests recorded: a results document, without secrets."""

from __future__ import annotations

from runevals.records import Outcome
from runevals.reports.results_document import read
from runevals.run.recorded_tests import write_records

ROW = {"suite": "test_a.py", "key": "refund", "prompt": "How long?", "output": "30 days", "tool_calls": []}


def test_records_are_written_as_a_run_of_pytest(project, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "hunter2-hunter2")
    rows = [
        {**ROW, "passed": True, "reason": "", "latency_s": 1.5},
        {**ROW, "passed": False, "reason": "got hunter2-hunter2"},
    ]
    write_records(rows, project.path / "head.json")
    report = read(project.path / "head.json")
    [case] = report.cases
    assert (report.run.target.type, [attempt.status for attempt in case.attempts]) == (
        "pytest",
        [Outcome.PASSED, Outcome.FAILED],
    )
    assert case.attempts[0].turns[0].latency_s == 1.5
    assert "hunter2" not in (project.path / "head.json").read_text()
