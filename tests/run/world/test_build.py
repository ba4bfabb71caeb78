"""What a run may touch, as the settings name it."""

from __future__ import annotations

import pytest

from runevals.records import Conversation
from runevals.reports.results_document import write
from runevals.run.world.build import report_in
from runevals.targets.recorded import RecordedSettings
from tests.reports.conclusions import regressions

CONVERSATION = Conversation(suite="evals/evals.json", case="KB-001", attempt=3, turn=1, prompt="?")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("results.json", write(regressions())),
        ("answers.jsonl", '{"case": "KB-001", "attempt": 3, "output": "Please ask support."}\n'),
    ],
)
def test_a_recording_is_a_results_document_or_lines(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    target = RecordedSettings(type="recorded", base=tmp_path, path=path).answers(report_in)
    assert target.answer(CONVERSATION).text == "Please ask support."
    assert target.identity().detail == {"path": name}
