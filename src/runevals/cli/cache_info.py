"""`runevals cache-info`: show what is cached, and where."""

from __future__ import annotations

from typing import Any

import click

from runevals.cli.named_cache import cache_option, named_cache
from runevals.lib.terminal import say
from runevals.lib.text.numbers import plural


@click.command("cache-info")
@cache_option
def command(**options: Any) -> None:
    """Show what is cached, and where.

    \b
    Example:
      runevals cache-info
    """
    info = named_cache(options).info()
    answers = "answers that cannot be read" if info.answers is None else plural(info.answers, "answer")
    say(f"{answers}, {info.size_bytes / 1024:.0f} KB in {info.path}")
