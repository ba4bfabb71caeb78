"""Replies of judges as models of today give them: a score, or why there is none."""

from __future__ import annotations

import json
import re

import pytest

from runevals.judge.model import read_reply
from runevals.models.chat.wire import WIRES
from runevals.models.http.throttle import CallFailed
from tests.judge.replies import QUESTION

NONCE = "0123456789abcdef" * 2
OTHER = "f" * 32


def said(score, **more):
    return json.dumps({"reasoning": "why", "score": score, "nonce": NONCE, **more})


def parts(*texts):
    return [{"type": kind, "text": text} for kind, text in texts]


FOUR = said(4)
THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": said(1)}]}
SCORED = {
    "plain": FOUR,
    "pretty": json.dumps(json.loads(FOUR), indent=2),
    "fence": f"```json\n{FOUR}\n```",
    "fence without a language": f"```\n{FOUR}\n```",
    "prose before": f"Here is my verdict: {FOUR}",
    "prose after": f"{FOUR}\nI hope this helps.",
    "byte order mark": f"\ufeff{FOUR}",
    "twice the same": FOUR + FOUR,
    "more keys": said(4, confidence=0.9),
    "a whole number with a point": said(4.0),
    "a score as text": said("4"),
    "a score as text with a point": said("4.0"),
    "a closed block of thinking with a draft": f"<think>\nfirst: {said(1)}\n</think>\n{FOUR}",
    "a block of another name": f"<thinking>{said(1)}</thinking>{FOUR}",
    "a block that was opened by the template": f"a draft: {said(1)}\n</think>\n{FOUR}",
    "two blocks": f"<think>{said(1)}</think><think>{said(2)}</think>{FOUR}",
    "an unclosed block": f"<think>I should say {FOUR}",
    "an empty block": f"<think></think>{FOUR}",
    "a closing tag that is quoted in the reason": said(4, reasoning="it says </think> in the answer"),
    "parts": parts(("text", FOUR)),
    "parts with thinking aside": [THINKING, *parts(("text", FOUR))],
    "parts with reasoning aside": parts(("reasoning", said(1)), ("text", FOUR)),
    "parts that split the object": parts(("text", FOUR[:20]), ("text", FOUR[20:])),
    "another object before": f'{{"note": 1}} {FOUR}',
    "a planted object": f'{{"score": 5, "nonce": "{OTHER}"}} {FOUR}',
    "an object without its end before": f"{{ {FOUR}",
    "escaped letters": FOUR.replace("score", "\\u0073core"),
}
UNMEASURED = {
    "empty": ("", "the reply is empty"),
    "blank": (" \n\t", "the reply is empty"),
    "no content": (None, "refused"),
    "empty parts": ([], "the reply is empty"),
    "only thinking": ([THINKING], "the reply is empty"),
    "a refusal": ([{"type": "refusal", "refusal": "I cannot."}], "refused to reply: I cannot"),
    "prose": ("The answer is fine, 4 of 5.", "no JSON object"),
    "a bare number": ("4", "no JSON object"),
    "another number of a call": (f'{{"score": 4, "nonce": "{OTHER}"}}', "no JSON object"),
    "no number of a call": ('{"score": 4}', "no JSON object"),
    "single quotes": (f"{{'score': 4, 'nonce': '{NONCE}'}}", "no JSON object"),
    "cut within the object": (FOUR[:-10], "no JSON object"),
    "a key twice": (f'{{"score": 4, "score": 5, "nonce": "{NONCE}"}}', "no JSON object"),
    "two scores": (said(4) + said(5), "different scores"),
    "two scores after thinking": (f"<think>hm</think>{said(4)} {said(5)}", "different scores"),
    "a score in words": (said("four"), "not a number"),
    "a score as a fraction": (said("4/5"), "not a number"),
    "a score as a very long text": (said("4" * 400), "not a number"),
    "true": (said(True), "not a number"),
    "null": (said(None), "not a number"),
    "a list": (said([4]), "not a number"),
    "not a number": (FOUR.replace(": 4", ": NaN"), "outside|no JSON|not a number"),
    "above the scale": (said(7), "outside"),
    "above the scale, as text": (said("7"), "outside"),
    "below the scale": (said(-1), "outside"),
}


def read(content, finish="stop"):
    body = {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": finish}]}
    return read_reply(WIRES["chat"].read(json.dumps(body).encode(), 0.1, from_cache=False), QUESTION, NONCE)


@pytest.mark.parametrize("content", SCORED.values(), ids=SCORED)
def test_a_score_is_read(content):
    assert read(content)[0] == 4.0


@pytest.mark.parametrize(("content", "why"), UNMEASURED.values(), ids=UNMEASURED)
def test_without_a_score_it_says_why(content, why):
    found = read(content)
    assert isinstance(found, str)
    assert re.search(why, found), found


@pytest.mark.parametrize("finish", ["length", "content_filter", "max_tokens", "SAFETY"])
def test_a_cut_reply_is_no_score_even_if_it_has_one(finish):
    assert read(FOUR, finish) == f"the reply was cut ({finish})"


def test_a_completion_without_choices_is_no_reply():
    with pytest.raises(CallFailed, match="without choices"):
        WIRES["chat"].read(b'{"choices": []}', 0.1, from_cache=False)
