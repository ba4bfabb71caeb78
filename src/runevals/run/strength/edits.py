"""A right answer → the same with one edit that makes it wrong, or one that leaves it right."""

from __future__ import annotations

import json
import re
from calendar import day_name, month_name
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.parsing.json_forms import json_in
from runevals.lib.parsing.strict_json import nested_deeper
from runevals.records import Response, ToolCall

MOST_OF_A_KIND = 2  # edits of one answer
MOST_CHARACTERS = 20_000  # of an answer that is edited
MOST_LEVELS = 50
_MONTHS, _DAYS = [*month_name[1:]], [*day_name]
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NAMES = ("Oslo", "Marta", "Zurich", "Kofi")
_TIMES = ("second", "minute", "hour", "day", "week", "month", "year")
_SIZES = ("ms", "s", "kg", "g", "km", "m", "cm", "mm", "KB", "MB", "GB", "TB", "USD", "EUR", "€", "$", "°C", "°F")
_UNITS = (*(f"{unit}s" for unit in _TIMES), *_TIMES, *_SIZES)


class Edit(Struct, frozen=True):
    """One edit; `kind` None leaves the answer right."""

    kind: str | None
    before: str
    after: str
    response: Response

    def __str__(self) -> str:
        return f"'{self.before}' → '{self.after}'" if self.after else f"without '{self.before}'"


def _following(words: Sequence[str], word: str) -> str:
    """The word after this one, written as it is."""
    other = words[(words.index(word if word in words else word.capitalize()) + 1) % len(words)]
    return other if word in words else other.lower()


def _date(match: re.Match[str]) -> str | None:
    day = int(match["day"])
    return f"{match[0][:-2]}{day - 1 if day > 1 else day + 1:02d}"


def _unit(match: re.Match[str]) -> str:
    unit = match["unit"]
    return f"{match['number']}{match['gap']}{_UNITS[(_UNITS.index(unit) + 1) % len(_UNITS)]}"


def _number(match: re.Match[str]) -> str | None:
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.end() + 2]
    if re.match(r"\s*(?:#+\s*)?\d+[.)]\s", line) and line.lstrip("# \t").startswith(match[0]):
        return None  # it numbers a list
    whole = match["whole"]
    return f"{int(whole) + 1}{match['rest']}" if len(whole) < 16 else None


def _added_not(match: re.Match[str]) -> str | None:
    end = re.compile(r"[.!?\n]").search(match.string, match.end())
    return None if end is not None and end[0] == "?" else f"{match[0]} not"


def _name(match: re.Match[str]) -> str | None:
    word = match[0]
    for words in (_MONTHS, _DAYS):
        if word in words:
            return _following(words, word)
    return next((name for name in _NAMES if name not in match.string), None)


_ITEM = re.compile(r"(?m)^[ \t]*(?:[-*•]|\d+[.)])[ \t]+\S.*(?:\n|\Z)")
_ANY_UNIT = "|".join(map(re.escape, _UNITS))
_VERBS = "is|are|was|were|can|must|will|should|may"
_NO_NOT = r"(?!\s+(?:only|hesitate|worry|just)\b)"
Change = Callable[[re.Match[str]], str | None]
# What is looked for, and what is written instead; None: this place is not edited.
RULES: tuple[tuple[str, re.Pattern[str], Change], ...] = (
    ("another date", re.compile(r"\b\d{4}-(?:0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])(?!\d)"), _date),
    (
        "another unit",
        re.compile(rf"(?<![\w.])(?P<number>\d[\d.,]*)(?P<gap>\s?)(?P<unit>{_ANY_UNIT})(?!\w)"),
        _unit,
    ),
    (
        "another number",
        re.compile(r"(?<![\w.,:/#-])(?P<whole>\d+)(?P<rest>(?:[.,]\d+)*)(?![\w:/-]|[.,]\d)"),
        _number,
    ),
    (
        "another number",
        re.compile(rf"\b(?:{'|'.join(_NUMBERS)})\b", re.IGNORECASE),
        lambda match: _following([*_NUMBERS, "thirteen"], match[0].lower()),
    ),
    (
        "a 'not' removed",
        re.compile(rf"\b(?P<verb>{_VERBS}|do|does|did|could|would)(?: not|n't)\b{_NO_NOT}"),
        lambda match: match["verb"],
    ),
    ("a 'not' removed", re.compile(r"\bcannot\b"), lambda _match: "can"),
    ("a 'not' added", re.compile(rf"\b(?:{_VERBS})\b(?!\s*(?:not\b|n't|\w+n't))"), _added_not),
    ("yes for no", re.compile(r"\A\s*(?:Yes|No|yes|no|YES|NO)\b"), lambda match: _other_word(match[0])),
    ("another name", re.compile(r"(?<=[a-z,:] )[A-Z][a-z]{2,}\b|\A\s*[A-Z][a-z]{2,}(?=\.?\s*\Z)"), _name),
    ("an item left out", _ITEM, lambda match: "" if len(_ITEM.findall(match.string)) > 1 else None),
)  # fmt: skip
_SAME: Mapping[str, str] = {
    "cannot": "can't",
    "do not": "don't",
    "is not": "isn't",
    "for example": "for instance",
    "begin": "start",
    "purchase": "buy",
}
_SYNONYM = re.compile(rf"\b(?:{'|'.join(_SAME)})\b")


def _other_word(word: str) -> str:
    pairs = {"Yes": "No", "No": "Yes", "yes": "no", "no": "yes", "YES": "NO", "NO": "YES"}
    return word[: len(word) - len(word.lstrip())] + pairs[word.strip()]


def harmful(right: Response, *, text: bool, tools: bool) -> Iterator[Edit]:
    """Each edit makes the answer wrong; those of `text` and of calls of `tools` if a check looks at them."""
    value = _structure(right) if text else None
    if value is not None:
        yield from _of_json(right, value)
    elif text:
        for kind, before, after, changed in edited(right.text):
            yield Edit(kind, before, after, with_text(right, changed))
    if tools and right.tool_calls:
        yield from _of_calls(right, right.tool_calls)


def harmless(right: Response, *, case: bool) -> Iterator[Edit]:
    """Each edit leaves the answer right: white space, words that mean the same, with `case` small letters."""
    if not isinstance(right.value, str | None):
        return
    value = _structure(right)
    if value is not None:
        indent = None if "\n" in right.text.strip() else 2
        yield Edit(None, "white space", "", with_text(right, json.dumps(value, ensure_ascii=False, indent=indent)))
    else:
        text = right.text
        yield Edit(None, "white space", "", with_text(right, f"{text.replace('. ', '.  ', 1)}\n"))
        if (match := _SYNONYM.search(text)) is not None:
            other = _SAME[match[0]]
            yield Edit(
                None, match[0], other, with_text(right, f"{text[: match.start()]}{other}{text[match.end() :]}")
            )
        if case and text.lower() != text:
            yield Edit(None, "capitals", "", with_text(right, text.lower()))


def edited(text: str) -> Iterator[tuple[str, str, str, str]]:
    """(kind, before, after, the edited text), at most a few of each kind."""
    if len(text) > MOST_CHARACTERS:
        return
    taken: list[tuple[int, int]] = []
    numbers = Counter[str]()
    for kind, pattern, change in RULES:
        for match in pattern.finditer(text):
            start, end = match.span()
            if numbers[kind] >= MOST_OF_A_KIND:
                break
            if kind == "another number" and any(begin < end and start < stop for begin, stop in taken):
                continue  # it is a part of a date
            after = change(match)
            if after is None or after == match[0]:
                continue
            if kind == "another date":
                taken.append((start, end))
            numbers[kind] += 1
            yield kind, match[0].strip(), after.strip(), f"{text[:start]}{after}{text[end:]}"


def with_text(right: Response, text: str) -> Response:
    """The answer with this text, which is its value, too, if it has one."""
    return replace(right, text=text, value=None if right.value is None else text)


def _structure(right: Response) -> object:
    """The value of an answer, or the object or list that its text is; None for other texts."""
    text = right.text
    if not isinstance(right.value, str | None):
        return right.value
    value = json_in(text) if len(text) <= MOST_CHARACTERS else text
    return None if value is text or nested_deeper(value, MOST_LEVELS) else value


def _of_json(right: Response, value: object) -> Iterator[Edit]:
    text = right.text
    indent = 2 if "\n" in text.strip() else None
    separators = (",", ":") if indent is None and ", " not in text and '": ' not in text else None
    numbers = Counter[str]()
    for kind, before, after, changed in _changed(value):
        numbers[kind] += 1
        if numbers[kind] <= MOST_OF_A_KIND:
            written = json.dumps(changed, ensure_ascii=False, indent=indent, separators=separators)
            response = replace(right, text=written, value=None if right.value is None else changed)
            yield Edit(kind, before, after, response)


def _changed(value: object) -> Iterator[tuple[str, str, str, object]]:
    """(kind, before, after, the value with one change in it)."""
    match value:
        case dict():
            for key, item in value.items():
                yield "a field left out", str(key), "", {k: v for k, v in value.items() if k != key}
                for kind, before, after, changed in _changed(item):
                    yield kind, before, after, {**value, key: changed}
        case list():
            for index, item in enumerate(value):
                if len(value) > 1:
                    yield "an item left out", _short(item), "", [*value[:index], *value[index + 1 :]]
                for kind, before, after, changed in _changed(item):
                    yield kind, before, after, [*value[:index], changed, *value[index + 1 :]]
        case bool():
            yield "yes for no", str(value).lower(), str(not value).lower(), not value
        case int() | float():
            yield "another number", str(value), str(value + 1), value + 1
        case str():
            yield from edited(value)
        case _:
            return


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _of_calls(right: Response, calls: Sequence[ToolCall]) -> Iterator[Edit]:
    for index, call in islice(enumerate(calls), MOST_OF_A_KIND):
        rest = (*calls[:index], *calls[index + 1 :])
        yield Edit("a tool call left out", call.name, "", replace(right, tool_calls=rest))
        changed = next(_changed_input(call.input), None)
        if changed is not None:
            before, after, arguments = changed
            other = (*calls[:index], replace(call, input=arguments), *calls[index + 1 :])
            label = f"{call.name} {before}", f"{call.name} {after}"
            yield Edit("another argument", *label, replace(right, tool_calls=other))


def _changed_input(value: object) -> Iterator[tuple[str, str, object]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str):
                yield item, "another text", {**value, key: "another text"}
            elif isinstance(item, bool | int | float):
                after = not item if isinstance(item, bool) else item + 1
                yield str(item), str(after), {**value, key: after}
