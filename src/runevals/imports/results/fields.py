"""Values of a JSON document of unknown origin, each with its place for messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import reduce

from msgspec import Struct

from runevals.lib.nullable import if_known
from runevals.lib.parsing.json_forms import text_or_json
from runevals.lib.parsing.shapes import is_number, is_whole, object_in
from runevals.lib.text.moments import parse_moment
from runevals.lib.text.numbers import phrase
from runevals.records.errors import InvalidDocument
from runevals.suites.dialects.synonyms import is_text

LARGEST = 1e100  # number: sums and squares of such are numbers too


class Json(Struct, frozen=True):
    """A value and its place, such as `out.json: /results/3`."""

    value: object
    file: str
    pointer: str = ""

    @property
    def place(self) -> str:
        """The place as messages name it."""
        return f"{self.file}: {self.pointer}" if self.pointer else self.file

    def wrong(self, expected: str) -> InvalidDocument:
        """The error to raise for this value."""
        text = json.dumps(self.value, ensure_ascii=False, default=str)
        return InvalidDocument(f"{self.place} is {text[:60]}{phrase(len(text) > 60, '…')}, not {expected}")

    def __getitem__(self, name: str) -> Json:
        """The value of a key; its value is None if there is none. Raises InvalidDocument."""
        return Json(self.fields.get(name), self.file, f"{self.pointer}/{name}")

    def at(self, paths: str) -> Json:
        """The value at a path such as `a.b`; of several with `|` between them, the first that is not null.

        A name with dots is a key first, a number an entry of a list, `.` the value itself.
        """
        value = Json(None, self.file, f"{self.pointer}/{paths.partition('|')[0].replace('.', '/')}")
        for path in filter(None, paths.split("|")):
            value = self._at(path)
            if value.value is not None:
                break
        return value

    def _at(self, path: str) -> Json:
        if path == ".":
            return self
        return reduce(Json._entry, [path] if path in object_in(self.value) else path.split("."), self)

    def _entry(self, name: str) -> Json:
        value = object_in(self.value).get(name)
        if isinstance(self.value, list) and name.lstrip("-").isdigit():
            value = next(iter(self.value[int(name) :]), None)
        return Json(value, self.file, f"{self.pointer}/{name}")

    def with_fields(self, **fields: object) -> Json:
        """The object with other values under these keys."""
        return Json({**self.fields, **fields}, self.file, self.pointer)

    def seconds_at(self, path: str) -> float | None:
        """A duration; a path that ends in `ms` as a word has milliseconds. Raises InvalidDocument."""
        amount = self.at(f"{path}|{path.removesuffix(' ms')}").amount_or_none
        return if_known(lambda amount: amount / 1000 if path.endswith(" ms") else amount, amount)

    @property
    def fields(self) -> Mapping[str, object]:
        """The fields of an object; none for null. Raises InvalidDocument."""
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return self.value

    @property
    def entries(self) -> list[Json]:
        """The entries of a list; none for null. Raises InvalidDocument."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [Json(item, self.file, f"{self.pointer}/{index}") for index, item in enumerate(self.value)]

    @property
    def each(self) -> list[Json]:
        """The entries of a list, or the value itself; none for null."""
        return self.entries if isinstance(self.value, list | None) else [self]

    @property
    def members(self) -> list[tuple[str, Json]]:
        """The keys and values of an object. Raises InvalidDocument."""
        return [(name, self[name]) for name in self.fields]

    @property
    def text(self) -> str:
        """Raises InvalidDocument for anything but a text that is not empty, or a whole number as an id."""
        if is_whole(self.value):
            return str(self.value)
        if not is_text(self.value):
            raise self.wrong("a text")
        return self.value

    @property
    def text_or_none(self) -> str | None:
        """A text, as JSON if it is something else; None for null."""
        return if_known(text_or_json, self.value)

    @property
    def name_or_empty(self) -> str:
        """A text of one line; empty for anything else."""
        return " ".join(self.value.split()) if isinstance(self.value, str) else ""

    @property
    def flag(self) -> bool:
        """Raises InvalidDocument."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    @property
    def flag_or_none(self) -> bool | None:
        """None for null. Raises InvalidDocument."""
        return if_known(lambda _: self.flag, self.value)

    @property
    def number_or_none(self) -> float | None:
        """None for null. Raises InvalidDocument for what is not a number, or too large to compute with."""
        if self.value is None:
            return None
        if not is_number(self.value):
            raise self.wrong("a number such as 0.9")
        if not abs(self.value) <= LARGEST:  # neither is NaN
            raise self.wrong("a number that can be computed with")
        return float(self.value)

    @property
    def measure_or_none(self) -> float | None:
        """A score; true and false are 1 and 0. None for null. Raises InvalidDocument."""
        return float(self.value) if isinstance(self.value, bool) else self.number_or_none

    @property
    def amount_or_none(self) -> float | None:
        """A cost, a duration: a number that is not negative. Raises InvalidDocument."""
        number = self.number_or_none
        if number is not None and number < 0:
            raise self.wrong("0 or more")
        return number

    @property
    def count_or_none(self) -> int | None:
        """A number of tokens. Raises InvalidDocument."""
        return if_known(int, self.amount_or_none)

    @property
    def moment_or_none(self) -> datetime | None:
        """A time, as UTC if it names no time zone; None for what is not one."""
        return moment(self.value)


def moment(text: object) -> datetime | None:
    """An ISO 8601 time, as UTC if it names no time zone; None for what is not one."""
    try:
        time = parse_moment(text) if isinstance(text, str) else None
        return time if time is None or time.tzinfo is not None else time.replace(tzinfo=UTC)
    except ValueError:
        return None
