"""`runevals report`: a results document → any format."""

from __future__ import annotations

from pathlib import Path

import click

from runevals.commands.telling import tell


@click.command("report")
@click.argument("document", type=click.Path(path_type=Path))
@click.option("-o", "--output", multiple=True, metavar="FILE", help="Where to: .json, .xml, .csv, .md.")
def command(document: Path, output: tuple[str, ...]) -> None:
    """Write the results DOCUMENT in other formats; without --output, print it.

    \b
    Example:
      runevals report results.json --output junit.xml --output summary.md
    """
    from runevals.document import read_conclusion
    from runevals.publish import check_outputs, publish

    outputs = [Path(name) for name in output]
    check_outputs(outputs)
    conclusion = read_conclusion(document)
    publish(conclusion, outputs)
    if not outputs:
        tell(conclusion)
