"""Which skill an agent loaded, by its calls, and what cannot be known of one that it did not load."""

from __future__ import annotations

import pytest

from runevals.records import ToolCall
from tests.evaluators.subjects import NOT_REPORTED, called, checked, refused


def agent(*calls, ok=None, skills=("pdf", "docx")):
    """An answer of an agent that had these skills."""
    made = (ToolCall(name=name, input=given, ok=ok) for name, given in calls)
    return called(*made, skills=skills)


def alone(*calls):
    return agent(*calls, skills=("pdf",))


@pytest.mark.parametrize(
    ("options", "subject", "passes"),
    [
        ({"skill": "pdf"}, agent(("Skill", {"skill": "pdf"})), True),
        ({"skill": "pdf"}, agent(("Skill", {"command": "office:PDF"})), True),  # of a plugin
        ({"skill": "pdf"}, agent(("activate_skill", {"name": "pdf"})), True),
        ({"skill": "pdf"}, agent(("Skill", {"skill": "pdf-forms"})), False),
        ({"skill": "pdf"}, agent(("Read", {"path": "/x/.claude/skills/pdf/SKILL.md"})), True),
        ({"skill": "pdf"}, agent(("shell", {"command": "cat skills/pdf/SKILL.md"})), True),
        ({"skill": "pdf"}, agent(("Read", {"path": "skills/old-pdf/SKILL.md"})), False),
        ({"skill": "pdf"}, agent(("Read", {"path": "skills/pdf/notes.md"})), False),
        ({"skill": "pdf"}, agent(("Read", {"path": "SKILL.md"})), False),  # of which skill?
        ({"skill": "pdf"}, alone(("Read", {"path": "SKILL.md"})), True),
        ({"skill": "pdf"}, alone(("shell", {"command": "cat ./SKILL.md"})), True),
        ({"skill": "pdf"}, alone(("Read", {"path": "skills/other/SKILL.md"})), False),
        ({"skill": "pdf"}, agent(("Skill", {"skill": "pdf"}), ok=False), False),  # it failed
        ({"skill": "pdf"}, agent(), False),
        ({"skill": "pdf", "should_trigger": False}, agent(), True),
        ({"skill": "pdf", "should_trigger": False}, agent(("Skill", {"skill": "pdf"})), False),
        ({"skill": "pdf", "should_trigger": False}, called(), None),  # had it at all?
        ({"skill": "xls", "should_trigger": False}, agent(), None),  # it was not installed
        ({"skill": "pdf", "should_trigger": False}, agent(("shell", None)), None),
        ({"skill": "pdf"}, NOT_REPORTED, None),
    ],
)
def test_it_passes_or_fails_or_has_no_evidence(options, subject, passes):
    assert checked("skill_triggered", options, subject) is passes


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"skill": ""}, "skill is blank"),
    ],
)
def test_bad_options_are_named(options, told):
    assert told in refused("skill_triggered", options)
