"""`runevals cache-clear`: forget all that is cached."""

from __future__ import annotations

from typing import Any

import click

from runevals.cli.named_cache import cache_option, named_cache
from runevals.lib.terminal import say
from runevals.lib.text.numbers import plural


@click.command("cache-clear")
@cache_option
def command(**told: Any) -> None:
    """Forget all that is cached.

    \b
    Example:
      runevals cache-clear
    """
    cache = named_cache(told)
    answers = cache.clear()
    forgotten = "answers that could not be read" if answers is None else plural(answers, "answer")
    say(f"Forgotten: {forgotten} in {cache.path}")
