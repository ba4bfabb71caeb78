"""Answers as text, and back: what caches and journals keep is the answer itself."""

from __future__ import annotations

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
from runevals.targets.answer_codec import read_response, response_text


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
    assert read_response(response_text(answer), cached=False) == answer
