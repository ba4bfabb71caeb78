"""Several projects or targets in one comment and one summary: a verdict for all, then a section each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.text.escape import inert_line
from runevals.lib.text.numbers import phrase
from runevals.records import Conclusion, Links
from runevals.reports.comment import OF_JOB, fits, too_long
from runevals.reports.next_steps import Where
from runevals.reports.sections import MARKS, Section, folded, headline, sections

_WORST_FIRST = list(dict.fromkeys(MARKS.values()))
LONGEST_NAME = 100
LONGEST_LINE = 2000
SHORT_NAME, SHORT_LINE = 30, 300  # if nothing else is left: escaped, a character becomes eighteen


class SeveralConclusions(Struct, frozen=True, kw_only=True):
    """The line about all of them, a table beside it if they have one, and the conclusion of each."""

    line: str
    conclusions: Mapping[str, Conclusion]
    table: str = ""


class _Part(Struct):
    """One project: its line, and the sections that are left of it."""

    mark: str
    title: str
    short_title: str  # without the verdict in words
    sections: list[Section]
    left_out: list[Section] = []

    @property
    def passed(self) -> bool:
        return self.mark in ("⚪", "✅")

    @property
    def text(self) -> str:
        body = "\n\n".join([*(section.text for section in self.sections), *too_long(self.left_out)])
        return folded(self.title, body) if self.passed and body else f"#### {self.title}\n\n{body}"


def render_comment(several: SeveralConclusions, links: Links, marker: str = "") -> str:
    """The comment, which begins with `marker`; the worst comes first, and what passed opens on a click.

    Whole sections are left out until it fits; the line of each project stays, at last with its mark and name only.
    """
    parts = _parts(several, links)
    while not fits(text := _joined(several, parts, marker)):
        droppable = [(part, section) for part in parts for section in part.sections]
        if not droppable:
            short = [replace(part, title=part.short_title, left_out=[]) for part in parts]
            return _joined(several, short, marker, SHORT_LINE)
        part, section = max(droppable, key=lambda pair: (pair[1].rank, pair[0].passed))
        part.sections.remove(section)
        part.left_out.append(section)
    return text


def render_summary(several: SeveralConclusions) -> str:
    """Every section, whatever its length."""
    return _joined(several, _parts(several, Links()), "")


def _parts(several: SeveralConclusions, links: Links) -> list[_Part]:
    parts = [
        _part(name, conclusion, links, OF_JOB if several.table else replace(OF_JOB, folder=name, enter=name))
        for name, conclusion in several.conclusions.items()
    ]
    return sorted(parts, key=lambda part: _WORST_FIRST.index(part.mark))


def _part(name: str, conclusion: Conclusion, links: Links, where: Where) -> _Part:
    mark, line = headline(conclusion)
    _, *rest = sections(conclusion, links, where)
    return _Part(
        mark=mark,
        title=f"{mark} {inert_line(name, LONGEST_NAME)}: {line}",
        short_title=f"{mark} {inert_line(name, SHORT_NAME)}",
        sections=rest,
    )


def _joined(several: SeveralConclusions, parts: Sequence[_Part], marker: str, longest: int = LONGEST_LINE) -> str:
    table = [several.table.rstrip()] if several.table else []
    head = f"### {parts[0].mark} {inert_line(several.line, longest)}"
    return phrase(marker, "{}\n") + "\n\n".join([head, *table, *(part.text.rstrip() for part in parts)]) + "\n"
