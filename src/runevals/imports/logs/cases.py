"""Conversations of a log → an eval document to be read before it counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from runevals.imports.logs.conversations import LoggedConversation
from runevals.lib.nullable import without_none
from runevals.lib.parsing.source import read_json
from runevals.lib.text.numbers import first_of, phrase
from runevals.suites.dialects import LoadOptions, eval_document
from runevals.suites.health.duplicates import similar_cases

TAG = "imported"
MOST_TURNS = 20  # of a case
MOST_CALLS = 20  # of tools, in the notes of a case
LONGEST_CALL = 200  # characters of each


def as_document(conversations: Sequence[LoggedConversation], *, expected: bool) -> dict[str, Any]:
    """A case for each conversation, near-duplicates folded; with `expected`, answers are what is expected too."""
    first = _firsts(conversations)
    more = Counter(first)
    items = [
        _item(conversation, more[index] - 1, expected=expected)
        for index, conversation in enumerate(conversations)
        if first[index] == index
    ]
    return {"schemaVersion": eval_document.CURRENT_VERSION, "default_evaluators": {}, "items": items}


def _firsts(conversations: Sequence[LoggedConversation]) -> list[int]:
    """For each conversation, the first one that asks the same or nearly the same."""
    items = [
        {"testId": str(index), "turns": [{"prompt": turn.prompt} for turn in conversation.turns[:MOST_TURNS]]}
        for index, conversation in enumerate(conversations)
    ]
    document = {"schemaVersion": eval_document.CURRENT_VERSION, "default_evaluators": {}, "items": items}
    suite = eval_document.load(read_json(json.dumps(document), "the log"), LoadOptions())
    first = list(range(len(conversations)))
    for case, earlier, _ in similar_cases(suite.cases):
        first[int(case.key)] = first[int(earlier.key)]
    return first


def _item(conversation: LoggedConversation, more: int, *, expected: bool) -> dict[str, Any]:
    names = ("expected_response", "response") if expected else ("response",)
    answered = conversation.turns[:MOST_TURNS]
    turns = [without_none(prompt=turn.prompt, **dict.fromkeys(names, turn.answer)) for turn in answered]
    whole = turns[0] if len(turns) == 1 else {"turns": turns}
    return {**whole, "tags": [TAG], "notes": _notes(conversation, more)}


def _notes(conversation: LoggedConversation, more: int) -> str:
    """Where a case comes from, and what it leaves out."""
    calls = [call for turn in conversation.turns for call in turn.calls]
    short = [call if len(call) <= LONGEST_CALL else f"{call[:LONGEST_CALL]}…" for call in calls]
    turns = len(conversation.turns)
    notes = (
        f"From {conversation.place}",
        phrase(more, "{} more like it"),
        phrase(turns > MOST_TURNS, f"the first {MOST_TURNS} of {turns} turns"),
        phrase(conversation.system, "it had a system prompt, which belongs to the target"),
        phrase(first_of(short, MOST_CALLS), "tools: {}"),
    )
    return "; ".join(filter(None, notes))
