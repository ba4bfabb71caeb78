"""Records as JSON, and back."""

from __future__ import annotations

import json

import pytest

from runevals.lib.parsing.record_json import WrongRecord, from_json, from_plain, json_text
from runevals.records import (
    Citation,
    Delivery,
    FileChange,
    FileFound,
    ProgramEnded,
    ProgramProbe,
    Response,
    ToolCall,
    WorkspaceChanges,
)


def test_an_answer_comes_back_as_it_was_kept():
    answer = Response(
        text="Fixed.",
        tool_calls=(ToolCall(name="Bash", input={"command": "ls"}, output="a", ok=True, duration_s=0.1),),
        citations=(Citation(text="a"),),
        delivery=Delivery(cached_tokens=3),
        session="s-1",
        refused=("Write",),
        workspace=WorkspaceChanges(
            changes=(FileChange(path="a.py", change="changed", lines_added=1, lines_removed=2),),
            diff="--- a",
            files=(FileFound(path="a.py", kind="file", text="x"),),
            programs=(ProgramEnded(probe=ProgramProbe(argv=("pytest",), timeout_s=1.0), exit_code=1),),
        ),
    )
    assert from_json(json_text(answer), Response) == answer


@pytest.mark.parametrize(
    "text",
    ["\ud83d", "a \ud83d ü\u2028", "é"],
    ids=["half a character", "half a character among others", "Unicode"],
)
def test_any_text_comes_back(text):
    answer = Response(text=text, value={text: [text]})
    assert from_json(json_text(answer), Response) == answer


def test_a_number_that_json_does_not_have_becomes_unknown():
    answer = Response(text="\ud83d", value=float("nan"), cost_usd=float("inf"))
    for one in (answer, Response(value=float("nan"), cost_usd=float("inf"))):
        read = from_json(json_text(one), Response)
        assert (read.value, read.cost_usd) == (None, None)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"tool_calls": [{"name": "a"}, {"name": 1}]}', "/tool_calls/1/name Expected 'str', got 'int'"),
        ('{"tool_calls": [{}]}', "/tool_calls/0 'name' is missing"),
        ('{"delivery": {"made_at": 1e200}}', "/delivery/made_at Expected 'float' <= 1e+100"),
        ("[]", "/ Expected 'object', got 'array'"),
    ],
)
def test_json_of_another_type_is_refused_with_the_place(text, complaint):
    for read in (lambda: from_json(text, Response), lambda: from_plain(json.loads(text), Response)):
        with pytest.raises(WrongRecord) as caught:
            read()
        assert str(caught.value).startswith(complaint.partition(" Exp")[0])
    with pytest.raises(WrongRecord) as caught:
        from_json(text, Response)
    assert str(caught.value) == complaint


@pytest.mark.parametrize("text", ["{", '{"text": NaN}', '{"value": 1e999}', ""])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        from_json(text, Response)
