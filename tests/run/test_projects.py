"""Which folders are projects, of a work tree and of a base, and what is refused."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.run.projects import MOST_PROJECTS, Project, in_words, projects_in, require_apart, worst
from runevals.settings.resolve import RawSettings
from tests.sample_suites import SETTINGS, SUITE


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


def test_a_suite_of_two_projects_is_refused_with_its_place(repository):
    repository.write("a/runevals.yaml", "suites: [../evals.json]\n")
    repository.write("broken/runevals.yaml", "suites: [\n")
    repository.write("empty/runevals.yaml", "{}\n")
    told = RawSettings(cwd=repository.path, environment={})
    with pytest.raises(InvalidSettings) as refused:
        require_apart(projects_in(repository.path), told)
    assert str(refused.value).startswith(
        "evals.json: is a suite of two projects, runevals.yaml and a/runevals.yaml; "
    )
    repository.write("a/runevals.yaml", "suites: [evals.json]\n")
    repository.write("a/evals.json", SUITE)
    require_apart(projects_in(repository.path), told)


def test_one_exit_code_and_one_sentence():
    assert worst([1, 130, 0]) == 130
    assert in_words({"a": 130, "b": 1}) == "1 of 2 projects interrupted: a; 1 failed: b"
    assert [worst(codes) for codes in ([0, 3, 1, 2], [3, 2, 0], [0, 4], [3, 0], [0])] == [1, 2, 4, 3, 0]
    assert in_words({"a": 0, "b": 0}) == "2 projects passed"
    assert in_words({"a": 0, "b": 1, "c": 3}) == "1 of 3 projects failed: b; 1 not measured: c; 1 passed"
