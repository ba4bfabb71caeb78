"""The verdict as a comment on a pull request, in whole sections as far as they fit."""

from __future__ import annotations

from collections.abc import Sequence

from runevals.lib.text.numbers import phrase
from runevals.records import Conclusion, Links
from runevals.reports.next_steps import Where
from runevals.reports.sections import Section, sections

FILENAME = "comment.md"
MOST_CHARACTERS = 60_000
MOST_BYTES = 200_000
OF_JOB = Where(document="results.json")  # which a reader loads from the job


def render(conclusion: Conclusion, links: Links, marker: str = "") -> str:
    """The comment's text, which begins with `marker`; whole sections are left out until it fits."""
    included = list(sections(conclusion, links, OF_JOB))
    left_out: list[Section] = []
    while True:
        text = _joined(included, left_out, marker)
        droppable = [section for section in included if section.rank]
        if fits(text) or not droppable:
            return text
        next_out = max(droppable, key=lambda section: section.rank)
        included.remove(next_out)
        left_out.append(next_out)


def _joined(included: Sequence[Section], left_out: Sequence[Section], marker: str) -> str:
    texts = [section.text for section in included]
    if left_out:
        names = ", ".join(dict.fromkeys(section.name for section in left_out))
        texts.insert(-1, f"<sub>Too long for a comment: {names}. The summary of the run has them.</sub>")
    return phrase(marker, "{}\n") + "\n\n".join(texts) + "\n"


def fits(text: str) -> bool:
    """Whether GitHub takes it as a comment."""
    return len(text) <= MOST_CHARACTERS and len(text.encode("utf-8", "backslashreplace")) <= MOST_BYTES
