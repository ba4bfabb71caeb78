"""Where suites of skills are found, which of them run, and what is no suite."""

from __future__ import annotations

import pytest

from tests.ending import ended

SKILL = "---\nname: {}\ndescription: d\n---\n"
SUITE = {
    "skill_name": "notes",
    "evals": [{"id": 1, "prompt": "Write", "assertions": [{"type": "contains", "value": "a"}]}],
}
TRIGGERS = [{"query": "Write", "should_trigger": True}, {"query": "Hello", "should_trigger": False}]
OURS = {
    "schemaVersion": "1.2.0",
    "items": [{"testId": "k", "prompt": "?", "evaluators": {"contains": {"value": "a"}}}],
}


def found(runevals, *arguments):
    """The suites that `validate` read, and everything that it said."""
    code, out, err = runevals("validate", *arguments)
    assert code == 0, err
    return [line.split(":")[0].removeprefix("✓ ") for line in out.splitlines() if "✓" in line], out + err


@pytest.mark.parametrize(
    "place",
    [
        *("evals/evals.json", "skill/evals/evals.json", "skills/notes/evals/evals.json", "notes/evals.json"),
        *(
            ".claude/skills/notes/evals/evals.json",
            ".agents/skills/notes/evals/evals.json",
            ".cursor/skills/notes/evals/evals.json",
            ".opencode/skill/notes/evals/evals.json",
            ".opencode/skills/notes/evals/evals.json",
            "evals/notes/evals.json",
        ),
        *("plugins/office/skills/notes/evals/evals.json", "notes/evals/evals.json", "evals/trigger-eval.json"),
    ],
)
def test_a_repository_with_nothing_else_runs_them(project, runevals, place):
    folder = place.partition("evals")[0]
    project.write(f"{folder}SKILL.md", SKILL.format("notes"))
    project.write(place, TRIGGERS if "trigger" in place else SUITE)
    assert found(runevals)[0] == [place]


def test_every_skill_is_a_suite_with_its_triggers(project, runevals):
    for name in ("a", "b"):
        project.write(f"skills/{name}/SKILL.md", SKILL.format(name))
        project.write(f"skills/{name}/evals/evals.json", {**SUITE, "skill_name": name})
        project.write(f"skills/{name}/evals/trigger_evals.json", TRIGGERS)
    suites, _ = found(runevals)
    assert suites == [f"skills/{s}/evals/{f}.json" for s in ("a", "b") for f in ("evals", "trigger_evals")]
    assert found(runevals, "skills/b")[0] == suites[2:]
    assert found(runevals, "skills")[0] == suites


def test_the_triggers_of_the_skill_at_the_root_run_with_its_suite(project, runevals):
    project.write("SKILL.md", SKILL.format("notes"))
    project.write("evals/evals.json", SUITE)
    project.write("evals/trigger-evals.json", TRIGGERS)
    assert found(runevals)[0] == ["evals/evals.json", "evals/trigger-evals.json"]


def test_nothing_is_taken_from_workspaces_packages_and_results(project, runevals):
    project.write("skills/a/SKILL.md", SKILL.format("a"))
    project.write("skills/a/evals/evals.json", SUITE)
    for folder in ("skills/a-workspace", "skills/node_modules", "node_modules/x", "a-workspace", "skills/.old"):
        project.write(f"{folder}/SKILL.md", SKILL.format("old"))
        project.write(f"{folder}/evals/evals.json", SUITE)
    for name in ("grading", "benchmark", "eval_metadata"):
        project.write(f"evals/{name}.json", {"eval_id": 1, "prompt": "Write", "assertions": []})
    suites, said = found(runevals)
    assert suites == ["skills/a/evals/evals.json"]
    assert "grading" not in said
    assert "eval_metadata" not in said


def test_of_several_formats_the_run_says_what_it_took(project, runevals):
    project.write("evals.json", OURS)
    project.write("skills/a/SKILL.md", SKILL.format("a"))
    project.write("skills/a/evals/evals.json", SUITE)
    suites, said = found(runevals)
    assert suites == ["evals.json"]
    assert "also found, not run: skills/a/evals/evals.json (--all runs them)" in said
    assert found(runevals, "--all")[0] == ["evals.json", "skills/a/evals/evals.json"]


def test_of_many_other_suites_a_few_are_named(project, runevals):
    project.write("evals.json", OURS)
    for number in range(20):
        project.write(f"skills/s{number:02}/evals/evals.json", SUITE)
    assert "skills/s07/evals/evals.json and 12 more (--all runs them)" in found(runevals)[1]


def test_a_trigger_file_in_its_own_words_is_left_out_with_a_notice(project, runevals):
    project.write("SKILL.md", SKILL.format("notes"))
    project.write("evals/evals.json", SUITE)
    project.write("evals/trigger-evals.json", {"skill": "notes", "cases": [{"prompt": "?", "label": "yes"}]})
    suites, said = found(runevals)
    assert suites == ["evals/evals.json"]
    assert "skipped: not a suite file: evals/trigger-evals.json" in said
    (project.path / "evals/evals.json").unlink()
    code, _, err = runevals("validate")
    ended(
        code, 2, err, "none of the files there is a suite", "skipped: not a suite file: evals/trigger-evals.json"
    )


def test_skills_of_one_name_are_told_apart_by_their_folders(project, runevals):
    for place in ("skills/notes", ".claude/skills/notes"):
        project.write(f"{place}/SKILL.md", SKILL.format("notes"))
        project.write(f"{place}/evals/evals.json", SUITE)
    project.write("answers.jsonl", '{"case": "1", "output": "a"}\n')
    code, out, err = runevals("--target", "recorded:answers.jsonl", "-o", "out.json")
    ended(code, 0, out + err, "2 cases")
    names = [suite["name"] for suite in project.document()["run"]["suites"]]
    assert names == ["notes (skills/notes/evals)", "notes (.claude/skills/notes/evals)"]


def test_a_repository_with_only_a_skill_is_run_planned_and_compared(project, runevals):
    project.write("SKILL.md", SKILL.format("notes"))
    project.write("evals/evals.json", SUITE)
    project.write("agent.py", "def answer(prompt):\n    return 'a'\n")
    code, out, err = runevals("run", "--target", "python:agent.py:answer", "-o", "out.json")
    ended(code, 0, out + err, "1 case")
    assert project.document()["run"]["suites"][0]["name"] == "notes"
    code, out, err = runevals("plan")
    ended(code, 0, out + err, "evals/evals.json  1 case  (agent-skills)")


def test_what_a_target_cannot_answer_is_errored_or_left_out(project, runevals):
    project.write("SKILL.md", SKILL.format("notes"))
    project.write("a.txt", "a")
    case = {**SUITE["evals"][0], "files": ["a.txt"]}
    project.write("evals/evals.json", {**SUITE, "evals": [SUITE["evals"][0] | {"id": 2}, case]})
    project.write("evals/trigger-evals.json", TRIGGERS)
    project.write("agent.py", "def answer(prompt):\n    return 'a'\n")
    runevals("run", "--target", "python:agent.py:answer", "-o", "out.json")
    cases = {case["key"]: case["status"] for case in project.document()["cases"]}
    assert (cases.pop("1"), cases.pop("2")) == ("passed", "passed")  # the files are in the folder it works in
    assert set(cases.values()) == {"errored"}  # it does not report skills
    models = ("--target", "openai:m"), ("--model", "openai/m", "--model", "openai/n")
    for some in models:
        code, out, err = runevals("plan", *some)
        ended(code, 0, out + err, "not run: evals/trigger-evals.json: it asks which skill is loaded")


def test_a_list_of_triggers_beside_the_suite_of_a_skill_that_lies_deeper_is_run(project, runevals):
    project.write("plugins/office/skills/notes/SKILL.md", SKILL.format("notes"))
    project.write("evals/evals.json", SUITE)
    project.write("evals/trigger-evals.json", {"skill_name": "notes", "queries": TRIGGERS})
    assert found(runevals)[0] == ["evals/evals.json", "evals/trigger-evals.json"]
