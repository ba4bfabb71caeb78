"""The cache that a command is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runevals.cli.options import settings_options, settled
from runevals.lib.storage.cache import Cache
from runevals.records.errors import InvalidSettings
from runevals.run.world.build_cache import cache_of

cache_option = settings_options("cache", "config")


def named_cache(told: Mapping[str, Any]) -> Cache:
    """The cache that the flags or settings name. Raises InvalidSettings where there is none."""
    cache = cache_of(settled(told))
    if cache is None:
        raise InvalidSettings("nothing is cached here; name a folder with --cache")
    return cache
