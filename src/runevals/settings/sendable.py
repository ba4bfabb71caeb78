"""Which variables of the environment may be sent to a target or judge."""

from __future__ import annotations

import re

from runevals.lib.text.escape import one_line
from runevals.lib.text.secrets import JOB_TOKENS
from runevals.records.errors import InvalidSettings

_THE_JOBS = ("INPUT_", "ACTIONS_")
_NAME = re.compile(r"[A-Za-z_]\w{0,254}", re.ASCII)


def sendable(name: str, what: str) -> str:
    """The name of a variable that may be sent to a server. Raises InvalidSettings for a token of the job.

    So it does for what is no name: `init --github` writes it into a workflow.
    """
    if not _NAME.fullmatch(name):
        raise InvalidSettings(f"{what}: {one_line(name, 60)!r} is not the name of a variable")
    if name in JOB_TOKENS or name.startswith(_THE_JOBS):
        raise InvalidSettings(f"{what}: {name} is the job's own token, which no target or judge gets")
    return name
