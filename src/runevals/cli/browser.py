"""Opens a report in the browser, on request."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from runevals.lib.terminal import say
from runevals.records.errors import InvalidSettings

F = TypeVar("F", bound=Callable[..., Any])


def open_option(function: F) -> F:
    """Adds `--open`."""
    return click.option("--open", "opened", is_flag=True, help="Open the HTML report in a browser.")(function)


def page_of(outputs: Sequence[Path]) -> Path:
    """The page among the files that a command writes. Raises InvalidSettings if there is none."""
    for path in outputs:
        if path.name.lower().endswith(".html"):
            return path
    raise InvalidSettings("--open opens an HTML report, but no --output ends in .html; add --output report.html")


def open_in_browser(page: Path) -> None:
    """Opens `page`, or prints its path."""
    if not webbrowser.open(page.resolve().as_uri()):
        say(f"No browser was found; open {page} yourself", err=True)
