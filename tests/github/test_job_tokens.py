"""The tokens of a job are read once."""

from __future__ import annotations

import pytest

from runevals.github.this_job import without_tokens
from runevals.lib.text.secrets import redactor

OTHERS = {"OPENAI_API_KEY": "sk-of-the-target", "GITHUB_REPOSITORY": "o/r", "INPUT_TARGET": "openai"}


@pytest.mark.parametrize(
    "name",
    [
        "INPUT_GITHUB_TOKEN",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "ACTIONS_RUNTIME_TOKEN",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    ],
)
def test_a_token_leaves_our_environment_and_is_not_printed_all_the_same(name):
    environment = {**OTHERS, name: "token-of-the-job"}
    assert without_tokens(environment) == {**OTHERS, name: "token-of-the-job"}
    assert environment == OTHERS
    assert redactor(environment)("it is token-of-the-job") == f"it is [redacted {name}]"
    without_tokens(dict(OTHERS))
    assert redactor(environment)("it is token-of-the-job") == "it is token-of-the-job"
