"""Whether we are in the action's container, which lacks the job's programs, packages and localhost."""

from __future__ import annotations

import os

VARIABLE = "RUNEVALS_IN_CONTAINER"


def what_to_use() -> str:
    """The end of a message about what the container lacks; elsewhere nothing."""
    if not os.environ.get(VARIABLE):
        return ""
    return "; use runevals/runevals, which runs on the runner, instead of runevals/runevals/container"
