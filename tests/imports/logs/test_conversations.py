"""Messages of logs as conversations."""

from __future__ import annotations

import pytest

from runevals.imports.logs.conversations import LoggedMessage, LoggedRequest, conversations_of, text_of


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("a", "a"),
        ([{"type": "text", "text": "a"}, {"type": "tool_result", "content": "b"}], "a"),
        (["a", {"type": "input_text", "text": "b"}], "a\nb"),
        ([{"type": "text", "text": "a"}, {"type": "image"}], None),
        (5, ""),
    ],
)
def test_the_text_of_a_message(content, text):
    assert text_of(content) == text


def test_a_request_that_begins_another_one_is_a_step_of_it_and_an_equal_one_is_not():
    first, second = (LoggedMessage(role="user", text=text) for text in "ab")
    requests = [
        LoggedRequest(place=str(n), messages=m)
        for n, m in enumerate([(first,), (first, second), (second,), (second,)])
    ]
    log = conversations_of(requests)
    assert [one.place for one in log.conversations] == ["1", "2", "3"]
    assert log.left_out == {"steps of a longer conversation": 1}
