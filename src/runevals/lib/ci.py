"""Whether this is a job of a CI system, and whether the job may be one of a change."""

from __future__ import annotations

from collections.abc import Mapping

# What CI systems set, each by itself: a workflow may empty `CI`.
MARKS = (
    *("CI", "GITHUB_ACTIONS", "GITHUB_EVENT_NAME", "GITLAB_CI", "TF_BUILD", "JENKINS_URL", "BUILDKITE"),
    *("TEAMCITY_VERSION", "CODEBUILD_BUILD_ID", "CIRCLECI", "BITBUCKET_BUILD_NUMBER", "TRAVIS", "APPVEYOR"),
)
# The variable with the reason of a job → the reasons at which settings and workflow are of one commit, so that
# the author of one could write the other. The first that is set decides.
_OF_ONE_COMMIT: Mapping[str, frozenset[str]] = {
    "GITHUB_EVENT_NAME": frozenset({"push", "schedule", "workflow_dispatch"}),
    "CI_PIPELINE_SOURCE": frozenset({"push", "schedule", "web", "api", "trigger"}),
    "BUILD_REASON": frozenset({"IndividualCI", "BatchedCI", "Schedule", "Manual"}),
}


def in_ci(environment: Mapping[str, str]) -> bool:
    """Whether a CI system runs this, whatever value its variable has."""
    return any(map(environment.get, MARKS))


def may_be_change(environment: Mapping[str, str], *, has_base: bool) -> bool:
    """Whether a CI system runs this for a change; `has_base`: there certainly is one, as its base is known."""
    reason = next((name for name in _OF_ONE_COMMIT if environment.get(name)), None)
    return in_ci(environment) if has_base or reason is None else environment[reason] not in _OF_ONE_COMMIT[reason]
