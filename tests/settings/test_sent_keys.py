"""Which variables a settings file may have sent."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.settings.sent_keys import names_in, require_sendable

AROUND = {"CI": "true", "DEPLOY_KEY": "deploy-key-1", "OPENAI_API_KEY": "sk-1"}


def allowed(name="DEPLOY_KEY", base=None, *, of_change=False, **environment):
    try:
        told = {**AROUND, **environment}
        require_sendable([name], told, base or {}, what="target", of_change=of_change)
    except InvalidSettings:
        return False
    return True


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, False),
        ({"name": "OPENAI_API_KEY"}, True),
        ({"CI": ""}, True),
        ({"DEPLOY_KEY": ""}, True),
        ({"base": {"target": {"api_key_env": "DEPLOY_KEY"}}}, True),
        ({"base": {"judge": [{"model": "m"}, {"api_key_env": "DEPLOY_KEY"}]}}, True),
        ({"base": {"target": {"api_key_env": "OTHER_KEY"}}}, False),
        ({"RUNEVALS_API_KEY_ENV": "A_KEY, DEPLOY_KEY"}, True),
        ({"RUNEVALS_API_KEY_ENV": "DEPLOY"}, False),
        ({"GITHUB_EVENT_NAME": "push"}, True),
        ({"GITHUB_EVENT_NAME": "push", "of_change": True}, False),
        ({"GITHUB_EVENT_NAME": "pull_request"}, False),
        ({"GITHUB_EVENT_NAME": "issue_comment"}, False),
    ],
)
def test_a_name_is_allowed_by_the_base_the_workflow_or_the_event(told, expected):
    assert allowed(**told) is expected


def test_the_message_says_what_to_do():
    with pytest.raises(InvalidSettings, match=r"target: DEPLOY_KEY stands .*RUNEVALS_API_KEY_ENV=DEPLOY_KEY"):
        require_sendable(["DEPLOY_KEY"], AROUND, {}, what="target", of_change=True)


def test_names_are_those_of_target_and_judges():
    target = {"api_key_env": "A", "headers": {"X": {"env": "B"}, "Y": "text"}}
    assert list(names_in({"target": target, "judge": {"api_key_env": "C"}})) == ["A", "B", "C"]
    assert list(names_in({"target": "openai:m", "judge": "m"})) == []
