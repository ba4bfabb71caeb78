"""The cache that the settings name."""

from __future__ import annotations

from runevals.lib.storage.cache import FILENAME, FILES, Cache
from runevals.lib.storage.files import require_no_link
from runevals.lib.terminal import notice
from runevals.records.errors import InvalidSettings
from runevals.repository.git import may_be_committed
from runevals.settings.resolve import Settings


def cache_of(settings: Settings) -> Cache | None:
    """The cache of answers, or None. Its warnings go to stderr.

    Raises InvalidSettings for one that lies behind a link.
    """
    require_cache(settings)
    folder = settings.measure.cache
    return None if folder is None else Cache(folder, lambda text: notice(f"Warning: {text}"))


def require_cache(settings: Settings) -> None:
    """Raises InvalidSettings for a cache behind a link or in a commit."""
    folder = settings.measure.cache
    if folder is None:
        return
    require_no_link(*(folder / name for name in FILES))
    if (folder / FILENAME).exists() and may_be_committed(settings.repository, folder / FILENAME):
        raise InvalidSettings(
            f"the cache {folder / FILENAME} is committed: it could hold any answer; "
            "take it out of git, or name another folder with --cache"
        )
