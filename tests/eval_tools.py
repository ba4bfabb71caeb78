"""The programs of other evaluation tools, on PATH or in the folders of RUNEVALS_EVAL_TOOLS."""

from __future__ import annotations

import os
import shutil

PROGRAMS = ("promptfoo", "inspect", "deepeval", "agentv")
_FOLDERS = os.pathsep.join([os.environ.get("RUNEVALS_EVAL_TOOLS", ""), os.environ["PATH"]])


def program(name: str) -> str | None:
    """The path of a tool's program; None if it is not installed."""
    return shutil.which(name, path=_FOLDERS)
