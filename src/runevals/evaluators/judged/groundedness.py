"""A judge scores how far sources support the response."""

from __future__ import annotations

from runevals.evaluators.catalogue import evaluator
from runevals.evaluators.judged.prompt_parts import question
from runevals.evaluators.kinds import Judged, Subject, missing
from runevals.records import Problem, Response, Verdict
from runevals.records.judgement import Question


@evaluator("Groundedness")
class Groundedness(Judged):
    """A judge scores 1–5 how far sources support the response; passes from 3.

    The judge sees the response and the case's `context`; without one, the citations and tool outputs that the
    target reports. If the target reports neither, the check is errored (`evidence_missing`).

    Example:
        "context": "The meal allowance is $200 a day.", "evaluators": {"Groundedness": {}}
    """

    rubric = """Score how far the SOURCES support what the RESPONSE states. The sources are the only truth here.
1: nothing it states is supported, or there are no sources.
2: most of what it states is not in the sources or contradicts them.
3: it is supported in part.
4: all it states is supported, but it leaves out what the sources say on the matter.
5: all it states is supported by the sources."""

    def question(self, subject: Subject) -> Question | Verdict | Problem:
        sources = subject.context if subject.context is not None else _sources(subject.response)
        if sources is None:
            return missing(
                "nothing to ground the answer in: the case has no context and the target reports neither "
                "citations nor tool calls; add `context` to the case"
            )
        return question(self, ("SOURCES", sources or "(none)"), ("RESPONSE", subject.response.text))


def _sources(response: Response) -> str | None:
    if response.citations is None and response.tool_calls is None:
        return None
    citations = [citation.text for citation in response.citations or ()]
    outputs = [call.output for call in response.tool_calls or () if call.output]
    return "\n\n".join([*citations, *outputs])
