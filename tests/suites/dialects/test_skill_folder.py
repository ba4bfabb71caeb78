"""What is wrong with a `SKILL.md` is said of its line, and stops no run."""

from __future__ import annotations

import pytest

from runevals.suites.dialects import LoadOptions, load

SUITE = {"skill_name": "notes", "evals": [{"id": 1, "prompt": "Write", "expected_output": "Notes"}]}


@pytest.mark.parametrize(
    ("skill", "told"),
    [
        ("# Notes\n", "SKILL.md:1: warning: has no front matter; begin it with lines '---', 'name: …'"),
        ("---\nname: notes\n", "SKILL.md:1: warning: does not end its front matter"),
        ("", "SKILL.md:1: warning: has no front matter"),
        ("---\nname: notes\n---\n", "SKILL.md:1: warning: the front matter has no description, which agents"),
        ("---\n- a\n---\n", "SKILL.md:1: warning: the front matter has no name and no description"),
        ("---\nname: notes\nname: other\ndescription: d\n---\n", "SKILL.md:3:1: warning: duplicate key 'name'"),
        (
            "---\nname: other\ndescription: d\n---\n",
            "/skill_name notice: is 'notes', but the skill's SKILL.md says",
        ),
    ],
)
def test_what_is_wrong_with_the_skill_is_named_with_its_line(project, skill, told):
    project.write("SKILL.md", skill)
    project.write("evals/evals.json", SUITE)
    suite = load(project.path / "evals/evals.json", "evals/evals.json", LoadOptions(root=project.path))
    said = [str(problem) for problem in suite.problems]
    assert [line for line in said if told in line], said
    assert suite.errors == ()


def test_a_skill_outside_of_the_repository_is_not_looked_at(project):
    project.write("SKILL.md", "# Not ours\n")
    project.write("repository/evals/evals.json", SUITE)
    root = project.path / "repository"
    suite = load(root / "evals/evals.json", "evals/evals.json", LoadOptions(root=root))
    assert (suite.name, suite.skill) == ("notes", None)
    told = "SKILL.md:1: warning: there is no such file; evals/ beside it is for the skill 'notes'"
    assert [str(problem) for problem in suite.problems] == [told]


@pytest.mark.parametrize(
    ("skills", "found"),
    [
        (["plugins/office/skills/notes"], "plugins/office/skills/notes"),
        (["skills/writing/notes"], "skills/writing/notes"),
        ([".github/skills/notes", "skills/notes"], "skills/notes"),
        (["plugins/a/skills/notes", "plugins/b/skills/notes"], None),
        (["plugins/a/skills/other"], None),
    ],
)
def test_the_skill_of_a_suite_elsewhere_is_found_wherever_skills_are(project, skills, found):
    for skill in skills:
        project.write(f"{skill}/SKILL.md", "---\nname: notes\ndescription: d\n---\n")
    project.write("evals/notes/evals.json", SUITE)
    suite = load(project.path / "evals/notes/evals.json", "e", LoadOptions(root=project.path))
    assert suite.skill == (None if found is None else project.path / found)


@pytest.mark.parametrize(("name", "warned"), [("log", False), ("changelog", True)])
def test_a_skill_whose_folder_has_another_name_is_warned_about(project, name, warned):
    """The standard wants them equal, and agents know a skill by either."""
    project.write("skills/log/SKILL.md", f"---\nname: {name}\ndescription: d\n---\n")
    project.write("skills/log/evals/evals.json", {**SUITE, "skill_name": name})
    path = "skills/log/evals/evals.json"
    suite = load(project.path / path, path, LoadOptions(root=project.path))
    line = "skills/log/SKILL.md:1: warning: the name is 'changelog', its folder's is 'log'; agents want them equal"
    assert [str(problem) for problem in suite.problems] == [line] * warned
