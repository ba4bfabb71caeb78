"""The hunks of a change, each of which can be put back alone."""

from __future__ import annotations

import pytest

from runevals.run.blame.hunks import ChangedFile, hunks_of

BASE = "# Support\n\n- The warranty is 24 months.\n- We ship.\n\nBe kind and\nbrief. Say please.\n\nBye.\n"


def change(before, now, path="a.md", old_path="a.md"):
    encoded = [side.encode() if isinstance(side, str) else side for side in (before, now)]
    return hunks_of([ChangedFile(old_path=old_path, path=path, before=encoded[0], now=encoded[1])])


@pytest.mark.parametrize(
    ("now", "places"),
    [
        pytest.param(BASE.replace("24 months", "two years"), ["a.md:3"], id="one line"),
        pytest.param(
            BASE.replace("24 months", "two years").replace("ship", "walk"), ["a.md:3", "a.md:4"], id="list items"
        ),
        pytest.param(
            BASE.replace("kind and\nbrief", "rude and\nlong"), ["a.md:6–7"], id="one sentence on two lines"
        ),
        pytest.param(BASE.replace("- We ship.\n", ""), ["a.md:4 of the base (removed)"], id="removed"),
        pytest.param(BASE + "More.\nAnd more.\n", ["a.md:10", "a.md:11"], id="added sentences"),
        pytest.param(
            BASE.replace("- We ship.\n", "- We.\n- Ship.\n- Far.\n"), ["a.md:4–6"], id="other numbers of sentences"
        ),
        pytest.param(BASE.removesuffix("\n"), ["a.md:9"], id="the last line break"),
    ],
)
def test_a_hunk_is_a_sentence_or_list_item(now, places):
    hunks = change(BASE, now)
    assert [hunk.place for hunk in hunks.hunks] == places
    everything = frozenset(range(len(places)))
    assert hunks.contents(frozenset()) == {"a.md": now.encode()}
    assert hunks.contents(everything) == {"a.md": BASE.encode()}


def test_one_of_two_hunks_is_put_back_alone():
    now = BASE.replace("24 months", "two years").replace("Bye", "Hello")
    hunks = change(BASE, now)
    assert hunks.contents(frozenset({1})) == {"a.md": BASE.replace("24 months", "two years").encode()}


def test_neighbouring_lines_of_code_are_one_hunk():
    hunks = change("a = 1\nb = 2\nc = 3\n", "a = 4\nb = 5\nc = 3\n", "a.py", "a.py")
    assert [hunk.place for hunk in hunks.hunks] == ["a.py:1–2"]


@pytest.mark.parametrize(
    ("before", "now", "old_path", "path"),
    [
        pytest.param(b"\0one", b"\0two", "old.png", "a.md", id="renamed, and not text"),
        pytest.param(None, "new\n", None, "a.md", id="added"),
        pytest.param("old\n", None, "a.md", None, id="removed"),
        pytest.param(b"\0one", b"\0two", "a.md", "a.md", id="binary"),
        pytest.param(b"\xff\n", b"\xfe\n", "a.md", "a.md", id="no UTF-8"),
        pytest.param("x\n" * 6000, "y\n" * 6000, "a.md", "a.md", id="many lines"),
    ],
)
def test_what_cannot_be_put_back_by_lines_is_one_hunk(before, now, old_path, path):
    hunks = change(before, now, path, old_path)
    assert [hunk.place for hunk in hunks.hunks] == ["a.md (the whole file)"]
    both = [side.encode() if isinstance(side, str) else side for side in (before, now)]
    names = filter(None, (old_path, path))
    absent = dict.fromkeys(names)
    assert hunks.contents(frozenset()) == absent | ({} if path is None else {path: both[1]})
    assert hunks.contents(frozenset({0})) == absent | ({} if old_path is None else {old_path: both[0]})


def test_the_new_name_of_a_file_is_a_hunk_beside_its_lines():
    hunks = change("one\ntwo\n", "one\nthree\n", "a.md", "old.md")
    assert [hunk.place for hunk in hunks.hunks] == ["a.md:2", "a.md (its new name)"]
    contents = [hunks.contents(frozenset(put_back)) for put_back in ({}, {0}, {1}, {0, 1})]
    head, base = b"one\nthree\n", b"one\ntwo\n"
    assert [one["a.md"] for one in contents] == [head, base, None, None]
    assert [one["old.md"] for one in contents] == [None, None, head, base]


def test_hunks_are_numbered_over_all_files():
    files = [
        ChangedFile(old_path=name, path=name, before=b"old\n", now=now)
        for name, now in (("a.md", b"new\n"), ("b.png", b"\0"), ("c.md", b"new\n"))
    ]
    hunks = hunks_of(files)
    assert [hunk.place for hunk in hunks.hunks] == ["a.md:1", "b.png (the whole file)", "c.md:1"]
    assert hunks.contents(frozenset({1, 2})) == {"a.md": b"new\n", "b.png": b"old\n", "c.md": b"old\n"}
