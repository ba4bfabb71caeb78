"""Which environments are those of a CI system, and of a change in one."""

from __future__ import annotations

import pytest

from runevals.lib.ci import MARKS, in_ci, may_be_change


@pytest.mark.parametrize("name", MARKS)
def test_each_variable_of_a_ci_system_is_enough(name):
    """A workflow may set `CI` to nothing."""
    assert in_ci({"CI": "", name: "false"})
    assert may_be_change({"CI": "", name: "false"}, has_base=True)


@pytest.mark.parametrize("environment", [{}, {"CI": ""}, {"HOME": "/home/me"}], ids=str)
def test_a_laptop_is_no_ci_system(environment):
    assert not in_ci(environment)
    assert not may_be_change(environment, has_base=True)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"GITHUB_EVENT_NAME": "pull_request"}, True),
        ({"GITHUB_EVENT_NAME": "merge_group"}, True),
        ({"GITHUB_EVENT_NAME": "issue_comment"}, True),
        ({"GITHUB_EVENT_NAME": "push"}, False),
        ({"GITHUB_EVENT_NAME": "schedule"}, False),
        ({"GITHUB_EVENT_NAME": "workflow_dispatch"}, False),
        ({"CI_PIPELINE_SOURCE": "merge_request_event"}, True),
        ({"CI_PIPELINE_SOURCE": "push"}, False),
        ({"BUILD_REASON": "PullRequest"}, True),
        ({"BUILD_REASON": "BatchedCI"}, False),
        ({"BUILDKITE": "true"}, True),
    ],
    ids=str,
)
def test_the_event_says_whether_it_may_be_a_change(environment, expected):
    assert may_be_change({"CI": "true", **environment}, has_base=False) is expected
    assert may_be_change({"CI": "true", **environment}, has_base=True)
