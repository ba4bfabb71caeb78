"""What programs are given of our environment."""

from __future__ import annotations

from runevals.targets.environment import bare, cleaned

JOB = {
    "PATH": "/bin",
    "LC_ALL": "C",
    "https_proxy": "p",
    "OPENAI_API_KEY": "k",
    "HOME": "/root",
    "MINE": "m",
    "GITHUB_TOKEN": "t",
    "GITLAB_TOKEN": "t",
    "CI_JOB_TOKEN": "t",
    "CI_JOB_JWT_V2": "t",
    "CI_REPOSITORY_URL": "https://gitlab-ci-token:t@gitlab.example/o/r.git",
    "CI_REGISTRY_PASSWORD": "t",
    "SYSTEM_ACCESSTOKEN": "t",
    "BUILDKITE_AGENT_ACCESS_TOKEN": "t",
    "CIRCLE_OIDC_TOKEN_V2": "t",
    "BITBUCKET_STEP_OIDC_TOKEN": "t",
    "ACTIONS_RUNTIME_TOKEN": "t",
    "INPUT_TOKEN": "t",
    "RUNEVALS_API_KEY_ENV": "n",
}


def test_a_program_under_test_is_given_all_but_the_tokens_of_the_job():
    assert cleaned(JOB).keys() == {"PATH", "LC_ALL", "https_proxy", "OPENAI_API_KEY", "HOME", "MINE"}


def test_any_other_program_is_given_what_it_needs_to_run():
    assert bare(JOB).keys() == {"PATH", "LC_ALL", "https_proxy"}
