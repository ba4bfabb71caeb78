"""What `unchanged` finds."""

from __future__ import annotations

import pytest

from runevals.evaluators.workspace.unchanged import Unchanged
from tests.evaluators.workspace.left import NOTHING_KNOWN, left


@pytest.mark.parametrize(
    ("changed", "score", "reason"),
    [
        (("src/app.py",), 1.0, "they are as they were"),
        (("tests/test_app.py",), 0.0, "changed: tests/test_app.py"),
        (("setup.cfg",), 0.0, "changed: setup.cfg"),
    ],
)
def test_unchanged(changed, score, reason):
    found = Unchanged(paths=("tests", "*.cfg")).check(left(*changed))
    assert (found.score, found.reason) == (score, reason)


def test_without_evidence_it_is_errored():
    assert Unchanged(paths=("tests",)).check(NOTHING_KNOWN).code == "evidence_missing"
