"""Results without content: prompts and answers are left out of documents that others may read."""

from __future__ import annotations

import hashlib
import json

from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.records import CaseReport, Problem, RunReport, SimulatedConversation, TurnReport
from runevals.records.rules import Content


def without_content(report: RunReport, content: Content) -> RunReport:
    """`report` with every text of prompts, answers and reasons left out, or as its hash: equal texts stay equal.

    Statuses, scores, costs, times and fingerprints stay, so that it can be compared as before.
    """
    if content == "full":
        return report
    return replace(report, cases=tuple(_case(case, content) for case in report.cases))


def _case(case: CaseReport, content: Content) -> CaseReport:
    attempts = (replace(one, turns=tuple(_turn(turn, content) for turn in one.turns)) for one in case.attempts)
    return replace(case, name=case.key, notes=None, attempts=tuple(attempts))


def _turn(turn: TurnReport, content: Content) -> TurnReport:
    return replace(
        turn,
        prompt=_text(turn.prompt, content) or "",
        expected=_text(turn.expected, content),
        context=_text(turn.context, content),
        output=_text(turn.output, content),
        tool_calls=if_known(
            lambda calls: tuple(replace(call, input=None, output=None) for call in calls), turn.tool_calls
        ),
        citations=if_known(lambda _: (), turn.citations),
        value=if_known(lambda one: _text(json.dumps(one, sort_keys=True, default=str), content), turn.value),
        raised=_text(turn.raised, content),
        session=None,
        conversation=if_known(lambda talk: _conversation(talk, content), turn.conversation),
        workspace=if_known(  # its paths stay
            lambda one: replace(one, diff="", diff_complete=not one.diff, files=(), programs=()), turn.workspace
        ),
        error=if_known(_code, turn.error),
        results=tuple(  # a reason may quote the answer, and details may hold it
            replace(result, reason="", details={}, error=if_known(_code, result.error)) for result in turn.results
        ),
    )


def _code(problem: Problem) -> Problem:
    return replace(problem, message=problem.code)


def _conversation(talk: SimulatedConversation, content: Content) -> SimulatedConversation:
    messages = tuple(replace(one, content=_text(one.content, content) or "") for one in talk.messages)
    return replace(talk, messages=messages)


def _text(text: str | None, content: Content) -> str | None:
    if text is None or content == "none":
        return None
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()}"
