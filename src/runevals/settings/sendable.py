"""Which variables of the environment may be sent to a target or judge."""

from __future__ import annotations

from runevals.lib.text.secrets import JOB_TOKENS
from runevals.records.errors import InvalidSettings

_THE_JOBS = ("INPUT_", "ACTIONS_")


def sendable(name: str, what: str) -> str:
    """The name of a variable that may be sent to a server. Raises InvalidSettings for a token of the job."""
    if name in JOB_TOKENS or name.startswith(_THE_JOBS):
        raise InvalidSettings(f"{what}: {name} is the job's own token, which no target or judge gets")
    return name
