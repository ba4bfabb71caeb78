"""How a hunk is named."""

from __future__ import annotations

import pytest

from runevals.records import Hunk


@pytest.mark.parametrize(
    ("hunk", "place"),
    [
        (Hunk(path="a.md", first=3, last=3), "a.md:3"),
        (Hunk(path="a.md", first=3, last=5), "a.md:3–5"),
        (Hunk(path="a.md", first=3, last=3, kind="removed"), "a.md:3 of the base (removed)"),
        (Hunk(path="a.png", kind="file"), "a.png (the whole file)"),
        (Hunk(path="b.md", kind="renamed"), "b.md (its new name)"),
    ],
)
def test_a_hunk_is_named_by_file_and_lines(hunk, place):
    assert hunk.place == place
