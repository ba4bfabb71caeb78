"""Recorded answers."""

from __future__ import annotations

import pytest

from runevals.lib.parsing import source
from runevals.records import Conversation
from runevals.records.errors import InvalidSuite
from runevals.targets.recorded import RecordedTarget, answers_in, answers_of
from tests.reports.conclusions import regressions


def asked(case, attempt=1, turn=1, suite="evals/evals.json"):
    return Conversation(suite=suite, case=case, attempt=attempt, turn=turn, prompt="?")


@pytest.fixture
def recorded(tmp_path):
    def make(text: str, **options) -> RecordedTarget:
        path = tmp_path / "answers.jsonl"
        path.write_text(text, encoding="utf-8")
        return RecordedTarget(answers_in(path, path.name), path.name, **options)

    return make


LINE = (
    '{"case": "KB-001", "turn": 1, "attempt": 1, "output": "Yes", "tool_calls": [{"name": "Read", "input": '
    '{"path": "a"}, "output": "x", "ok": true}], "citations": [], "cost_usd": 0.0012, "input_tokens": 80, '
    '"output_tokens": 40, "latency_ms": 850, "turns": 1, "error": null}\n'
)


def test_every_field_of_a_recording_is_played_back(recorded):
    response = recorded(LINE).answer(asked("KB-001"))
    assert (response.text, response.cost_usd, response.latency_s, response.input_tokens) == (
        "Yes",
        0.0012,
        0.85,
        80,
    )
    assert response.citations == ()
    assert response.tool_calls[0].name == "Read"


def test_a_field_that_a_recording_lacks_is_unknown(recorded):
    response = recorded('{"case": "a", "output": ""}').answer(asked("a"))
    assert (response.text, response.cost_usd, response.tool_calls, response.latency_s) == ("", None, None, None)


def test_recorded_values_and_errors_are_played_back(recorded):
    target = recorded(
        '{"case": "a", "value": [1, "é"]}\n{"case": "b", "error": {"code": "target_timeout", "message": "late"}}'
    )
    assert target.answer(asked("a")).text == '[1, "é"]'
    assert target.answer(asked("b")).problem.code == "target_timeout"


def test_a_case_without_an_answer_is_errored(recorded):
    problem = recorded(LINE).answer(asked("KB-002")).problem
    assert problem.code == "target_failed"
    assert "no recorded answer for case KB-002" in problem.message


def test_a_missing_attempt_uses_attempt_1_only_with_reuse(recorded):
    assert recorded(LINE).answer(asked("KB-001", attempt=2)).problem is not None
    assert recorded(LINE, reuse=True).answer(asked("KB-001", attempt=2)).text == "Yes"


def test_recordings_can_name_the_suite_if_keys_are_not_unique(recorded):
    target = recorded('{"case": "a", "suite": "x", "output": "of x"}\n{"case": "a", "output": "of any"}')
    assert target.answer(asked("a", suite="x")).text == "of x"
    assert target.answer(asked("a", suite="y")).text == "of any"


def test_results_of_a_run_can_be_used_as_a_recording():
    report = regressions().report
    target = RecordedTarget(answers_of(report), "results.json", model=report.run.target.model)
    assert target.answer(asked("KB-001", attempt=3)).text == "Please ask support."
    assert target.identity().model == report.run.target.model
    assert target.answer(asked("KB-001", attempt=9)).problem is not None
    again = RecordedTarget(answers_of(report), "results.json", reuse=True).answer(asked("KB-001", attempt=9))
    assert again == target.answer(asked("KB-001"))


def test_every_invalid_line_of_a_recording_is_named(recorded):
    with pytest.raises(InvalidSuite) as refused:
        recorded('{"case": "a"}\nnot json\n\n{"output": "x"}\n{"case": "a", "output": "x", "cost_usd": "1"}')
    assert [problem.location.line for problem in refused.value.problems] == [1, 2, 4, 5]


def test_a_recording_has_not_the_size_limit_of_other_files(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(source, "MAX_BYTES", 1000)
    monkeypatch.setattr(source.read_text, "__defaults__", (source.MAX_BYTES,))
    made = recorded(LINE + "\n" * source.MAX_BYTES + '{"case": "last", "output": "a\u2028b"}')
    assert made.answer(asked("last")).text == "a\u2028b"
    with pytest.raises(InvalidSuite, match="the most we read"):
        source.read_text(tmp_path / "answers.jsonl", "answers.jsonl")


@pytest.mark.parametrize("text", [b'{"case": "a", "output": "\xff"}\n', None], ids=["no UTF-8", "no file"])
def test_a_file_that_is_not_a_recording_is_reported(tmp_path, text):
    path = tmp_path / "answers.jsonl"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(InvalidSuite, match=r"answers\.jsonl: (is not|there is no such file)"):
        answers_in(path, "answers.jsonl")
