"""Numbers as people read them: shares, scores, money and durations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from runevals.lib.text.escape import one_line

UNKNOWN = "–"
T = TypeVar("T")


def plural(number: int, noun: str) -> str:
    """ "1 case", "2,000 cases"."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def capitalised(text: str) -> str:
    """A sentence's first letter as a capital one; the others stay."""
    return text[:1].upper() + text[1:]


def first_of(texts: Sequence[str], most: int) -> str:
    """ "a, b, c and 4 more"."""
    rest = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def joined(texts: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join(text for text in (", ".join(texts[:-1]), *texts[-1:]) if text)


def short_list(names: Sequence[str], most: int = 3) -> str:
    """Joins names that may be long."""
    return first_of([one_line(name, 60) for name in names], most)


def phrase(value: object, template: str) -> str:
    """`phrase(3, "; {} more")` is "; 3 more"; empty for 0, an empty text and None."""
    return template.format(value) if value else ""


def limited(items: Sequence[T], most: int, show: Callable[[T], str] = str) -> list[str]:
    """The first items as lines, and how many more there are."""
    rest = len(items) - most
    return [*map(show, items[:most]), *([f"… and {rest} more"] if rest > 0 else [])]


def percent(share: float | None) -> str:
    """A share 0–1 as a percentage."""
    return UNKNOWN if share is None else f"{100 * share:.1f} %"


def points(difference: float | None) -> str:
    """A difference of shares in percentage points, with its sign."""
    return UNKNOWN if difference is None else f"{signed(100 * difference, 1)} points"


def relative(before: float | None, now: float | None) -> str:
    """How much a number grew, in percent of it."""
    return UNKNOWN if not before or now is None else f"{signed(100 * (now - before) / before, 0)} %"


def signed(value: float, digits: int) -> str:
    """A number with + or a real minus sign; no sign for what rounds to zero."""
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return text
    return f"−{text}" if value < 0 else f"+{text}"


def score(value: float | None) -> str:
    """A score on its own scale."""
    return UNKNOWN if value is None else f"{value:.2f}"


def money(usd: float | None) -> str:
    """US dollars with significant digits."""
    if usd is None:
        return UNKNOWN
    return f"${usd:.2f}" if usd >= 0.1 or usd == 0 else f"${usd:.4f}"


def seconds(value: float | None) -> str:
    """A duration."""
    if value is None:
        return UNKNOWN
    if value < 1:
        return f"{1000 * value:.0f} ms"
    return f"{value:.1f} s" if value < 60 else f"{value // 60:.0f} min {value % 60:.0f} s"


def count(number: int | None) -> str:
    """ "12 345", with a narrow space."""
    return UNKNOWN if number is None else f"{number:,}".replace(",", "\u202f")


def p_value(p: float) -> str:
    """ "p = 0.0004"; tiny ones only bounded."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"
