"""Numbers as the text that suites mean by them."""

from __future__ import annotations

from decimal import Decimal


def number_text(number: float) -> str:
    """The shortest text of a number, as JavaScript's `String(number)` writes it: 42.0 is 42, 1e-5 is 0.00001."""
    if isinstance(number, int) or (number.is_integer() and abs(number) < 1e21):
        return str(int(number))
    text = repr(number)
    if "e" not in text:
        return text
    if 1e-6 <= abs(number) < 1e21:
        return format(Decimal(text), "f")
    mantissa, exponent = text.split("e")
    return f"{mantissa}e{int(exponent):+d}"
