"""The worktree of a base, prepared as the base's settings say: what git ignores is not in it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from runevals.programs.processes import as_owner
from runevals.records.errors import ExternalError
from runevals.repository.worktree import share
from runevals.run.redaction.redactors import without_either
from runevals.run.world.budget import Stop
from runevals.settings.resolve import Settings
from runevals.targets.command import failure_of
from runevals.targets.environment import cleaned

SETUP_TIMEOUT_S = 600.0
WORKTREE_HAS = "its worktree has only what git has, and what `share` and `base_setup` put there"
KEY_NEEDED = "mend that first: the change needs the same key, and `share` gives the base that of a file here"


def prepare(settings: Settings, base: Settings, stop: Stop) -> None:
    """Shares paths of this checkout with the worktree that `base` holds in, then runs the setup there.

    Raises InvalidSettings for a path that may not be shared, ExternalError with the setup's own error.
    """
    says = base if settings.base_side is None else settings
    folder = folder_of(says)
    with as_owner():  # what links the head's programs lay in its way are followed with their rights
        for path in says.compare.share:
            share(os.path.normpath(folder / path), settings.repository, base.repository)
    if says.compare.base_setup:
        try:
            _set_up(says.compare.base_setup, base.repository / folder, base, stop)
        except ExternalError as error:  # with what the program printed
            raise ExternalError(without_either(str(error), settings)) from None


def folder_of(says: Settings) -> Path:
    """Where the settings file is that names a program, relative to its repository: there it is started."""
    file = says.file if says.base_side is None else says.base_side.file
    return Path(os.path.relpath(says.cwd if file is None else file.base, says.repository))


def _set_up(command: tuple[str, ...], cwd: Path, base: Settings, stop: Stop) -> None:
    failure = failure_of(
        command,
        cwd=cwd,
        env=cleaned(base.environment),
        timeout_s=SETUP_TIMEOUT_S,
        stopped=lambda: stop.problem is not None,
    )
    if stop.problem is not None:
        stop.cut_short = True
        raise ExternalError(f"base_setup was stopped: {stop.problem.message}")
    if failure is not None:
        raise ExternalError(f"base_setup ({shlex.join(command)}) {failure}")
