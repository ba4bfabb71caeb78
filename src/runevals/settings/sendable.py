"""Which variables of the environment may be sent to a target or judge."""

from __future__ import annotations

from runevals.records.errors import InvalidSettings

_TOKENS = ("GITHUB_TOKEN", "GH_TOKEN")
_THE_JOBS = ("INPUT_", "ACTIONS_")


def sendable(name: str, what: str) -> str:
    """The name of a variable that may be sent to a server. Raises InvalidSettings for a token of the job."""
    if name in _TOKENS or name.startswith(_THE_JOBS):
        raise InvalidSettings(f"{what}: {name} is the job's own token, which goes to GitHub only")
    return name
