"""Which folders are projects, of a work tree and of a base."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.run.project_folders import MOST_PROJECTS, Project, projects_in
from tests.sample_suites import SETTINGS


def found(path, base=None):
    return [(project.name, project.removed) for project in projects_in(path, base)]


def test_a_project_is_a_folder_with_a_settings_file(repository):
    for name in ("b/runevals.yml", "b/runevals.yaml", "a/deep/runevals.yaml", "node_modules/m/runevals.yaml"):
        repository.write(name, SETTINGS)
    repository.write(".hidden/runevals.yaml", SETTINGS)
    repository.write("ignored/runevals.yaml", SETTINGS)
    repository.write(".gitignore", "ignored/\n")
    assert projects_in(repository.path) == (
        Project(name=".", config="runevals.yaml"),
        Project(name="a/deep", config="a/deep/runevals.yaml"),
        Project(name="b", config="b/runevals.yaml"),
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
