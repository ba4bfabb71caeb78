"""What programs are given of our environment."""

from __future__ import annotations

import pytest

from runevals.targets.environment import bare, cleaned, lack

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


@pytest.mark.parametrize(
    ("error", "begins"),
    [
        (
            "KeyError: 'MINE' (bot.py:5)",
            "MINE is withheld from it: put it into target.env,",
        ),
        ("set HOME or DATABASE_TOKEN", "DATABASE_TOKEN is not set here: set it"),
        ("KeyError: 'EMPTY_KEY'", "EMPTY_KEY is not set here: set it"),
        ("OPENAI_API_KEY is wrong", ""),
        ("no GITHUB_ENV, and no GITHUB_STATE", ""),
        ("set GITHUB_TOKEN", "GITHUB_TOKEN is withheld from it: no program under test gets a token of the job"),
        ("HTTP_ERROR in MINES", ""),
    ],
    ids=["withheld", "not set", "empty", "given", "the job's own", "a token of the job", "no variable"],
)
def test_an_error_that_names_a_variable_which_the_program_lacks_says_what_to_do(error, begins):
    job = {**JOB, "EMPTY_KEY": ""}
    text = lack(error, job, cleaned(job, ["OPENAI_API_KEY"]))
    assert text.startswith(f"{error}; {begins}" if begins else "")
    assert bool(text) == bool(begins)
