"""Which variables a settings file may have sent."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.settings.sent_keys import SentKeys, require_sendable, sent_by

AROUND = {"CI": "true", "DEPLOY_KEY": "deploy-key-1", "OPENAI_API_KEY": "sk-1"}


HERE = "https://api.openai.com/v1"


def allowed(
    name="DEPLOY_KEY",
    base=None,
    address=HERE,
    *,
    header="authorization",
    default="OPENAI_API_KEY",
    of_change=False,
    **environment,
):
    try:
        sent = SentKeys(names=[(name, header)], address=address, default=default)
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
    ("base", "address", "expected"),
    [
        ({"type": "openai"}, HERE, True),
        ({"type": "openai"}, "https://other.example/v1", False),
        ({"type": "openai", "base_url": "https://other.example/v1"}, "https://other.example/v1/", True),
        ({"type": "openai", "base_url": "https://other.example/a/v1"}, "https://other.example/b/v1", False),
        ({"type": "openai", "base_url": "https://other.example/v1"}, HERE, False),
        ({"type": "http", "url": "https://agent.example/v1"}, HERE, False),
        ({"type": "http", "url": "https://agent.example/v1"}, "https://agent.example/v1?a=b", True),
        ({"type": "http", "url": "https://agent.example/v1"}, "https://agent.example/v2", False),
        ({"type": "http", "url": "no address"}, "https://agent.example/v1", False),
    ],
)
def test_it_is_sent_only_where_the_base_sends_it(base, address, expected):
    assert allowed(base={"target": {**base, "api_key_env": "DEPLOY_KEY"}}, address=address) is expected


def test_a_preview_that_the_workflow_names_is_where_the_base_would_send_it():
    base = {"target": {"type": "http", "url": "https://agent.example/", "headers": {"X": {"env": "DEPLOY_KEY"}}}}
    preview = {"RUNEVALS_TARGET_URL": "https://preview.example/"}
    at = {"address": "https://preview.example/", "header": "x", "default": None, **preview}
    assert allowed(base=base, **at)
    assert not allowed(base=base, **{**at, "header": "x-other"})
    assert not allowed(base={}, **at)
    assert not allowed("OPENAI_API_KEY", **at)


def test_the_message_says_what_to_do():
    sent = SentKeys(names=[("DEPLOY_KEY", "x-key")], address=f"{HERE}?secret=1")
    told = r"target: DEPLOY_KEY .* sent to https://api[^?]*/v1 in the header x-key; .*_ENV=DEPLOY_KEY\)"
    with pytest.raises(InvalidSettings, match=told):
        require_sendable(sent, AROUND, {}, what="target", of_change=True)


def test_names_are_those_of_target_and_judges():
    target = {"type": "openai", "api_key_env": "A", "headers": {"X": {"env": "B"}, "Y": "text"}}
    found = sent_by({"target": target, "judge": {"api_key_env": "C"}}, {})
    assert [(one.names, one.address) for one in found] == [
        ({("A", "authorization"), ("B", "x")}, HERE),
        ({("C", "authorization")}, HERE),
    ]
    assert list(sent_by({"target": "openai:m", "judge": "m"}, {})) == []
