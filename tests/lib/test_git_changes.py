"""What tells the program under test from the one that an earlier run was of."""

from __future__ import annotations

import os

import pytest

from runevals.lib.git_changes import state_of

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
