"""A setting's value: parsed from text and checked against its kind, bounds and choices."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from runevals.lib.parsing.shapes import is_number
from runevals.lib.storage.bucket import is_in_bucket
from runevals.lib.text.suggest import did_you_mean
from runevals.records.errors import InvalidSettings
from runevals.records.rules import Mark, Shard
from runevals.settings.table import Kind, Setting

# What a file has in place of a setting's own type: 3.0 is the whole number 3.
_OF_FILE: Mapping[tuple[Kind, type], Callable[[Any], object]] = {("whole", float): int, ("texts", list): tuple}
_NOT_IN_ARTIFACTS = frozenset('":<>|*?\r\n\\/')


def parsed(setting: Setting, text: str, source: str) -> object:
    """The value of `text`; `source` names its origin in messages. Raises InvalidSettings."""
    return checked(setting, text if text in setting.choices else _PARSERS[setting.kind](text, source), source)


def checked(setting: Setting, value: object, source: str) -> object:
    """`value` within its bounds and choices. Raises InvalidSettings."""
    if is_number(value):
        low, high = setting.bounds
        if (low is not None and not value >= low) or (high is not None and not value <= high):
            bounds = f"at least {low:g}" if high is None else f"from {low:g} to {high:g}"
            raise InvalidSettings(f"{source} is {value:g}; it must be {bounds}")
    if convert := _OF_FILE.get((setting.kind, type(value))):
        value = convert(value)
    for word in value if isinstance(value, list | tuple) else (value,):
        if setting.choices and not isinstance(word, bool) and word not in setting.choices:
            hint = did_you_mean(str(word), setting.choices)
            raise InvalidSettings(f"{source} is '{word}'; it must be one of {', '.join(setting.choices)}{hint}")
    return value


def _number(text: str, source: str, kind: type[int | float] = float, what: str = "a number") -> float:
    try:
        return kind(text)
    except ValueError:
        raise InvalidSettings(f"{source} must be {what}, but is '{text}'") from None


def _yes_no(text: str, source: str) -> bool:
    if text.lower() in ("true", "yes", "1", "on"):
        return True
    if text.lower() in ("false", "no", "0", "off"):
        return False
    raise InvalidSettings(f"{source} must be true or false, but is '{text}'")


def texts(text: str, _source: str = "") -> tuple[str, ...]:
    """Words between commas or on lines of their own."""
    return tuple(part.strip() for part in text.replace("\n", ",").split(",") if part.strip())


_PARSERS: Mapping[Kind, Callable[[str, str], object]] = {
    "text": lambda text, _: text,
    "texts": texts,
    "whole": partial(_number, kind=int, what="a whole number"),
    "number": _number,
    "yes_no": _yes_no,
}


def baseline_address(value: str, prefix: str = "") -> str | None:
    """Its address, None if it is a path. Raises InvalidSettings for one that is not of the web or a bucket."""
    if is_in_bucket(value):
        return value
    scheme, separator, rest = value.partition("://")
    if separator and scheme.lower() in ("http", "https"):
        return f"{scheme.lower()}://{rest}"
    if separator and "/" not in scheme:
        raise InvalidSettings(
            f"{prefix}{scheme}:// is not read; it is a path, or an address of http, https or a bucket"
        )
    return None


def require_artifact_name(value: str, prefix: str = "") -> None:
    """Raises InvalidSettings for a name that GitHub gives no artifact."""
    if wrong := next((character for character in value if character in _NOT_IN_ARTIFACTS), None):
        raise InvalidSettings(f"{prefix}'{value[:40]}' is not the name of an artifact: none has {wrong!r}")


def read_shard(text: str, origin: str) -> Shard:
    """`2/4` → the second of four parts. Raises InvalidSettings."""
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise InvalidSettings(f"{origin} is '{text[:40]}'; write i/n, where i is 1 to n, such as 2/4")
    return Shard(part=int(match[1]), of=int(match[2]))


def read_mark(text: str, prefix: str = "") -> Mark:
    """`30d` → a run that is 30 days old; `best`; any other word is a tag. Raises InvalidSettings."""
    word = text.strip()
    if word == "best":
        return Mark()
    days = re.fullmatch(r"([1-9][0-9]{0,3})d", word)
    if days is not None:
        return Mark(days=int(days[1]))
    if re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9_+-]|[./](?![./])){0,199}", word) is None:
        raise InvalidSettings(f"{prefix}'{word[:40]}' is no mark; write 30d for days, the name of a tag, or best")
    return Mark(tag=word)
