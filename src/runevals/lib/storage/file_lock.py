"""Files that one process at a time can have."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO

from runevals.lib.storage.files import open_plain

try:
    import fcntl
except ImportError:  # other systems than POSIX
    fcntl = None  # type: ignore[assignment]


class AlreadyLocked(Exception):
    """Another process has it."""


def file_lock(path: Path, *, required: bool = False) -> AbstractContextManager[object]:
    """Locks `path`, which is created if missing, until the context or this process ends. Raises AlreadyLocked.

    If locking is not supported, continues without a lock; if the lock is `required`, raises AlreadyLocked.
    """
    file: IO[str] | None = None
    try:
        if fcntl is not None:
            file = os.fdopen(open_plain(path), "w")
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
    except OSError as error:  # of a file system without locks, say
        if file is not None:
            file.close()
        if isinstance(error, BlockingIOError):
            raise AlreadyLocked(str(path)) from None
    if required:
        raise AlreadyLocked(str(path))
    return nullcontext()
