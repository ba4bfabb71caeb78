"""The verdict as Markdown, for the job page and for reading."""

from __future__ import annotations

from runevals.records import Conclusion
from runevals.reports.next_steps import Where
from runevals.reports.sections import sections


def render(conclusion: Conclusion) -> str:
    """Every section, whatever its length."""
    return "\n\n".join(section.text for section in sections(conclusion, where=Where())) + "\n"
