"""Masks the job's secrets in its log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from runevals.lib.text.secrets import secret_values


def mask_commands(environment: Mapping[str, str], more_names: Iterable[str] = ()) -> Iterator[str]:
    """One `::add-mask::` line for each value of a variable named like a secret, or in `more_names`."""
    for value in secret_values(environment, more_names):
        yield f"::add-mask::{value.replace('%', '%25')}"
