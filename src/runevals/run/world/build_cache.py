"""The cache that the settings name."""

from __future__ import annotations

from runevals.lib.git import may_be_committed
from runevals.lib.storage.cache import FILENAME, FILES, Cache
from runevals.lib.storage.files import require_no_link
from runevals.lib.terminal import notice
from runevals.records.errors import InvalidSettings
from runevals.settings.resolve import Settings


def cache_of(settings: Settings) -> Cache | None:
    """The cache of answers, or None. Its warnings go to stderr.

    Raises InvalidSettings for one that lies behind a link.
    """
    require_cache(settings)
    if settings.cache is None:
        return None
    return Cache(settings.cache, lambda text: notice(f"Warning: {text}"))


def require_cache(settings: Settings) -> None:
    """Raises InvalidSettings for a cache behind a link or in a commit."""
    if settings.cache is None:
        return
    require_no_link(*(settings.cache / name for name in FILES))
    if (settings.cache / FILENAME).exists() and may_be_committed(settings.repository, settings.cache / FILENAME):
        raise InvalidSettings(
            f"the cache {settings.cache / FILENAME} is committed: it could hold any answer; "
            "take it out of git, or name another folder with --cache"
        )
