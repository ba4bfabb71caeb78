"""What `file_matches_schema` finds."""

from __future__ import annotations

from runevals.evaluators.workspace.file_matches_schema import FileMatchesSchema
from runevals.records import FileFound, Verdict
from runevals.records.script import Call
from tests.evaluators.workspace.left import NOTHING_KNOWN, left

CHECK = FileMatchesSchema(path="a.json", schema={"type": "object", "required": ["total"]})


def found(text: str | None) -> object:
    return CHECK.call(left(files=(FileFound(path="a.json", kind="file", text=text),)))


def test_the_content_of_the_file_is_validated():
    asked = found('{"total": 3}')
    assert isinstance(asked, Call)
    assert asked.arguments == {"text": '{"total": 3}'}


def test_what_is_no_json_or_no_text_fails():
    assert isinstance(found("{"), Verdict)
    assert found(None) == Verdict(0.0, "there is no text at a.json")


def test_without_evidence_it_is_errored():
    assert CHECK.call(NOTHING_KNOWN).code == "evidence_missing"


def test_a_schema_that_is_none_is_refused():
    assert list(FileMatchesSchema(path="a.json", schema={"type": "thing"}).problems()) != []
