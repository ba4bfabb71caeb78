"""Where a checkout begins."""

from __future__ import annotations

from pathlib import Path


def repository_root(cwd: Path) -> Path:
    """The nearest folder upwards with a `.git`; `cwd` itself outside a repository."""
    return next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)
