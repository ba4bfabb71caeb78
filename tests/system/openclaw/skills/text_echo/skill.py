"""Gives a text back in another case."""

from shapes import SHAPES

MOST = 10_000


def action(text, format):
    if len(text) > MOST or "AAAAAAAA" in text:
        raise ValueError("the text is too large")
    return SHAPES[format](text.replace("\0", ""))
