"""The response cites enough sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal, get_args

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject
from runevals.records import Scale, Verdict

CitationFormat = Literal["oai_unicode", "bracket", "mixed", "markdown"]
FORMATS: tuple[str, ...] = get_args(CitationFormat)
_OAI_MARKER = re.compile("\ue200cite((?:\ue202[^\ue200-\ue202]+)+)\ue201")
_BRACKET = re.compile(r"\[\^(\d+)\^\]|\[(\d+)\](?!\()")
_MARKDOWN = re.compile(r"\[(\d+)\]\(([^()\s]+)\)")


@evaluator("Citations")
class Citations(Check):
    """Counts the sources cited in the response; passes from 1 unless `threshold` says otherwise.

    If the text has no marker, the citations that the target reports beside its text are counted.

    Options:
        citation_format: `oai_unicode`, markers of private-use characters; `bracket`, `[^1^]` or `[1]`;
            `mixed`, either of these; `markdown`, `[1](address)`.
        count: `distinct` sources, or all `occurrences`.

    Example:
        "evaluators": {"Citations": {"citation_format": "mixed", "threshold": 2}}
        passes: Within 30 days [1], with the receipt [2].
        fails: Within 30 days [1], as said before [1].
    """

    scale = Scale(0.0, None)
    default_threshold = 1.0

    citation_format: CitationFormat = "oai_unicode"
    count: Literal["distinct", "occurrences"] = "distinct"

    def check(self, subject: Subject) -> Verdict:
        markers = _MARKERS[self.citation_format](subject.response.text)
        if not markers and subject.response.citations:
            markers = [citation.source or citation.text for citation in subject.response.citations]
        number = len(set(markers)) if self.count == "distinct" else len(markers)
        noun = "citation" if number == 1 else "citations"
        return Verdict(float(number), f"{number} {noun}", {"sources": sorted(set(markers))})


def _oai(text: str) -> list[str]:
    return [source for group in _OAI_MARKER.findall(text) for source in group.split("\ue202")[1:]]


def _brackets(text: str) -> list[str]:
    return [caret or plain for caret, plain in _BRACKET.findall(text)]


_MARKERS: Mapping[CitationFormat, Callable[[str], list[str]]] = {
    "oai_unicode": _oai,
    "bracket": _brackets,
    "mixed": lambda text: _oai(text) + _brackets(text),
    "markdown": lambda text: [number for number, _ in _MARKDOWN.findall(text)],
}
