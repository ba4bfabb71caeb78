"""`runevals view`: a report in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from runevals.cli.browser import open_in_browser
from runevals.cli.options import kept_folder
from runevals.cli.output import unused
from runevals.lib.terminal import say
from runevals.records.errors import InvalidSettings
from runevals.reports.html import page_part
from runevals.reports.past_results import age
from runevals.reports.publish import publish
from runevals.reports.results_document import read_conclusion


@click.command("view")
@click.argument("document", required=False, type=click.Path(path_type=Path))
def command(document: Path | None) -> None:
    """Open the newest HTML report in a browser, or that of the results DOCUMENT.

    \b
    Examples:
      runevals view
      runevals view .evals/results/2026-11-20_12-00-00.json
    """
    page = _newest() if document is None else _page(document)
    say(f"Opening {page}")
    open_in_browser(page)


def _newest() -> Path:
    pages = sorted(kept_folder().glob("*.html"), key=age)
    if not pages:
        raise InvalidSettings(
            f"there is no HTML report in {kept_folder()} yet; `runevals run` writes one, "
            "and `runevals view DOCUMENT` opens that of a results document"
        )
    return pages[-1]


def _page(document: Path) -> Path:
    """A page as it is; for a results document the page beside it, which is written first, again if it is there."""
    if document.name.lower().endswith((".html", ".htm")):
        if not document.is_file():
            raise InvalidSettings(f"{document} is not a file")
        return document

    page, begins = document.with_suffix(".html"), page_part("page.html").partition("$")[0].encode()
    if not (page.is_file() and page.read_bytes().startswith(begins)):  # a file of somebody else stays
        (page,) = unused([page])
    publish(read_conclusion(document), [page], was_read=True)
    return page
