"""`runevals cache-info`, `cache-clear` and `cache-dir`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from runevals.cli.options import resolved_settings, settings_options
from runevals.lib.storage.cache import Cache
from runevals.lib.terminal import say
from runevals.lib.text.numbers import plural
from runevals.records.errors import InvalidSettings
from runevals.run.world.build_cache import cache_of

_cache_option = settings_options("cache", "config")


@click.command("cache-info")
@_cache_option
def info(**options: Any) -> None:
    """Show what is cached, and where.

    \b
    Example:
      runevals cache-info
    """
    content = _cache(options).info()
    answers = "answers that cannot be read" if content.answers is None else plural(content.answers, "answer")
    say(f"{answers}, {content.size_bytes / 1024:.0f} KB in {content.path}")


@click.command("cache-clear")
@_cache_option
def clear(**options: Any) -> None:
    """Delete everything in the cache.

    \b
    Example:
      runevals cache-clear
    """
    cache = _cache(options)
    if not cache.path.exists():
        say(f"There is no cache at {cache.path}")
        return
    answers = cache.clear()
    forgotten = "answers that could not be read" if answers is None else plural(answers, "answer")
    say(f"Removed {forgotten} from {cache.path}")


@click.command("cache-dir")
@_cache_option
def folder(**options: Any) -> None:
    """Print the folder of the cache.

    \b
    Example:
      runevals cache-dir
    """
    say(str(_cache(options).path.parent))


def _cache(options: Mapping[str, Any]) -> Cache:
    """The cache that the flags or settings name. Raises InvalidSettings if there is none."""
    cache = cache_of(resolved_settings(options))
    if cache is None:
        raise InvalidSettings("nothing is cached here; name a folder with --cache")
    return cache
