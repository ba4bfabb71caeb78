"""TOML text → plain values with the locations of their keys."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator

from runevals.lib.parsing.source import JsonPath, Source
from runevals.records import FileProblem, Location
from runevals.records.errors import InvalidSuite

_LINE = re.compile(r"""^[ \t]*(?:(?P<table>\[\[?)(?P<title>[^\]\n]+)\]|(?P<key>[\w."' -]+?)[ \t]*=[ \t]*)""", re.M)
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)$")


def read_toml(text: str, display_path: str) -> Source:
    """The values of a document. Raises InvalidSuite with the place of a mistake."""
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, column = (int(number) for number in [*_PLACE.findall(str(error)), (1, 1)][0])
        location = Location(file=display_path, line=line, column=column)
        message = f"is not TOML: {_PLACE.sub('', str(error)).strip()}"
        problem = FileProblem(location=location, pointer="", message=message, rule="unreadable")
        raise InvalidSuite([problem]) from None
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
