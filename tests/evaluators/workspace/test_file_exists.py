"""What `file_exists` finds."""

from __future__ import annotations

import pytest

from runevals.evaluators.workspace.file_exists import FileExists
from runevals.records import FileFound, FileProbe
from tests.evaluators.workspace.left import NOTHING_KNOWN, left

CHECK = FileExists(path="a.md")


@pytest.mark.parametrize(
    ("kind", "score", "reason"),
    [("file", 1.0, "a.md is there"), (None, 0.0, "there is no a.md"), ("link", 0.0, "a.md is a link")],
)
def test_file_exists(kind, score, reason):
    found = CHECK.check(left(files=(FileFound(path="a.md", kind=kind),)))
    assert (found.score, found.reason) == (score, reason)


def test_it_asks_for_its_file():
    assert CHECK.probes() == (FileProbe(path="a.md"),)


@pytest.mark.parametrize("subject", [NOTHING_KNOWN, left()])
def test_without_evidence_it_is_errored(subject):
    assert CHECK.check(subject).code == "evidence_missing"


@pytest.mark.parametrize("path", ["/etc/passwd", "../a", ""])
def test_a_path_that_leads_out_is_refused(path):
    assert [option for option, _ in FileExists(path=path).problems()] == ["path"]
