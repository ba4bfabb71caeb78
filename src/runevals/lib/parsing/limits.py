"""How much of a file of unknown origin is read: above a limit it is refused, before it takes time and memory."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    """What every reader of files draws on. A value of JSON takes up to 100 bytes, an XML element 500."""

    document_values: int = 3_000_000  # of JSON that is written by hand, roughly
    long_document_values: int = 30_000_000  # of JSON that a program wrote
    xml_elements: int = 300_000
    problems: int = 1000  # of a file's schema; unknown keys, which may be no more than a warning, do not count
    values_with_problems: int = 20_000  # in the entries that are looked at together to say what is wrong with each
    patterns_s: float = 6.0  # that `redact.patterns` may take in vain, before they are given up


LIMITS = Limits()
