"""Which folders are projects, of a work tree and of a base."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings, InvalidSuite
from runevals.run.project_folders import MOST_PROJECTS, Project, projects_in
from tests.sample_suites import SETTINGS


def found(path, base=None):
    return [(project.name, project.removed) for project in projects_in(path, base)]


def test_a_project_is_a_folder_with_a_settings_file(repository):
    for name in ("b/runevals.yml", "a/deep/runevals.yaml", "node_modules/m/runevals.yaml"):
        repository.write(name, SETTINGS)
    repository.write("c/pyproject.toml", '[tool.runevals]\ntarget = "recorded:answers.json"\n')
    repository.write("d/pyproject.toml", '[project]\nname = "d"\ndependencies = ["runevals"]\n')
    for name in (".hidden/runevals.yaml", ".github/workflows/runevals.yaml", ".claude/skills/s/runevals.yaml"):
        repository.write(name, SETTINGS)  # a skill lies where agents find it
    repository.write("ignored/runevals.yaml", SETTINGS)
    repository.write(".gitignore", "ignored/\n")
    assert projects_in(repository.path) == (
        Project(name=".", config="runevals.yaml"),
        Project(name=".claude/skills/s", config=".claude/skills/s/runevals.yaml"),
        Project(name="a/deep", config="a/deep/runevals.yaml"),
        Project(name="b", config="b/runevals.yml"),
        Project(name="c", config="c/pyproject.toml"),
    )
    assert projects_in(repository.path / "a") == (Project(name="deep", config="deep/runevals.yaml"),)


def test_what_only_the_base_has_was_removed_by_the_change(repository):
    repository.write("a/runevals.yaml", SETTINGS)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "a")
    base = repository.git("rev-parse", "HEAD")
    (repository.path / "runevals.yaml").unlink()
    (repository.path / "a" / "runevals.yaml").unlink()
    (repository.path / "a").rmdir()
    (repository.path / "a").symlink_to(".")
    repository.write("b/runevals.yaml", SETTINGS)
    assert found(repository.path, base) == [(".", True), ("a", True), ("b", False)]
    assert found(repository.path) == [("b", False)]


@pytest.mark.parametrize(
    ("before", "now", "projects"),
    [
        (["a/runevals.yaml"], {"b/runevals.yaml": "a"}, [("b", False)]),  # a move
        (["a/runevals.yaml"], {".b/runevals.yaml": "a"}, [("a", True)]),  # no project is there
        (["a/runevals.yaml", "b/runevals.yml"], {"b/runevals.yaml": "a"}, [("a", True), ("b", False)]),  # as b was
        (["a/x.yaml"], {"b/runevals.yaml": "a"}, [("b", False)]),
    ],
)
def test_a_project_that_moved_is_compared_at_its_new_place(repository, before, now, projects):
    texts = {name[0]: f"repeat: {number}\n{SETTINGS}" for number, name in enumerate(before, start=2)}
    for name in before:
        repository.write(name, texts[name[0]])
    repository.git("add", "-A")
    repository.git("commit", "-qm", "before")
    for name in before:
        (repository.path / name).unlink()
    for name, of in now.items():
        repository.write(name, texts[of])
    repository.git("add", "-A")
    there = [each for each in found(repository.path, repository.git("rev-parse", "HEAD")) if each[0] != "."]
    assert there == projects


def test_a_base_has_its_projects_in_pyproject_too(repository):
    repository.write("a/pyproject.toml", "[tool.runevals]\nrepeat = 2\n")
    repository.write("b/pyproject.toml", "[project]\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "a")
    (repository.path / "a" / "pyproject.toml").unlink()
    assert found(repository.path, repository.git("rev-parse", "HEAD")) == [(".", False), ("a", True)]


def test_a_folder_with_two_settings_files_is_refused(repository):
    repository.write("a/runevals.yaml", SETTINGS)
    repository.write("a/pyproject.toml", "[tool.runevals]\nrepeat = 2\n")
    with pytest.raises(InvalidSuite, match=r"a/runevals\.yaml: has settings, and so does a/pyproject\.toml"):
        projects_in(repository.path)


def test_none_and_too_many_are_refused(project):
    (project.path / ".git").rmdir()
    with pytest.raises(InvalidSettings, match="no folder of"):
        projects_in(project.path)
    for number in range(MOST_PROJECTS):
        project.write(f"p{number}/runevals.yaml", SETTINGS)
    assert len(projects_in(project.path)) == MOST_PROJECTS
    project.write("one-more/runevals.yaml", SETTINGS)
    with pytest.raises(InvalidSettings, match="one run has 40 at most"):
        projects_in(project.path)
