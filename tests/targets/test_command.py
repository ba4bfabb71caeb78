"""Programs as targets, started for real."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from runevals.records import Conversation, Message, Workspace
from runevals.records.errors import TargetRefused
from runevals.targets.command import CommandSettings, CommandTarget, failure_of
from runevals.targets.environment import cleaned


def command(tmp_path: Path, *words: str, timeout_s: float = 10.0, env: dict | None = None) -> CommandTarget:
    told = {"type": "command", "model": "m", "system_prompt": "Be kind.", "timeout_s": timeout_s}
    return CommandTarget(CommandSettings(**told, base=tmp_path, command=words), env or {})


def answer(tmp_path: Path, code: str, *, timeout_s: float = 10.0, env: dict | None = None):
    script = tmp_path / "agent.py"
    script.write_text("import json, os, sys, time\n" + code, encoding="utf-8")
    target = command(tmp_path, sys.executable, str(script), timeout_s=timeout_s, env=env)
    history = (Message(role="user", content="Hi"), Message(role="assistant", content="Hello"))
    asked = Conversation(suite="s", case="c", attempt=2, turn=1, prompt="Why?", history=history, metadata={"a": 1})
    return target.answer(asked)


def test_the_program_gets_the_whole_conversation_on_stdin(tmp_path):
    told = json.loads(answer(tmp_path, "sys.stdout.write(sys.stdin.read())").text)
    assert (told["model"], told["system"], told["prompt"]) == ("m", "Be kind.", "Why?")
    assert [m["content"] for m in told["messages"]] == ["Hi", "Hello", "Why?"]
    assert (told["case"]["key"], told["case"]["attempt"], told["case"]["metadata"]) == ("c", 2, {"a": 1})


def test_plain_output_is_the_answer_without_its_final_newline(tmp_path):
    response = answer(tmp_path, "print('Because.\\n')")
    assert response.text == "Because.\n"
    assert response.latency_s > 0
    assert (response.cost_usd, response.tool_calls, response.turns) == (None, None, None)


def test_json_reports_cost_tokens_and_tool_calls(tmp_path):
    response = answer(
        tmp_path,
        "print(json.dumps({'output': 'Yes', 'costUSD': 0.01, 'inputTokens': 7, 'outputTokens': 3, 'numTurns': 2,"
        " 'toolCalls': [{'tool': 'Read', 'input': {'path': 'a'}, 'output': 'x', 'success': True}]}))",
    )
    assert (response.text, response.cost_usd, response.input_tokens, response.turns) == ("Yes", 0.01, 7, 2)
    assert (response.tool_calls[0].name, response.tool_calls[0].ok) == ("Read", True)


def test_json_that_is_not_a_report_is_plain_text(tmp_path):
    assert answer(tmp_path, 'print(\'{"status": "shipped"}\')').text == '{"status": "shipped"}'
    told = 'It says:\n{"error": "not found"}'
    assert answer(tmp_path, f"print({told!r})").text == told


@pytest.mark.parametrize(
    ("code", "problem", "told"),
    [
        ("sys.exit('no such model')", "target_failed", "exit code 1: no such model"),
        ("print(json.dumps({'ok': False, 'error': 'quota'}))", "target_failed", "quota"),
        ("print(json.dumps({'output': 5}))", "target_unparseable", "'output' is not text"),
        (
            "print('loading'); print(json.dumps({'output': 'ok', 'error': 'boom'}))",
            "target_unparseable",
            "not the only line; print everything else to stderr",
        ),
        (
            "print(json.dumps({'output': '', 'ok': 'false'}))",
            "target_unparseable",
            "'ok' is neither true nor false",
        ),
        (
            "print(json.dumps({'output': 'a', 'costUSD': 'much'}))",
            "target_unparseable",
            "'costUSD' must be a number from 0",
        ),
    ],
)
def test_every_failure_of_a_program_has_its_code_and_reason(tmp_path, code, problem, told):
    response = answer(tmp_path, code)
    assert response.problem.code == problem
    assert told in response.problem.message


def test_a_program_that_times_out_is_killed_with_its_children(tmp_path):
    child = tmp_path / "alive"
    late = f"import time; time.sleep(1); open({str(child)!r}, 'w')"
    code = f"import subprocess\nsubprocess.Popen([sys.executable, '-c', {late!r}])\ntime.sleep(30)"
    started = time.monotonic()
    assert answer(tmp_path, code, timeout_s=0.5).problem.code == "target_timeout"
    assert time.monotonic() - started < 10
    time.sleep(1)
    assert not child.exists()


def test_a_missing_program_stops_the_run(tmp_path):
    target = command(tmp_path, "/no/such/program")
    with pytest.raises(TargetRefused, match="/no/such/program"):
        target.answer(Conversation(suite="s", case="c", attempt=1, turn=1, prompt="?"))


def test_tokens_and_command_files_of_the_job_are_not_passed_to_the_program():
    given = {
        "GITHUB_TOKEN": "t",
        "ACTIONS_RUNTIME_TOKEN": "t",
        "INPUT_X": "t",
        "GITHUB_ENV": "f",
        "OPENAI_API_KEY": "k",
    }
    assert cleaned(given) == {"OPENAI_API_KEY": "k"}


def test_a_background_child_does_not_delay_the_answer(tmp_path):
    late = "import subprocess; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(20)'])\n"
    started = time.monotonic()
    assert answer(tmp_path, late + "print('done')").text == "done"
    assert time.monotonic() - started < 10


def test_endless_output_is_cut_off(tmp_path):
    response = answer(tmp_path, "while True: sys.stdout.write('x' * 65536)")
    assert response.problem.code == "target_unparseable"
    assert "larger than 16 MiB" in response.problem.message


def test_a_program_that_does_not_read_stdin_still_answers(tmp_path):
    assert answer(tmp_path, "os.close(0); print('deaf')").text == "deaf"


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        pytest.param("print('done')", None, id="well"),
        pytest.param("sys.exit('\\n'.join('abcdefg'))", "ended with exit code 1: c / d / e / f / g", id="stderr"),
        pytest.param(
            "raise OSError('x')",
            "ended with exit code 1: OSError: x",
            id="an exception",
        ),
        pytest.param("print('why'); sys.exit(3)", "ended with exit code 3: why", id="stdout"),
        pytest.param("sys.exit(3)", "ended with exit code 3, and printed nothing", id="silent"),
        pytest.param("print('x', flush=True); time.sleep(60)", "did not end within 2 s: x", id="late"),
    ],
)
def test_the_failure_of_a_setup_program_has_its_reason(tmp_path, code, failure):
    command = [sys.executable, "-c", "import sys, time\n" + code]
    found = failure_of(
        command, cwd=tmp_path, env={}, timeout_s=2 if "sleep" in code else 20, stopped=lambda: False
    )
    assert found == failure


def test_a_stopped_program_is_killed_with_its_children(tmp_path):
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    started = time.monotonic()
    found = failure_of([sys.executable, "-c", code], cwd=tmp_path, env={}, timeout_s=60, stopped=lambda: True)
    assert found is not None
    assert time.monotonic() - started < 20


def test_a_command_in_a_workspace_still_finds_its_own_files(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "agent.py").write_text("import os; print(os.getcwd())", encoding="utf-8")
    target = command(tmp_path, sys.executable, "agent.py")
    told = {"suite": "s", "case": "c", "attempt": 1, "turn": 1, "prompt": "?", "cwd": tmp_path / "work"}
    assert target.answer(Conversation(**told, workspace=Workspace())).text == str(tmp_path / "work")


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


def mocked_answer(tmp_path, code, timeout_s=10.0):
    (tmp_path / "agent.py").write_text(f"import json, sys, time\n{code}", encoding="utf-8")
    settings = CommandSettings(
        type="command", base=tmp_path, command=(sys.executable, "agent.py"), timeout_s=timeout_s
    )
    target = CommandTarget(settings, {})
    return target.answer(Conversation(suite="s", case="c", attempt=1, turn=1, prompt="Why?", metadata=MOCKED))


def test_a_program_asks_the_mocks_of_the_case_for_its_tool_calls(tmp_path):
    response = mocked_answer(tmp_path, ASKS)
    assert response.text == "30 days, False, True"
    assert [(call.name, call.mock, call.ok) for call in response.tool_calls] == [
        ("Read", "Read:1", True),
        ("Bash", None, False),
    ]


def test_a_program_with_mocks_that_calls_no_tool_has_called_none(tmp_path):
    response = mocked_answer(tmp_path, "sys.stdin.readline()\nprint('line 1')\nprint('line 2')")
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
    response = mocked_answer(tmp_path, code)
    assert (response.text, [call.mock for call in response.tool_calls]) == ("some text\n30 days", ["Read:1"])


def test_an_input_that_is_too_deep_is_a_call_with_that_said(tmp_path):
    code = """
sys.stdin.readline()
print('{"tool": "Read", "input": ' + '[' * 900 + ']' * 900 + '}', flush=True)
print(json.loads(sys.stdin.readline())["ok"])
"""
    response = mocked_answer(tmp_path, code)
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
    assert mocked_answer(tmp_path, code, timeout_s=1.0).problem.code == "target_timeout"
    assert time.monotonic() - began < 15
