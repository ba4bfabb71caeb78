"""Facts that end: models, versions and their dates, from facts.json."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

from runevals.lib.text.numbers import phrase
from runevals.models.chat.prices import names_of

NOTICE = timedelta(days=60)  # before a model's end, a run says so


class Fact(Struct, frozen=True, kw_only=True):
    """One row: what it is, where and when it was read, and when it ends, if that is announced."""

    kind: str
    name: str
    source: str
    read_on: date
    ends_on: date | None = None
    replacement: str | None = None


@cache
def facts() -> Mapping[tuple[str, str], Fact]:
    """Every row, by kind and name. The name of a model begins with its provider."""
    return {(row.kind, row.name): row for row in _file().rows}


def model(use: str) -> str:
    """The model that we name for a use, such as `openai judge`."""
    return _file().use[use].partition(":")[2]


def used() -> tuple[Fact, ...]:
    """The rows that are our defaults and examples."""
    return tuple(facts()["model", name] for name in _file().use.values())


def with_models(text: str) -> str:
    """`text` with the models for its placeholders, such as `{openai judge}`."""
    for use in _file().use:
        text = text.replace(f"{{{use}}}", model(use))
    return text


def end_of_model(provider: str, name: str | None) -> Fact | None:
    """The row of a model with a known end; a dated name is that of its model."""
    rows = (facts().get(("model", f"{provider}:{form}")) for form in names_of(name or ""))
    return next((row for row in rows if row is not None and row.ends_on is not None), None)


def ending(provider: str, name: str | None, today: date, within: timedelta = timedelta.max) -> str | None:
    """A sentence on a model that ends within this time; None for others."""
    row = end_of_model(provider, name)
    if row is None or row.ends_on is None or row.ends_on - today > within:
        return None
    verb = "ended" if row.ends_on < today else "ends"
    return f"{name} {verb} on {row.ends_on}{phrase(row.replacement, '; replacement {}')}"


class _File(Struct, frozen=True):
    use: Mapping[str, str]
    rows: tuple[Fact, ...]


@cache
def _file() -> _File:
    return msgspec.json.decode(files("runevals.models").joinpath("facts.json").read_bytes(), type=_File)
