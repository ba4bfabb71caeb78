"""Which variables a settings file may have sent."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.settings.sent_keys import SentKeys, require_sendable, sent_by

AROUND = {"CI": "true", "DEPLOY_KEY": "deploy-key-1", "OPENAI_API_KEY": "sk-1"}


HERE = "https://api.openai.com"


def allowed(
    name="DEPLOY_KEY", base=None, origin=HERE, *, default="OPENAI_API_KEY", of_change=False, **environment
):
    try:
        sent = SentKeys(names=[name], origin=origin, default=default)
        require_sendable(sent, {**AROUND, **environment}, base or {}, what="target", of_change=of_change)
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


@pytest.mark.parametrize(
    ("base", "origin", "expected"),
    [
        ({"type": "openai"}, HERE, True),
        ({"type": "openai"}, "https://other.example", False),
        ({"type": "openai", "base_url": "https://other.example/v1"}, "https://other.example", True),
        ({"type": "openai", "base_url": "https://other.example/v1"}, HERE, False),
        ({"type": "http", "url": "https://agent.example/v1"}, HERE, False),
        ({"type": "http", "url": "https://agent.example/v1"}, "https://agent.example", True),
        ({"type": "http", "url": "no address"}, "https://agent.example", False),
    ],
)
def test_it_is_sent_only_where_the_base_sends_it(base, origin, expected):
    assert allowed(base={"target": {**base, "api_key_env": "DEPLOY_KEY"}}, origin=origin) is expected


def test_a_preview_that_the_workflow_names_is_where_the_base_would_send_it():
    base = {"target": {"type": "http", "url": "https://agent.example/", "headers": {"X": {"env": "DEPLOY_KEY"}}}}
    preview = {"RUNEVALS_TARGET_URL": "https://preview.example/"}
    assert allowed(base=base, origin="https://preview.example", default=None, **preview)
    assert not allowed(base={}, origin="https://preview.example", default=None, **preview)
    assert not allowed("OPENAI_API_KEY", origin="https://preview.example", default=None, **preview)


def test_the_message_says_what_to_do():
    sent = SentKeys(names=["DEPLOY_KEY"], origin=HERE)
    with pytest.raises(InvalidSettings, match=r"target: DEPLOY_KEY .* sent to https://api.*_ENV=DEPLOY_KEY\)"):
        require_sendable(sent, AROUND, {}, what="target", of_change=True)


def test_names_are_those_of_target_and_judges():
    target = {"type": "openai", "api_key_env": "A", "headers": {"X": {"env": "B"}, "Y": "text"}}
    found = sent_by({"target": target, "judge": {"api_key_env": "C"}}, {})
    assert list(found) == [("A", HERE), ("B", HERE), ("C", HERE)]
    assert list(sent_by({"target": "openai:m", "judge": "m"}, {})) == []
