"""A question to a judge, and what a judge model replies to one."""

from __future__ import annotations

import json
import re

from runevals.records.judgement import Question

QUESTION = Question(
    evaluator="Relevance", instructions="Score it.", parts=(("PROMPT", "Why?"), ("RESPONSE", "Because."))
)


def nonce_of(body) -> str:
    return re.search(r'"nonce": "([0-9a-f]{32})"', body["messages"][0]["content"])[1]


def verdict(body, score, **more) -> str:
    """The reply with a score, and the nonce of the call that asks for it."""
    return json.dumps({"reasoning": "to the point", "score": score, "nonce": nonce_of(body), **more})
