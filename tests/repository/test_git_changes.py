"""What tells the program under test from the one that an earlier run was of."""

from __future__ import annotations

import os

import pytest

from runevals.repository.git_changes import changed_files, state_of

OTHER = "print('other')"
STRANGE = os.fsdecode(b"\xe9.py")  # a name that is no UTF-8


def edited(project):
    project.write("agent.py", OTHER)


def deleted(project):
    (project.path / "agent.py").unlink()


def made_a_program(project):
    (project.path / "agent.py").chmod(0o755)


def a_link_to_its_copy(project):
    (project.path / "agent.py").rename(project.path / "copy.py")
    (project.path / "agent.py").symlink_to("copy.py")


def staged(project):
    edited(project)
    project.git("add", "agent.py")


def not_looked_at(project):
    project.git("update-index", "--assume-unchanged", "agent.py")
    edited(project)


def in_a_submodule(project):
    project.write("inner/lib.py", "x = 2")


def by_a_strange_name(project):
    project.write(STRANGE, OTHER)


EDITS = [
    edited,
    deleted,
    made_a_program,
    a_link_to_its_copy,
    staged,
    not_looked_at,
    in_a_submodule,
    by_a_strange_name,
]


@pytest.fixture
def nested(repository, tmp_path_factory):
    """A repository with a submodule."""
    theirs = tmp_path_factory.mktemp("theirs")
    repository.git("init", "-q", str(theirs))
    (theirs / "lib.py").write_text("x = 1", encoding="utf-8")
    repository.git("-C", str(theirs), "add", "-A")
    repository.git("-C", str(theirs), "commit", "-qm", "lib")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(theirs), "inner")
    repository.write(STRANGE, "print('one')")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "code")
    return repository


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("before", ["as committed", "edited", "never committed"])
def test_every_kind_of_code_change_is_detected(nested, edit, before):
    if before == "edited":
        nested.write("agent.py", "print('two')")
    elif before == "never committed":
        nested.git("update-ref", "-d", "HEAD")
    state = state_of(nested.path)
    os.utime(nested.path / "agent.py", (1, 1))
    assert state_of(nested.path) == state  # the control: nothing but a time
    edit(nested)
    assert state_of(nested.path) != state


def test_changed_files_have_their_paths_on_both_sides(repository):
    repository.write("moved.txt", "\n".join(map(str, range(30))))
    repository.write("link", "")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "files")
    repository.git("mv", "moved.txt", "to.txt")
    repository.write(".gitignore", "ignored\n")
    repository.write("ignored", "")
    repository.write("new file", "")
    edited(repository)
    (repository.path / "evals.json").unlink()
    (repository.path / "link").unlink()
    (repository.path / "link").symlink_to("agent.py")  # neither is a regular file on both sides
    expected = {
        (None, ".gitignore"),
        (None, "new file"),
        ("agent.py", "agent.py"),
        ("evals.json", None),
        ("moved.txt", "to.txt"),
    }
    assert set(changed_files(repository.path, "HEAD")) == expected
    assert changed_files(repository.path, "unknown") is None


@pytest.mark.parametrize(
    ("now", "stays", "pairs"),
    [
        pytest.param("b", False, {("a/same", "b/same"), ("a/x/other", "b/x/other")}, id="the folder moved"),
        pytest.param("c/a", False, {("a/same", "c/a/same"), ("a/x/other", "c/a/x/other")}, id="into another"),
        pytest.param("b", True, {("a/same", "b/same"), ("a/x/other", None), (None, "b/x/other")}, id="in part"),
    ],
)
def test_files_of_a_folder_that_moved_keep_their_names_however_they_are_written(repository, now, stays, pairs):
    repository.write("a/same", "\n".join(map(str, range(30))))
    repository.write("a/x/other", "old")
    repository.write("a/x/stays", "stays")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "a")
    repository.write(f"{now}/same", "\n".join(map(str, range(30))))
    repository.write(f"{now}/x/other", "\n".join(map(str, range(99))))
    repository.git("rm", "-q", "a/same", "a/x/other", *([] if stays else ["a/x/stays"]))
    repository.git("add", "-A")
    repository.write("a/x/ignored.log", "of a run")  # is none of the repository's files
    repository.write(".git/info/exclude", "*.log\n")
    assert set(changed_files(repository.path, "HEAD")) == pairs | (set() if stays else {("a/x/stays", None)})


def test_of_a_folder_that_is_copied_as_it_moves_the_files_go_to_one_place(repository):
    """Git calls the copy of the file that is edited the one that moved."""
    names = ("one", "two", "three")
    for name in names:
        repository.write(f"a/{name}", f"{name}\n" * 30)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "a")
    for folder in ("copy", "to"):
        for name in names:
            repository.write(f"{folder}/{name}", f"{name}\n" * 30)
    repository.write("to/one", "one\n" * 20 + "edited\n" * 10)
    repository.write("copy/three", "another\n" * 30)
    repository.git("rm", "-qr", "a")
    repository.git("add", "-A")
    pairs = set(changed_files(repository.path, "HEAD"))
    places = {now.partition("/")[0] for was, now in pairs if was}
    assert len(places) == 1, pairs
    assert {was for was, _ in pairs if was} == {f"a/{name}" for name in names}


def test_a_file_that_is_renamed_in_a_folder_that_moves_is_the_one_with_its_content(repository):
    for name in ("one", "two"):
        repository.write(f"a/{name}", f"{name}\n" * 30)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "a")
    repository.git("mv", "a", "b")
    repository.git("mv", "b/one", "b/first")
    repository.write("b/one", "new\n" * 30)
    repository.git("add", "-A")
    assert set(changed_files(repository.path, "HEAD")) == {
        ("a/one", "b/first"),
        ("a/two", "b/two"),
        (None, "b/one"),
    }
