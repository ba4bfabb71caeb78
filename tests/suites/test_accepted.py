"""The file of accepted losses, written and read."""

from __future__ import annotations

import pytest

from runevals.records import REMOVED, AcceptedLoss
from runevals.records.errors import InvalidSuite
from runevals.suites.accepted import MAX_BYTES, read_entries, written

ENTRY = AcceptedLoss(suite="evals.json", case="KB-007", base="a" * 64, head="b" * 64, reason="wanted")


@pytest.mark.parametrize(
    "entry",
    [
        ENTRY,
        AcceptedLoss(
            suite="a: b.json", case="- 'x' # \u2028\n", base="0" * 64, head=REMOVED, reason='"no": {yes}'
        ),
        AcceptedLoss(suite="é.json", case="2026-01-01", base="1" * 64, head="2" * 64, reason="null"),
    ],
)
def test_what_is_written_is_read_again(entry):
    assert read_entries(written([entry, ENTRY]).encode(), "x.yaml") == (entry, ENTRY)


def test_words_can_be_read_in_the_file_and_nothing_in_it_is_invisible():
    entry = AcceptedLoss(
        suite="é.json", case="a\u202eb", base="1" * 64, head="2" * 64, reason="kürzer ist besser …"
    )
    text = written([entry])
    assert 'reason: "kürzer ist besser …"' in text
    assert "é.json" in text
    assert "\\u202e" in text
    assert "\u202e" not in text


def test_a_file_without_entries_is_read_too():
    assert read_entries(written([]).encode(), "x.yaml") == ()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(b"case: KB-007\n", "x.yaml:1", id="no list"),
        pytest.param(written([ENTRY]).replace("a" * 64, "a").encode(), "/0/base", id="no fingerprint"),
        pytest.param(written([ENTRY]).replace("wanted", "w" * 201).encode(), "/0/reason", id="a long reason"),
        pytest.param(written([ENTRY]).encode() + b"  by: ana\n", "by", id="who approved it"),
        pytest.param(written([ENTRY] * 1001).encode(), "x.yaml", id="too many"),
        pytest.param(b"\xff", "x.yaml", id="no text"),
        pytest.param(b" " * (MAX_BYTES + 1), "larger than 1024 KiB", id="too large"),
    ],
)
def test_another_file_is_refused_with_its_place(content, told):
    with pytest.raises(InvalidSuite) as refused:
        read_entries(content, "x.yaml")
    assert told in str(refused.value)
