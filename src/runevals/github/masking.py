"""Keeping the job's secrets out of its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runevals.redact import secret_values


def mask_commands(environment: Mapping[str, str]) -> Iterator[str]:
    """One `::add-mask::` line for each value of a variable that is named like a secret."""
    for value in secret_values(environment):
        yield f"::add-mask::{value.replace('%', '%25')}"
