"""`runevals completion`: the lines that make a shell complete the words of runevals."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

VARIABLE = "_RUNEVALS_COMPLETE"
SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print what makes a SHELL complete commands, options, evaluators and schemas.

    \b
    Examples:
      runevals completion bash >> ~/.bashrc
      runevals completion zsh >> ~/.zshrc
      runevals completion fish > ~/.config/fish/completions/runevals.fish
    """
    from runevals.cli import commands

    complete = get_completion_class(shell)
    assert complete is not None  # noqa: S101 - click has all of SHELLS
    click.echo(ShellComplete.source(complete(commands, {}, "runevals", VARIABLE)))
