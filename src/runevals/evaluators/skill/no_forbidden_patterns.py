"""No forbidden pattern is in a skill's result."""

from __future__ import annotations

from collections.abc import Iterable

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.kinds import Check, Subject, unless
from runevals.evaluators.skill.ended import result_of
from runevals.lib.parsing.json_forms import json_forms
from runevals.records import Verdict


@evaluator("no_forbidden_patterns")
class NoForbiddenPatterns(Check):
    """Passes when none of the texts is in the result (in its JSON, if it is not text).

    A skill that raised or timed out gave nothing away and passes, and the reason says so; forbidden text in its
    error is named in the details.

    Options:
        forbidden: the texts.

    Example:
        "expected": {"type": "no_forbidden_patterns", "forbidden": ["../", "/etc/"]}
        passes: {"value": "no such file"}
        fails: {"value": "root:x:0:0 from /etc/passwd"}
    """

    forbidden: tuple[str, ...]

    def problems(self) -> Iterable[tuple[str | None, str]]:
        if "" in self.forbidden:
            yield "forbidden", "forbidden has the empty text, which is in every result"

    def check(self, subject: Subject) -> Verdict:
        error = subject.response.raised
        if error is not None:
            leaked = [text for text in self.forbidden if text in error]
            details = {"warning": f"its message holds: {', '.join(leaked)}"} if leaked else {}
            return Verdict(1.0, f"passed by error: {error}", details)
        result = result_of(subject)
        forms = [result] if isinstance(result, str) else json_forms(result)
        matches = [text for text in self.forbidden if any(text in form for form in forms)]
        return unless(matches, "nothing forbidden was found", "found", found=matches)
