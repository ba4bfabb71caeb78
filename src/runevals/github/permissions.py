"""What a job can find out about its permissions."""

from __future__ import annotations

from collections.abc import Mapping

from runevals.github.events import DEPENDABOT
from runevals.github.this_job import payload_of


def token_name(environment: Mapping[str, str]) -> str | None:
    """The variable that holds the job's token, None if it was not passed on."""
    return next((name for name in ("INPUT_GITHUB_TOKEN", "GITHUB_TOKEN") if environment.get(name)), None)


def read_only(environment: Mapping[str, str]) -> str | None:
    """Why this job may have a token that cannot write and no secrets of Actions; None if nothing says so."""
    if environment.get("GITHUB_EVENT_NAME") != "pull_request":
        return None
    if environment.get("GITHUB_ACTOR") == DEPENDABOT:
        return (
            "Dependabot opened this pull request: there are only Dependabot secrets, and the token writes only if "
            "`permissions:` says so"
        )
    try:
        change = payload_of(environment)["pull_request"]
        forked = change["head"]["repo"]["full_name"] != change["base"]["repo"]["full_name"]
    except (KeyError, TypeError):
        return None
    why = "this pull request comes from a fork: the token cannot write, and there are no secrets"
    return why if forked else None
