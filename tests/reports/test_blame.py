"""Which hunks lost which cases, in one line for cases with the same answer."""

from __future__ import annotations

import pytest

from runevals.records import Blame, BlamedCase, Hunk
from runevals.reports.blame import plain
from tests.reports.conclusions import HOSTILE

LINES = tuple(Hunk(path="a.md", first=number, last=number) for number in range(9))


def blamed(key, *numbers, put_back=None, **values):
    hunks = tuple(LINES[number] for number in numbers)
    runs = {"head_passed": 0, "head_runs": 8, "restored_passed": 8, "restored_runs": 8, "calls": 17}
    return BlamedCase(
        suite="s", key=key, hunks=hunks, put_back=hunks if put_back is None else put_back, **(runs | values)
    )


@pytest.mark.parametrize(
    ("cases", "line"),
    [
        pytest.param(
            [blamed("KB-7", 3, cost_usd=0.02), blamed("KB-8", 3, cost_usd=0.02)],
            "a.md:3 lost KB-7, KB-8 (put back: 0 of 16 → 16 of 16; 34 calls, $0.0400)",
            id="two by one line",
        ),
        pytest.param(
            [blamed("KB-7", 3, 5, put_back=(LINES[5],))],
            "a.md:3 and a.md:5 together lost KB-7 (a.md:5 put back: 0 of 8 → 8 of 8; 17 calls)",
            id="together",
        ),
        pytest.param(
            [blamed("KB-7", 3, 5)],
            "a.md:3 and a.md:5 lost KB-7 (both put back: 0 of 8 → 8 of 8; 17 calls)",
            id="each alone",
        ),
        pytest.param(
            [blamed("KB-7", reason="it passes now, 8 of 8")],
            "KB-7: not found: it passes now, 8 of 8 (17 calls)",
            id="not found",
        ),
        pytest.param(
            [BlamedCase(suite="s", key="KB-7", reason="its runs errored")],
            "KB-7: not searched: its runs errored",
            id="not searched",
        ),
        pytest.param(
            [blamed("KB-7", *[0] * 25)],
            f"{'a.md:0, ' * 19}a.md:0 and 5 more lost KB-7 (all of them put back: 0 of 8 → 8 of 8; 17 calls)",
            id="many lines",
        ),
    ],
)
def test_one_line_for_each_answer(cases, line):
    blame = Blame(base="0123456789", hunks=9, files=1, cases=tuple(cases))
    assert list(plain(blame)) == [line, "Put back: 9 hunks in 1 file since 0123456"]


def test_answers_come_before_what_was_not_found():
    cases = (blamed("KB-1", reason="noise"), blamed("KB-2", 4))
    first, second, _ = plain(Blame(base="b", hunks=1, files=1, cases=cases))
    assert (first[:16], second[:16]) == ("a.md:4 lost KB-2", "KB-1: not found:")


def test_hostile_names_are_harmless():
    hunk = Hunk(path=HOSTILE, kind="file")
    case = BlamedCase(suite="s", key=HOSTILE, hunks=(hunk,), put_back=(hunk,))
    lost = BlamedCase(suite="s", key="k", reason=HOSTILE)
    blame = Blame(base=HOSTILE, hunks=1, files=1, cases=(case, lost))
    assert all(line.isprintable() for line in plain(blame))
