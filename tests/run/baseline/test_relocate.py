"""Settings for another checkout."""

from __future__ import annotations

import pytest

from runevals.run.baseline.relocate import rerooted
from runevals.settings.resolve import RawSettings


@pytest.fixture
def moved(tmp_path):
    """What a text with ROOT or LINK becomes: the paths of a checkout, and of the worktree, which is NEW."""
    root, link, new = tmp_path / "app", tmp_path / "link", tmp_path / "worktree" / "base"
    for checkout in (root, new):
        (checkout / ".git").mkdir(parents=True)
    link.symlink_to(root)

    def moved(text: str) -> str:
        given = text.replace("ROOT", str(root)).replace("LINK", str(link))
        raw = RawSettings(cwd=link, environment={"X": given}, inputs={"x": given}, flags={"x": [given]})
        there = rerooted(raw, new)
        assert there.environment["X"] == there.inputs["x"]
        assert there.flags["x"] == [there.inputs["x"]]
        text = there.inputs["x"].replace(str(new), "NEW")
        return text.replace(str(root), "ROOT").replace(str(link), "LINK")

    return moved


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ROOT", "NEW"),
        ("ROOT/", "NEW/"),
        ("/lib:ROOT/src:ROOT:/usr", "/lib:NEW/src:NEW:/usr"),
        ("ROOT:ROOT", "NEW:NEW"),
        ("python 'ROOT/a b.py' --data=ROOT,ROOT/x", "python 'NEW/a b.py' --data=NEW,NEW/x"),
        ("file://ROOT/a.py", "file://NEW/a.py"),
        ("cc -IROOT/include -LROOT", "cc -INEW/include -LNEW"),
        ("LINK/src:ROOT/src", "NEW/src:NEW/src"),
        ("LINK", "NEW"),
    ],
)
def test_a_path_in_the_checkout_leads_to_the_other_one(moved, text, expected):
    assert moved(text) == expected


@pytest.mark.parametrize(
    "text", ["ROOT-data", "ROOT2/x", "ROOT.db", "/mntROOT/x", "https://host/mntROOT", "LINK-data", "LINKed/x"]
)
def test_a_path_that_only_has_its_name_in_it_stays(moved, text):
    """The base would read other files than the change, and fail everything."""
    assert moved(text) == text
