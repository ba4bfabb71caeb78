"""The skill that a suite is for, its files, and what of a suite never happens."""

from __future__ import annotations

import pytest

from runevals.suites.dialects import LoadOptions, load
from tests.ending import ended

SKILL = "---\nname: notes\ndescription: Writes notes\n---\n\n# Notes\n"
SUITE = {"skill_name": "notes", "evals": [{"id": 1, "prompt": "Write", "expected_output": "Notes"}]}
TRIGGERS = [{"query": "Write", "should_trigger": True}]


def read(project, name="evals/evals.json"):
    path = project.path / name
    return load(path, name, LoadOptions(root=project.path))


def problems(suite):
    return [str(problem) for problem in suite.problems]


def test_a_suite_is_named_for_the_skill_above_it(project):
    project.write("skills/notes/SKILL.md", SKILL)
    project.write("skills/notes/evals/evals.json", SUITE)
    project.write("skills/notes/evals/trigger-evals.json", TRIGGERS)
    suite = read(project, "skills/notes/evals/evals.json")
    assert (suite.name, suite.path, suite.dialect) == ("notes", "skills/notes/evals/evals.json", "agent-skills")
    assert suite.skill == project.path / "skills/notes"
    assert project.path / "skills/notes/SKILL.md" in suite.files
    assert problems(suite) == []
    triggers = read(project, "skills/notes/evals/trigger-evals.json")
    assert triggers.name == "notes triggers"
    assert triggers.cases[0].turns[0].checks[0].options == {"skill": "notes", "should_trigger": True}


def test_what_is_wrong_is_not_warned_of_as_well(project):
    project.write("notes/SKILL.md", SKILL)
    project.write("notes/evals/evals.json", {**SUITE, "scenarios": [{"prompt": "Sing"}], "models": ["m"]})
    suite = read(project, "notes/evals/evals.json")
    assert [(one.level, one.pointer) for one in suite.problems if one.pointer] == [
        ("error", "/scenarios"),
        ("warning", "/models"),
    ]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({"query": "Write", "should_triger": True}, "'should_triger' is not read; did you mean 'should_trigger'?"),
        (
            {"query": "Write", "should_trigger": "no"},
            "'no' is text, and would be the name of a skill",
        ),
        ({"qurey": "Write", "should_trigger": True}, "has no 'query', which is what is sent; 'qurey' is not read"),
    ],
)
def test_misspelt_trigger_queries_are_refused_with_the_place(project, query, problem):
    """Also if it is misspelt in all of them, so that only the name of the file says what they are."""
    project.write("evals/trigger-evals.json", [query])
    (found,) = read(project, "evals/trigger-evals.json").errors
    assert problem in str(found)


def test_each_key_that_is_not_read_is_named_unless_it_describes(project, runevals):
    unread = {"context": "three items", "system_prompt": "Be kind.", "foo": "y"}
    case = {**SUITE["evals"][0], **unread, "why": "it failed", "description": "notes", "author": "ana"}
    project.write("evals/evals.json", {"skill_name": "notes", "evals": [case]})
    code, out, err = runevals("validate", "evals/evals.json")
    assert (code, [key for key in case if f"'{key}' is not read" in err]) == (0, [*unread])
    ended(code, 0, out, "⚠ evals/evals.json", "; 3 keys not read")


def test_a_note_about_a_check_or_a_trigger_is_not_a_misspelt_key(project):
    queries = [{"query": "Write", "should_trigger": yes, "should_trigger_why": "near"} for yes in (True, False)]
    project.write("evals/trigger-evals.json", queries)
    project.write("evals/evals.json", {"evals": [{**SUITE["evals"][0], "expectations_note": "from ana"}]})
    for name in ("trigger-evals.json", "evals.json"):
        suite = read(project, f"evals/{name}")
        assert not suite.errors
        assert "did you mean" in str(suite.problems)


def test_a_suite_beside_the_skills_finds_its_skill_by_name(project):
    project.write("skills/notes/SKILL.md", SKILL)
    project.write("evals/notes/evals.json", {"evals": SUITE["evals"]})
    assert read(project, "evals/notes/evals.json").skill == project.path / "skills/notes"


def test_without_a_skill_the_folder_names_the_suite(project):
    project.write("notes/evals/evals.json", {"evals": SUITE["evals"]})
    suite = read(project, "notes/evals/evals.json")
    assert (suite.name, suite.skill) == ("notes", None)


def test_files_are_found_from_the_skill_then_from_the_suite_then_from_the_repository(project):
    project.write("skills/notes/SKILL.md", SKILL)
    for name in ("skills/notes/a.txt", "skills/notes/evals/a.txt", "skills/notes/evals/b.txt", "c.txt"):
        project.write(name, name)
    case = {**SUITE["evals"][0], "files": ["a.txt", "b.txt", "./c.txt", "evals"]}
    project.write("skills/notes/evals/evals.json", {**SUITE, "evals": [case]})
    (found,) = read(project, "skills/notes/evals/evals.json").cases
    here = project.path / "skills/notes"
    assert found.problem is None
    assert found.files == {
        "a.txt": here / "a.txt",
        "b.txt": here / "evals/b.txt",
        "c.txt": project.path / "c.txt",
        "evals": here / "evals",
    }


@pytest.mark.parametrize(
    "name", ["gone.pdf", "/etc/hostname", "../../outside.txt", "link.txt", ".git/config", "~/x"]
)
def test_a_missing_file_is_a_warning_and_its_case_is_errored(project, tmp_path, name):
    (tmp_path / "outside.txt").write_text("not ours", encoding="utf-8")
    project.write("SKILL.md", SKILL)
    project.write(".git/config", "[remote]")
    (project.path / "link.txt").symlink_to("/etc/hostname")
    project.write("evals/evals.json", {**SUITE, "evals": [{**SUITE["evals"][0], "files": [name]}]})
    suite = read(project)
    assert "warning: there is no file" in problems(suite)[0]
    assert (suite.cases[0].problem.code, suite.cases[0].files) == ("file_missing", {})


def test_another_file_makes_it_another_case(project):
    project.write("evals/evals.json", {**SUITE, "evals": [{**SUITE["evals"][0], "files": ["data"]}]})
    project.write("data/a.txt", "one")
    before = read(project).cases[0].fingerprint
    assert read(project).cases[0].fingerprint == before
    project.write("data/a.txt", "two")
    assert read(project).cases[0].fingerprint != before


def test_a_change_of_the_skill_changes_no_case(project):
    project.write("SKILL.md", SKILL)
    project.write("evals/evals.json", SUITE)
    before = read(project).fingerprint
    project.write("SKILL.md", SKILL + "More.\n")
    assert read(project).fingerprint == before
