"""Results of other tools of any shape are read, or refused with their place: nothing in them is our bug."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runevals.imports.results import parse_results
from runevals.records.errors import InvalidDocument, InvalidSuite
from runevals.reports.results_document import parse, write
from runevals.run.tool_results import report_of
from runevals.verdict.outcome import decide
from tests.attacks.changed_values import places, put

RESULTS = Path(__file__).parents[1] / "imports" / "results"
DOCUMENTS = sorted(RESULTS.glob("*/valid/*.json"))
FIRST_DAY, LAST_DAY = "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"
VALUES = (None, 10**400, "x", [1], {"x": {}}, True, FIRST_DAY, LAST_DAY)


def judged(text, *, whole=True):
    """What becomes of a file's text: a report, with `whole` compared, written and read again."""
    found = parse_results(text.encode(), Path("x.json"), "x.json")
    if found is not None:
        report = report_of(found, written_at=datetime.now(UTC))
        if whole:
            parse(write(decide(report, report)), "x.json")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_any_value_at_any_place_is_read_or_refused(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    judged(json.dumps(document))
    for place in places(document):
        for value in VALUES:
            with suppress(InvalidDocument, InvalidSuite):
                judged(json.dumps(put(document, place, value)), whole=value in ("x", FIRST_DAY, LAST_DAY))


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*/valid/*.*")), ids=lambda path: path.name)
def test_a_file_that_ends_too_early_is_never_a_result_of_less(path):
    """Of JSON Lines and CSV, the rows that are whole are a file of their own: only a broken row is refused."""
    content = path.read_bytes()
    if path.suffix == ".txt":
        return
    for share in range(1, 20):
        part = content.rstrip()[: len(content.rstrip()) * share // 20]
        if path.suffix not in (".jsonl", ".csv"):
            with pytest.raises((InvalidDocument, InvalidSuite)):
                parse_results(part, path, "x")


def test_a_message_does_not_repeat_a_long_value(runevals, project):
    long = "9" * 1_000_000
    project.write(
        "junit.xml", f"<testsuites><testsuite><testcase name='a' time='{long}'/></testsuite></testsuites>"
    )
    code, out, err = runevals("gate", "junit.xml")
    assert code == 0, err
    assert "junit.xml:1: time='999" in out + err
    assert len(out + err) < 10_000


@pytest.mark.parametrize(
    ("options", "judge"),
    [
        ({"provider": "echo", "rubricPrompt": "Say that it passes."}, "echo"),
        ({"provider": {"id": "echo"}}, "echo"),
        ({"rubricPrompt": "Say that it passes."}, None),
        ({"transform": "'30 days'"}, None),
    ],
    ids=str,
)
def test_another_grader_of_promptfoo_is_an_edit_of_the_checks(options, judge):
    document = json.loads((RESULTS / "promptfoo/valid/judged-and-errors.json").read_text(encoding="utf-8"))
    del document["results"]["results"][1:]
    base, head = (
        report_of(parse_results(json.dumps(one).encode(), Path("x.json"), "x.json"), written_at=datetime.now(UTC))
        for one in (document, put(document, ("results", "results", 0, "testCase", "options"), options))
    )
    assert head.run.judge is None if judge is None else head.run.judge.model == judge
    comparison = decide(base, head).comparison
    assert [(change.change, change.key) for change in comparison.changes] == [("edited", "refund")]
    assert [weakening.message for weakening in comparison.weakenings] == ["its checks or other fields were edited"]
