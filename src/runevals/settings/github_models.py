"""GitHub Models: chat models for those who have a GitHub token and no key; and where that token may go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runevals.records.errors import InvalidSettings

GITHUB_MODELS = "github-models"
URL = "https://models.github.ai/inference"
URL_VARIABLE = "RUNEVALS_GITHUB_MODELS_URL"  # in CI only the workflow can set it
TOKEN = "GITHUB_TOKEN"
ACCESS = "a job needs `permissions: {models: read}`, a person a token with the right to read models"
_TOKENS = (TOKEN, "GH_TOKEN")
_THE_JOBS = ("INPUT_", "ACTIONS_")


def address(environment: Mapping[str, str]) -> str:
    """Where GitHub Models is; elsewhere only where the workflow says so."""
    return environment.get(URL_VARIABLE) or URL


def token_name(environment: Mapping[str, str]) -> str:
    """The variable that holds the token: one that the workflow sets, else the action's input `github_token`."""
    given = f"INPUT_{TOKEN}"
    return given if environment.get(given) and not environment.get(TOKEN) else TOKEN


def without_address(told: Mapping[str, Any], what: str) -> None:
    """Raises InvalidSettings where the settings name an address or key for what has its own."""
    for name in ("base_url", "api_key_env"):
        if name in told:
            raise InvalidSettings(
                f"{what}.{name}: {GITHUB_MODELS} has an address and a token of its own; leave it out"
            )


def sendable(name: str, what: str) -> str:
    """The name of a variable that may be sent to a server. Raises InvalidSettings for a token of the job."""
    if name in _TOKENS or name.startswith(_THE_JOBS):
        raise InvalidSettings(
            f"{what}: {name} is the job's own token, which goes to GitHub only; for GitHub's models use "
            f"type: {GITHUB_MODELS}"
        )
    return name
