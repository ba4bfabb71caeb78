"""`runevals cache-dir`: print the folder of the cache."""

from __future__ import annotations

from typing import Any

import click

from runevals.cli.named_cache import cache_option, named_cache
from runevals.lib.terminal import say


@click.command("cache-dir")
@cache_option
def command(**options: Any) -> None:
    """Print the folder of the cache.

    \b
    Example:
      runevals cache-dir
    """
    say(str(named_cache(options).path.parent))
