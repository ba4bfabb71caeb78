"""TOML text → plain values with the locations of their keys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from runevals.lib.parsing.source import JsonPath, Source, unreadable
from runevals.lib.parsing.strict_json import nested_deeper

_LINE = re.compile(r"""^[ \t]*(?:(?P<table>\[\[?)(?P<title>[^\]\n]+)\]|(?P<key>[\w."' -]+?)[ \t]*=[ \t]*)""", re.M)
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)$")
MOST_DOTS = 1000  # on one line: the reader's time grows with the square of the parts of a key
MOST_LEVELS = 100


def toml_value(text: str) -> object:
    """The values of a document. Raises ValueError for a mistake, also for what is too deep or takes too long."""
    import tomllib  # only projects with a pyproject.toml need it

    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > MOST_DOTS:
            raise ValueError(f"more than {MOST_DOTS} dots on a line (at line {number}, column 1)")
    with suppress(RecursionError):
        value = tomllib.loads(text)
        if not nested_deeper(value, MOST_LEVELS):
            return value
    raise ValueError(f"nested deeper than {MOST_LEVELS} levels")


def read_toml(text: str, display_path: str) -> Source:
    """The values of a document. Raises InvalidSuite with the place of a mistake."""
    try:
        value = toml_value(text)
    except ValueError as error:
        line, column = (int(number) for number in [*_PLACE.findall(str(error)), (1, 1)][0])
        raise unreadable(
            display_path, f"is not TOML: {_PLACE.sub('', str(error)).strip()}", line, column
        ) from None
    return Source(display_path, text, value, has_marks=True, marks=dict(reversed([*_marks(text)])))


def _marks(text: str) -> Iterator[tuple[JsonPath, tuple[int, int]]]:
    """Each key that begins a line: its path, its offset, and that of its value."""
    table: JsonPath = ()
    entries: Counter[JsonPath] = Counter()
    for match in _LINE.finditer(text):
        steps = tuple(step.strip(" \"'") for step in (match["title"] or match["key"]).split("."))
        if match["table"] is None:
            yield (*table, *steps), (match.start("key"), match.end())
            continue
        table = steps
        yield table, (match.start("table"),) * 2
        if match["table"] == "[[":
            table = (*steps, entries[steps])
            entries[steps] += 1
            yield table, (match.start("table"),) * 2
