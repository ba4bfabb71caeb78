"""A work tree and a commit of it answer alike, and patterns match what Python's own do."""

from __future__ import annotations

import glob
import time

import pytest

from runevals.repository.trees import CannotFollow, CommitTree, FolderTree, WorkTree, files_below, matching

PATTERNS = ["*", "**", "a/*", "a/**", "**/p.txt", "**/*.txt", "a/**/b/*", "[ab]/?.txt", "a**", "a/../*", ".*/*"]
FILES = [
    "p.txt",
    "a/p.txt",
    "a/b/p.txt",
    "a/b/b/q.txt",
    "b/1.txt",
    ".hidden/p.txt",
    "c[1]/p.txt",
    "b/\u00e9 *.txt",
]


@pytest.fixture
def trees(repository):
    """The work tree of a commit, and that commit."""
    for name in FILES:
        repository.write(name, name)
    (repository.path / "linked").symlink_to("a/b")
    (repository.path / "a" / "again.txt").symlink_to("../p.txt")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "files")
    commit = repository.git("rev-parse", "HEAD")
    return WorkTree(repository.path, like=commit), CommitTree(repository.path, commit)


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_match_the_same_paths_as_pythons_glob(trees, repository, pattern, hidden):
    listed = glob.glob(pattern, root_dir=repository.path, recursive=True, include_hidden=hidden)
    expected = {name.rstrip("/") for name in listed if ".git" not in name.split("/")}
    for tree in (*trees, FolderTree(repository.path)):
        found = [path for path, _ in matching(tree, pattern, hidden=hidden) if ".git" not in path.split("/")]
        assert len(found) == len(set(found))
        assert set(found) - {""} == expected - {""}


@pytest.mark.parametrize("path", ["", "a", "linked", "c[1]", "a/again.txt", "nowhere", "p.txt/deeper"])
def test_a_commit_and_its_checkout_have_the_same_files_and_bytes(trees, path):
    here, there = (dict(files_below(tree, path)) for tree in trees)
    assert here == there
    assert bool(here) is (path not in ("nowhere", "p.txt/deeper"))
    for real in here.values():
        assert trees[0].content(real) == trees[1].content(real)


def test_links_are_followed_to_their_targets(trees):
    for tree in trees:
        assert tree.resolve_links("linked/p.txt") == "a/b/p.txt"
        assert tree.resolve_links("linked/../p.txt") == "a/p.txt"
        assert tree.resolve_links("a/again.txt") == "p.txt"
        with pytest.raises(CannotFollow, match="leads out of the repository"):
            tree.resolve_links("../x")


def test_deep_patterns_visit_each_folder_once(tmp_path):
    folder = tmp_path.joinpath(*["a"] * 60)
    folder.mkdir(parents=True)
    (folder / "x.json").touch()
    started = time.process_time()
    found = list(matching(FolderTree(tmp_path), "/".join(["**", "*"] * 10) + "/x.json"))
    assert len(found) == 1
    assert time.process_time() - started < 5  # measured: 0.1


def test_the_number_of_visited_folders_is_limited(tmp_path):
    for number in range(20):
        (tmp_path / str(number)).touch()
    with pytest.raises(CannotFollow, match="more than 10 places"):
        list(matching(FolderTree(tmp_path), "*", most=10))
