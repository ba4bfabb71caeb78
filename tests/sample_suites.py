"""Suites for tests, the agents and recorded answers that they are run with, and plans of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from runevals.lib.parsing.source import read_json
from runevals.records import Conversation, ModelIdentity, Response
from runevals.records.rules import Selection
from runevals.suites.dialects import LoadOptions, eval_document
from runevals.suites.plan import RunPlan, make_plan

EXACT = {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}}

# Two cases, of which the agent and the recorded answers get the first right; WORSE gets none.
SUITE = {
    **EXACT,
    "items": [
        {"testId": "a", "prompt": "Capital of France?", "expected_response": "Paris", "category": "eu"},
        {"testId": "b", "prompt": "Capital of Peru?", "expected_response": "Lima", "tags": ["south"]},
    ],
}
ANSWERS = '{"case": "a", "output": "Paris"}\n{"case": "b", "output": "Quito"}\n'
AGENT = "def answer(prompt):\n return {'Capital of France?': 'Paris'}.get(prompt, 'Quito')\n"
WORSE = AGENT.replace("'Paris'", "'Rome'")
SETTINGS = "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer', deterministic: true}\n"

TEN = {
    **EXACT,
    "items": [{"testId": f"k{n}", "prompt": f"{n}?", "expected_response": "yes"} for n in range(10)],
}
WORDS = ("apple", "river", "stone", "cloud", "tiger", "piano", "wheat", "ocean", "candle", "forest")

_DIALECTS = Path(__file__).parent / "suites" / "dialects"


def numbered(count: int, expected: str) -> list[dict[str, str]]:
    """The items k0, k1 and so on, which all expect the same response."""
    return [{"testId": f"k{n}", "prompt": f"Question {n}?", "expected_response": expected} for n in range(count)]


def suite_files(kind: str) -> list[Any]:
    """The suite files of every dialect that are `valid`, or `invalid`, as parameters of a test."""
    found = [
        path
        for path in sorted(_DIALECTS.glob(f"*/{kind}/*"))
        if not path.name.endswith((".cases.json", ".error.txt"))
    ]
    assert found
    return [pytest.param(path, id=f"{path.parent.parent.name}/{path.name}") for path in found]


def plan_of(folder: Path, items: list[dict[str, Any]], **document: object) -> RunPlan:
    """The plan of one run of an eval document with these items."""
    text = json.dumps({"schemaVersion": "1.2.0", **document, "items": items})
    suite = eval_document.load(read_json(text, "s.json"), LoadOptions())
    assert not suite.errors
    return make_plan([suite], Selection())


@dataclass
class Answers:
    """A target that answers by a function and remembers what it was asked."""

    answer_with: Callable[[Conversation], Response]
    asked: list[Conversation] = field(default_factory=list)

    def answer(self, conversation: Conversation) -> Response:
        self.asked.append(conversation)
        return self.answer_with(conversation)

    def identity(self) -> ModelIdentity:
        return ModelIdentity(type="written down")

    def close(self) -> None:
        pass
