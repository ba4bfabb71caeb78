"""What an attempt changed: paths, lines, a diff."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runevals.records import Response, Workspace
from runevals.run.workspaces import changes as module
from runevals.run.workspaces.folders import Workspaces
from runevals.run.workspaces.target import WorkspaceTarget
from tests.run.workspaces.working import Work, Worker, turn


def after(work: Work, fixture: Path | None = None, **spec: object) -> Response:
    workspaces = Workspaces({"PATH": os.environ["PATH"]}, at_once=1)
    try:
        return WorkspaceTarget(Worker(work), workspaces).answer(turn(Workspace(folder=fixture, **spec)))
    finally:
        workspaces.close()


@pytest.fixture
def fixture(tmp_path):
    folder = tmp_path / "fixture"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (folder / "gone.txt").write_text("g\n", encoding="utf-8")
    (folder / "same.txt").write_text("s\n", encoding="utf-8")
    return folder


def test_paths_that_were_added_changed_and_removed(fixture):
    def work(folder: Path) -> str:
        (folder / "a.txt").write_text("one\n2\n3\n")
        (folder / "gone.txt").unlink()
        (folder / "new").mkdir()
        (folder / "new" / "n.txt").write_text("n")
        (folder / "same.txt").write_text("s\n")
        return "Done."

    found = after(work, fixture).workspace
    told = [(one.path, one.change, one.lines_added, one.lines_removed) for one in found.changes]
    assert told == [("a.txt", "changed", 2, 1), ("gone.txt", "removed", 0, 1), ("new/n.txt", "added", 1, 0)]
    assert "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n" in found.diff
    assert found.diff_complete


@pytest.mark.parametrize("content", [b"line of a lock file\n" * 9000, b"\0" * 100_000])
def test_a_large_file_that_was_written_anew_with_the_same_content_is_no_change(fixture, content):
    (fixture / "large").write_bytes(content)
    other = content[:-1] + b"x"
    written = after(lambda work: (work / "large").write_bytes(content) and "Done.", fixture).workspace
    edited = after(lambda work: (work / "large").write_bytes(other) and "Done.", fixture).workspace
    assert (written.changes, [one.path for one in edited.changes]) == ((), ["large"])


def test_what_is_no_text_is_told_by_its_hash(fixture):
    found = after(lambda work: (work / "x.bin").write_bytes(b"\0\1") and "Done.", fixture).workspace
    [change] = found.changes
    assert (change.lines_added, change.size, len(change.sha256)) == (None, 2, 64)
    assert found.diff == ""


def test_links_and_rights_are_changes(fixture):
    def work(folder: Path) -> str:
        (folder / "a.txt").chmod(0o755)
        (folder / "link").symlink_to("/etc/passwd")
        return "Done."

    found = after(work, fixture).workspace
    assert [(one.path, one.change) for one in found.changes] == [("a.txt", "changed"), ("link", "added")]
    assert "root:" not in found.diff


def test_what_setup_made_is_no_change_of_the_attempt(fixture):
    setup = (("sh", "-c", "echo built > out; echo more >> a.txt"),)
    found = after(lambda work: (work / "out").write_text("rebuilt\n") and "Done.", fixture, setup=setup).workspace
    assert [(one.path, one.change) for one in found.changes] == [("out", "changed")]
    assert "-built\n+rebuilt\n" in found.diff


def test_a_long_diff_is_cut_at_a_file(fixture, monkeypatch):
    monkeypatch.setattr(module, "MOST_DIFF_BYTES", 200)

    def work(folder: Path) -> str:
        for name in "bcd":
            (folder / f"{name}.txt").write_text("x" * 80 + "\n")
        return "Done."

    found = after(work, fixture).workspace
    assert (len(found.changes), found.diff_complete, len(found.diff) <= 200) == (3, False, True)


def test_a_file_of_many_lines_is_counted_and_not_compared(fixture):
    (fixture / "a.txt").write_text("".join(f"{n}\n" for n in range(3000)), encoding="utf-8")
    changed = "".join(f"{n}\n" for n in reversed(range(2, 3001)))
    found = after(lambda work: (work / "a.txt").write_text(changed) and "Done.", fixture).workspace
    [change] = found.changes
    assert (change.lines_added, change.lines_removed, found.diff, found.diff_complete) == (1, 2, "", False)


def test_after_a_full_diff_lines_are_counted_and_not_compared(fixture, monkeypatch):
    monkeypatch.setattr(module, "MOST_DIFF_BYTES", 100)

    def work(folder: Path) -> str:
        (folder / "a.txt").write_text("x" * 200 + "\n")
        (folder / "b.txt").write_text("y\n")
        (folder / "z.txt").write_text("two\none\n")
        return "Done."

    (fixture / "z.txt").write_text("one\ntwo\n", encoding="utf-8")
    found = after(work, fixture).workspace
    told = [(one.path, one.lines_added, one.lines_removed) for one in found.changes]
    assert told == [("a.txt", 1, 2), ("b.txt", 1, 0), ("z.txt", 0, 0)]
    assert (found.diff, found.diff_complete) == ("", False)


def test_too_many_changes_are_errored(fixture, monkeypatch):
    monkeypatch.setattr(module, "MOST_CHANGES", 2)
    work = lambda folder: [(folder / f"{n}").touch() for n in range(3)] and "Done."  # noqa: E731
    problem = after(work, fixture).problem
    assert (problem.code, "changed 3 files, more than 2" in problem.message) == ("workspace_broken", True)
