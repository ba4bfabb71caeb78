"""The verdict as a badge (SVG)."""

from __future__ import annotations

from xml.sax.saxutils import escape

from runevals.records import Conclusion

NAME = "badge"
FILENAME = "badge.svg"
_COLOURS = {"passed": "#2da44e", "failed": "#cf222e"}


def render(conclusion: Conclusion) -> str:
    """A small picture that says how many cases pass."""
    totals = conclusion.report.totals
    colour = _COLOURS.get(conclusion.verdict.outcome, "#9a6700")
    text = escape(f"evals {totals.passed}/{totals.cases}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="110" height="20" role="img" aria-label="{text}">'
        f'<rect width="110" height="20" rx="3" fill="{colour}"/>'
        f'<text x="55" y="14" fill="#fff" font-size="11" text-anchor="middle">{text}</text>'
        "</svg>\n"
    )
