"""What `only_touches` finds."""

from __future__ import annotations

import pytest

from runevals.evaluators.workspace.only_touches import OnlyTouches
from tests.evaluators.workspace.left import NOTHING_KNOWN, left


@pytest.mark.parametrize(
    ("paths", "changed", "score"),
    [
        (("src",), ("src/app.py", "src/deep/er.py"), 1.0),
        (("src/",), ("src/app.py",), 1.0),
        (("src",), ("src/app.py", "tests/test_app.py"), 0.0),
        (("src",), ("src2/app.py",), 0.0),
        (("docs/*.md",), ("docs/a.md",), 1.0),
        (("docs/*.md",), ("docs/a.py",), 0.0),
        (("src",), (), 1.0),
    ],
)
def test_only_touches(paths, changed, score):
    assert OnlyTouches(paths=paths).check(left(*changed)).score == score


def test_the_reason_names_what_else_was_changed():
    found = OnlyTouches(paths=("src",)).check(left(*(f"t{number}" for number in range(7))))
    assert found.reason == "also changed: t0, t1, t2, t3, t4 and 2 more"


def test_without_evidence_it_is_errored():
    assert OnlyTouches(paths=("src",)).check(NOTHING_KNOWN).code == "evidence_missing"
