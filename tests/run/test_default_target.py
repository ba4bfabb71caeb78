"""What the suites say of the target."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.run.against import _target_without_skill
from runevals.run.default_target import with_target
from runevals.run.request import RunRequest

EVALS = {"evals": [{"id": 1, "prompt": "Why?", "expected_output": "A reason"}]}


@pytest.mark.parametrize(
    ("settings", "installed"),
    [
        ({}, ["one", "two"]),
        ({"skills": []}, []),
        ({"skills": ["skills/two"]}, ["two"]),
    ],
)
def test_an_agent_has_the_skills_of_its_suites_unless_the_settings_name_others(project, settings, installed):
    for name in ("one", "two"):
        project.write(f"skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: d\n---\n")
        project.write(f"skills/{name}/evals/evals.json", {"skill_name": name, **EVALS})
    project.write("runevals.yaml", {"target": {"type": "codex", **settings}})
    request = RunRequest.of(cwd=project.path)
    settled = with_target(request.settings, request.suites.suites)
    assert [skill.name for skill in settled.target.agent.skills] == installed
    assert with_target(settled, ()) == settled  # those of other suites do not take their place
    assert {project.path.resolve() / f"skills/{name}" for name in installed} <= set(settled.target.files)
    if installed:
        assert _target_without_skill(settled.target, request.suites).agent.skills == ()


@pytest.mark.parametrize(
    ("suite", "settings", "refused"),
    [
        ({"skill_name": "notes"}, {}, True),
        ({"skill": "notes"}, {}, True),
        ({"skill_name": "notes"}, {"skills": []}, False),
        ({"agent_name": "notes"}, {}, False),
        ({}, {}, False),
    ],
)
def test_an_agent_is_not_run_without_the_skill_that_a_suite_names(project, suite, settings, refused):
    """Its cases would be the same whatever a change does to the skill."""
    project.write("evals/evals.json", {**suite, **EVALS})
    project.write("runevals.yaml", {"target": {"type": "codex", **settings}})
    request = RunRequest.of(cwd=project.path)
    if refused:
        with pytest.raises(InvalidSettings, match=r"evals\.json is for the skill notes, and no SKILL\.md of it"):
            with_target(request.settings, request.suites.suites)
    else:
        assert with_target(request.settings, request.suites.suites).target.agent.skills == ()
