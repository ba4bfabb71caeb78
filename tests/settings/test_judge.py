"""The judges that settings name."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.settings.judge import judges_label
from runevals.settings.resolve import RawSettings, resolve


def judges(project, text, **flags):
    project.write("runevals.yaml", text)
    return resolve(RawSettings(flags=flags, cwd=project.path, environment={})).judges


def test_several_judges_have_one_label(project):
    both = judges(project, "judges: [openai:a, {type: anthropic, model: b, votes: 3}]")
    assert [(judge.type, judge.votes) for judge in both] == [("openai", 1), ("anthropic", 3)]
    assert (judges_label(both), judges_label(both[:1]), judges_label(())) == ("a + b", "a", None)


@pytest.mark.parametrize(
    ("text", "flags", "reason"),
    [
        ("judge: {type: openai}", {}, "the judge has no model"),
        ("judge: {type: recorded}", {}, "the recorded judge needs a file"),
        ("judge: {type: recorded, path: runevals.yaml, votes: 2}", {}, "one judgement of each answer"),
        ("judges: [openai:a, openai:b]", {"judge_model": "c"}, "there are several judges"),
    ],
)
def test_what_cannot_judge_is_a_usage_error(project, text, flags, reason):
    with pytest.raises(InvalidSettings, match=reason):
        judges(project, text, **flags)
