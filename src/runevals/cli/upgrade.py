"""`runevals upgrade`: suites of an older format → the current one, with a backup."""

from __future__ import annotations

from pathlib import Path

import click

from runevals.lib.terminal import say
from runevals.suites.upgrade import upgrade_file


@click.command("upgrade")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
def command(paths: tuple[Path, ...]) -> None:
    """Convert suites of an older format to the current one. The old file stays as FILE.bak.<time>.

    \b
    Example:
      runevals upgrade evals/evals.json
    """
    for path in paths:
        say(upgrade_file(path, str(path)))
