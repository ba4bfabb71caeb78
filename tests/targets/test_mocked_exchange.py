"""A program asks the mocks of a case for its tool calls, line by line."""

from __future__ import annotations

import sys
import time

from runevals.records import Conversation
from runevals.targets.command import CommandSettings, CommandTarget

MOCKED = {"mocks": [{"tool": "Read", "match": {"file_path": "a.md"}, "return": "30 days"}], "mocksStrict": True}
ASKS = """
request = json.loads(sys.stdin.readline())
def call(tool, **input):
    print(json.dumps({'tool': tool, 'input': input}), flush=True)
    return json.loads(sys.stdin.readline())
found = call('Read', file_path='a.md')
denied = call('Bash', command='ls')
print(json.dumps({'output': f"{found['output']}, {denied['ok']}, {request['mocks']}"}))
"""


def answer(tmp_path, code, timeout_s=10.0):
    (tmp_path / "agent.py").write_text(f"import json, sys, time\n{code}", encoding="utf-8")
    settings = CommandSettings(
        type="command", base=tmp_path, command=(sys.executable, "agent.py"), timeout_s=timeout_s
    )
    target = CommandTarget(settings, {})
    return target.answer(Conversation(suite="s", case="c", attempt=1, turn=1, prompt="Why?", metadata=MOCKED))


def test_a_program_asks_the_mocks_of_the_case_for_its_tool_calls(tmp_path):
    response = answer(tmp_path, ASKS)
    assert response.text == "30 days, False, True"
    assert [(call.name, call.mock, call.ok) for call in response.tool_calls] == [
        ("Read", "Read:1", True),
        ("Bash", None, False),
    ]


def test_a_program_with_mocks_that_calls_no_tool_has_called_none(tmp_path):
    response = answer(tmp_path, "sys.stdin.readline()\nprint('line 1')\nprint('line 2')")
    assert (response.text, response.tool_calls) == ("line 1\nline 2", ())


def test_a_call_that_comes_in_pieces_is_one_call(tmp_path):
    code = """
sys.stdin.readline()
for piece in ('some text\\n{"tool": "Read", "input"', ': {"file_path": "a.md"}}\\n'):
    sys.stdout.write(piece)
    sys.stdout.flush()
    time.sleep(0.1)
print(json.loads(sys.stdin.readline())["output"])
"""
    response = answer(tmp_path, code)
    assert (response.text, [call.mock for call in response.tool_calls]) == ("some text\n30 days", ["Read:1"])


def test_an_input_that_is_too_deep_is_a_call_with_that_said(tmp_path):
    code = """
sys.stdin.readline()
print('{"tool": "Read", "input": ' + '[' * 900 + ']' * 900 + '}', flush=True)
print(json.loads(sys.stdin.readline())["ok"])
"""
    response = answer(tmp_path, code)
    assert [(call.name, call.input) for call in response.tool_calls] == [("Read", "nested deeper than 100 levels")]
    assert response.text == "False"


def test_a_process_that_is_left_with_the_pipe_does_not_prolong_the_answer(tmp_path):
    code = """
import subprocess
subprocess.Popen(["setsid", "sleep", "20"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
for _ in range(20000): print('{"tool":"Read"}')
sys.stdout.flush()
time.sleep(60)
"""
    began = time.monotonic()
    assert answer(tmp_path, code, timeout_s=1.0).problem.code == "target_timeout"
    assert time.monotonic() - began < 15
