"""What a checkout of an old commit is given of the first one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runevals.records.errors import InvalidSettings
from runevals.repository.worktree import copy_changes, share, worktree


@pytest.fixture
def ignoring(repository):
    """A repository that ignores `deps` and `built`."""
    repository.write(".gitignore", "deps\nbuilt/\n*.db\n")
    repository.write("packages/lib/code.js", "base")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "ignore")
    repository.commit = repository.git("rev-parse", "HEAD")
    return repository


def shared(repository, *names):
    """Shares these paths → what is in the checkout then, as text by path."""
    with worktree(repository.path, repository.commit) as checkout:
        for name in names:
            share(name, repository.path, checkout)
        return {
            str(path.relative_to(checkout)): path.read_text(encoding="utf-8").replace(str(checkout), "CHECKOUT")
            for path in checkout.rglob("*")
            if path.is_file()
        }


def test_shared_folders_and_files_are_in_the_worktree(ignoring):
    ignoring.write("deps/one/index.js", "1")
    ignoring.write("data.db", "rows")
    ignoring.write("packages/lib/deps/two.js", "2")
    found = shared(ignoring, "deps", "data.db", "packages/lib/deps")
    assert (found["deps/one/index.js"], found["data.db"]) == ("1", "rows")
    assert (found["packages/lib/deps/two.js"], found["packages/lib/code.js"]) == ("2", "base")


def test_a_missing_path_is_not_shared(ignoring):
    assert "deps" not in shared(ignoring, "deps")


@pytest.mark.parametrize("absolute", [False, True])
def test_a_link_into_the_repository_points_to_the_files_of_the_base(ignoring, absolute):
    """As package managers link packages of the same repository."""
    ignoring.write("deps/.keep", "")
    ignoring.write("packages/lib/code.js", "change")
    ours = ignoring.path / "packages" / "lib"
    (ignoring.path / "deps" / "lib").symlink_to(ours if absolute else Path("..", "packages", "lib"))
    with worktree(ignoring.path, ignoring.commit) as checkout:
        share("deps", ignoring.path, checkout)
        assert (checkout / "deps" / "lib" / "code.js").read_text() == "base"


def test_a_link_inside_that_leads_out_of_the_repository_stays(ignoring, tmp_path_factory):
    outside = tmp_path_factory.mktemp("store")
    (outside / "python").write_text("program")
    ignoring.write("deps/.keep", "")
    for name, told in (("absolute", outside), ("relative", os.path.relpath(outside, ignoring.path / "deps"))):
        (ignoring.path / "deps" / name).symlink_to(told)
    found = shared(ignoring, "deps")
    assert "deps/absolute/python" not in found  # rglob follows no link
    with worktree(ignoring.path, ignoring.commit) as checkout:
        share("deps", ignoring.path, checkout)
        assert {(checkout / "deps" / name / "python").read_text() for name in ("absolute", "relative")} == {
            "program"
        }


def test_an_editable_install_points_to_the_package_of_the_base(ignoring):
    ignoring.write("deps/site-packages/ours.pth", f"{ignoring.path}/packages\n")
    ignoring.write("deps/site-packages/__editable___ours_finder.py", f"MAPPING = {{'o': '{ignoring.path}/o'}}")
    found = shared(ignoring, "deps")
    assert found["deps/site-packages/ours.pth"] == "CHECKOUT/packages\n"
    assert found["deps/site-packages/__editable___ours_finder.py"] == "MAPPING = {'o': 'CHECKOUT/o'}"


def out_by_a_link(repository):
    (repository.path / "deps").symlink_to(repository.path.parent)


def in_by_a_link(repository):
    (repository.path / "deps").symlink_to("packages")


def tracked(repository):
    repository.write("deps/own.py", "")
    repository.git("add", "-f", "deps/own.py")


def of_base(repository):
    repository.write("deps/own.py", "")
    repository.git("add", "-f", "deps/own.py")
    repository.git("commit", "-qm", "deps")
    repository.commit = repository.git("rev-parse", "HEAD")
    repository.git("rm", "-q", "--cached", "deps/own.py")


def there(repository):
    repository.write("deps/x", "")


@pytest.mark.parametrize(
    ("made", "name", "told"),
    [
        pytest.param(there, "../deps", "not a path below the repository", id="above"),
        pytest.param(there, "/etc", "not a path below the repository", id="absolute"),
        pytest.param(there, ".", "not a path below the repository", id="all of it"),
        pytest.param(there, ".git", "git's own", id="git"),
        pytest.param(out_by_a_link, "deps", "leads out of the repository by a link", id="link out"),
        pytest.param(in_by_a_link, "deps", "git does not ignore deps", id="link to tracked files"),
        pytest.param(there, "packages", "git does not ignore packages", id="not ignored"),
        pytest.param(tracked, "deps", "git does not ignore deps", id="tracked in part"),
        pytest.param(of_base, "deps", "the base has deps itself", id="in the base"),
    ],
)
def test_only_what_git_ignores_below_the_repository_is_shared(ignoring, made, name, told):
    made(ignoring)
    with pytest.raises(InvalidSettings, match=told):
        shared(ignoring, name)


def test_shared_files_still_exist_after_the_worktree_is_removed(ignoring):
    ignoring.write("deps/one/index.js", "1")
    shared(ignoring, "deps")
    assert (ignoring.path / "deps/one/index.js").read_text() == "1"


def test_changes_that_are_not_committed_are_copied_and_none_behind_a_link(repository):
    (repository.path / "out").symlink_to("..")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "link")
    repository.write("agent.py", "edited")
    repository.write("new/deep.sh", "new").chmod(0o755)
    with worktree(repository.path, "HEAD") as checkout:
        changes = [("agent.py", "agent.py"), (None, "new/deep.sh"), ("evals.json", None)]
        copy_changes(changes, repository.path, checkout)
        assert (checkout / "agent.py").read_text() == "edited"
        assert os.access(checkout / "new/deep.sh", os.X_OK)
        assert not (checkout / "evals.json").exists()
        with pytest.raises(InvalidSettings, match="behind a link"):
            copy_changes([(None, "out/x")], repository.path, checkout)


def test_a_folder_stands_in_place_of_a_file_and_the_reverse(ignoring):
    """New files come first, as git lists them."""
    (ignoring.path / ".gitignore").unlink()
    ignoring.write(".gitignore/a", "a")
    (ignoring.path / "packages/lib/code.js").unlink()
    (ignoring.path / "packages/lib").rmdir()
    ignoring.write("packages/lib", "b")
    new = [(None, ".gitignore/a"), (None, "packages/lib")]
    with worktree(ignoring.path, ignoring.commit) as checkout:
        copy_changes([*new, (".gitignore", None), ("packages/lib/code.js", None)], ignoring.path, checkout)
        assert (checkout / ".gitignore/a").read_text() == "a"
        assert (checkout / "packages/lib").read_text() == "b"
