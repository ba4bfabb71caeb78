"""`runevals evaluators`: the list of evaluators and their documentation."""

from __future__ import annotations

import inspect

import click

from runevals.cli.completed_words import completing
from runevals.cli.evaluators_page import page
from runevals.evaluators import catalogue
from runevals.evaluators.describe import describe
from runevals.evaluators.format_names import INVERTED


@click.command("evaluators")
@click.argument("name", required=False, shell_complete=completing(catalogue.names))
@click.option("--markdown", is_flag=True, help="Print all of them as the page docs/evaluators.md.")
def command(name: str | None, *, markdown: bool) -> None:
    """List the evaluators, or explain NAME with its options and an example.

    \b
    Example:
      runevals evaluators PartialMatch
    """
    if name is not None:
        click.echo(explain(name))
        return
    if markdown:
        click.echo(page(), nl=False)
        return
    width = max(len(name) for name in catalogue.catalogue())
    for known, cls in catalogue.catalogue().items():
        one = describe(cls)
        aliases = "".join(f", also {alias}" for alias in one.aliases)
        click.echo(f"{known:<{width}}  {one.summary}  [{cls.layer}{aliases}]")


def explain(name: str) -> str:
    """An evaluator's documentation. Raises UnknownEvaluator."""
    inverted = INVERTED.get(name)
    cls = catalogue.find(inverted or name)
    one = describe(cls)
    parts = [f"{name}: the inverse of {inverted}, in eval documents and samples.", ""] if inverted else []
    lines = [", ".join((one.name, *one.aliases)), "", inspect.getdoc(cls) or "", "", one.facts.replace("`", "")]
    if one.options:
        lines += ["", "Defaults:"]
        for option in one.options:
            default = "required" if option.default is None else option.default
            lines.append(f"    {option.name}: {option.kind.replace('`', '')} = {default}")
    return "\n".join([*parts, *lines])
