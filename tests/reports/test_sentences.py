"""Every sentence that a report can print is in one list, which a reader of a change sees with it."""

from __future__ import annotations

from pathlib import Path

from tests.reports.sentences import sentences


def test_the_list_of_sentences(golden):
    """Read what is new in it as somebody who has not seen the code: it must need no second reading."""
    golden(Path(__file__).parent / "golden" / "sentences.txt", "\n".join(sentences()) + "\n")
