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
        *texts, last = (section.text for section in included)
        text = phrase(marker, "{}\n") + "\n\n".join([*texts, *too_long(left_out), last]) + "\n"
        droppable = [section for section in included if section.rank]
        if fits(text) or not droppable:
            return text
        next_out = max(droppable, key=lambda section: section.rank)
        included.remove(next_out)
        left_out.append(next_out)


def too_long(left_out: Sequence[Section]) -> list[str]:
    """A line that names the sections for which there is no room; none if all are there."""
    names = ", ".join(dict.fromkeys(section.name or "its numbers" for section in left_out))
    return [f"<sub>Too long for a comment: {names}. The summary of the run has them.</sub>"] if names else []


def fits(text: str) -> bool:
    """Whether GitHub takes it as a comment."""
    return len(text) <= MOST_CHARACTERS and len(text.encode("utf-8", "backslashreplace")) <= MOST_BYTES
