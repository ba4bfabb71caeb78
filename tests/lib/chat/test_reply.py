"""One record of a reply, from every shape in which providers give it."""

from __future__ import annotations

import json

from runevals.lib.chat.reply import read_completion


def read(message, finish="stop", **more):
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return read_completion(json.dumps({"choices": [choice], **more}).encode(), 0.1, from_cache=False)


def test_a_plain_reply():
    assert read({"content": "Hi"}).text == "Hi"
