"""What `file_contains` finds."""

from __future__ import annotations

import pytest

from runevals.evaluators.workspace.file_contains import FileContains
from runevals.records import FileFound
from tests.evaluators.workspace.left import NOTHING_KNOWN, left


@pytest.mark.parametrize(
    ("options", "text", "score", "reason"),
    [
        ({"values": ("Total",)}, "Total: 3", 1.0, "a.md contains every phrase"),
        ({"values": ("Total", "Tax")}, "Total: 3", 0.0, "a.md does not contain: Tax"),
        ({"values": ("total",)}, "Total: 3", 0.0, "a.md does not contain: total"),
        ({"values": ("total",), "ignore_case": True}, "Total: 3", 1.0, "a.md contains every phrase"),
        ({"values": ("a",)}, None, 0.0, "there is no text at a.md"),
    ],
)
def test_file_contains(options, text, score, reason):
    found = FileContains(path="a.md", **options).check(
        left(files=(FileFound(path="a.md", kind="file", text=text),))
    )
    assert (found.score, found.reason) == (score, reason)


def test_without_evidence_it_is_errored():
    assert FileContains(path="a.md", values=("a",)).check(NOTHING_KNOWN).code == "evidence_missing"


def test_an_empty_phrase_is_refused():
    assert list(FileContains(path="a.md", values=("",)).problems()) != []
