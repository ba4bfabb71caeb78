"""`runevals cache-clear`: forget all that is cached."""

from __future__ import annotations

from typing import Any

import click

from runevals.cli.named_cache import cache_option, named_cache
from runevals.lib.terminal import say
from runevals.lib.text.numbers import plural


@click.command("cache-clear")
@cache_option
def command(**options: Any) -> None:
    """Delete everything in the cache.

    \b
    Example:
      runevals cache-clear
    """
    cache = named_cache(options)
    answers = cache.clear()
    forgotten = "answers that could not be read" if answers is None else plural(answers, "answer")
    say(f"Forgotten: {forgotten} in {cache.path}")
