"""The cache of a command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runevals.cli.options import resolved_settings, settings_options
from runevals.lib.storage.cache import Cache
from runevals.records.errors import InvalidSettings
from runevals.run.world.build_cache import cache_of

cache_option = settings_options("cache", "config")


def named_cache(options: Mapping[str, Any]) -> Cache:
    """The cache that the flags or settings name. Raises InvalidSettings if there is none."""
    cache = cache_of(resolved_settings(options))
    if cache is None:
        raise InvalidSettings("nothing is cached here; name a folder with --cache")
    return cache
