"""Python functions as targets, in workers of their own."""

from __future__ import annotations

import os
import signal
import time
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import runevals
from runevals.records import Conversation, Delivery
from runevals.records.errors import TargetRefused
from runevals.targets.python import PythonSettings, PythonTarget
from tests.sample_suites import SUITE

ASKED = Conversation(suite="s", case="c", attempt=1, turn=1, prompt="Why?")


def python(folder, function="agent.py:answer", **told) -> PythonTarget:
    told = {"timeout_s": 10.0, "deterministic": True, **told}
    return PythonTarget(PythonSettings(type="python", base=folder, function=function, **told), {})


@pytest.fixture
def function(tmp_path):
    made = []

    def make(code: str, named: str = "agent.py:answer", timeout_s: float = 10.0) -> PythonTarget:
        (tmp_path / "agent.py").write_text(code, encoding="utf-8")
        made.append(python(tmp_path, named, timeout_s=timeout_s))
        return made[-1]

    yield make
    for target in made:
        target.close()


@pytest.mark.parametrize("named", ["agent.py:answer", "agent:answer"])
def test_a_function_can_be_loaded_from_a_file_or_a_module(function, named):
    code = "def answer(prompt, messages, case): return f\"{prompt} {len(messages)} {case['key']}\""
    assert function(code, named).answer(ASKED).text == "Why? 1 c"


def test_the_system_prompt_is_the_first_of_the_messages(tmp_path):
    code = "def answer(prompt, messages, case): return f\"{messages[0]['role']}: {messages[0]['content']}\""
    (tmp_path / "agent.py").write_text(code, encoding="utf-8")
    target = python(tmp_path, system_prompt="Be kind.")
    try:
        assert target.answer(ASKED).text == "system: Be kind."
    finally:
        target.close()


def test_a_function_can_accept_only_the_prompt(function):
    assert function("def answer(prompt): return prompt.upper()").answer(ASKED).text == "WHY?"


def test_calls_of_an_async_function_share_one_event_loop(function):
    code = "import asyncio\nloops = set()\nasync def answer(prompt):\n    await asyncio.sleep(0)\n"
    code += "    loops.add(asyncio.get_running_loop())\n    return str(len(loops))"
    target = function(code)
    assert [target.answer(ASKED).text for _ in range(2)] == ["1", "1"]


def test_a_function_can_return_a_report(function):
    response = function("def answer(prompt): return {'output': 'Yes', 'cost_usd': 0.5}").answer(ASKED)
    assert (response.text, response.cost_usd, response.delivery) == ("Yes", 0.5, None)


def test_a_function_can_report_a_cached_answer(function):
    response = function("def answer(prompt): return {'output': 'Yes', 'responseId': 'r1', 'cached': True}").answer(
        ASKED
    )
    assert response.delivery == Delivery(response_id="r1", from_cache=True)


def test_output_that_a_function_prints_is_not_its_answer(function):
    assert function("def answer(prompt):\n print('{}')\n return 'ok'").answer(ASKED).text == "ok"


@pytest.mark.needs("linux")
def test_an_idle_worker_that_died_is_replaced(function):
    target = function("import os\ndef answer(prompt): return str(os.getpid())")
    first = int(target.answer(ASKED).text)
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    second = target.answer(ASKED)
    assert (second.problem, second.text != str(first)) == (None, True)


@pytest.mark.parametrize(
    ("body", "code", "told"),
    [
        ("raise ValueError('no key')", "target_failed", "ValueError: no key (agent.py:2)"),
        ("import sys; sys.exit(3)", "target_failed", "SystemExit: 3"),
        ("import os; os._exit(1)", "target_failed", "ended during the call"),
        ("return 5", "target_unparseable", "the function returned int, but must return text or an object"),
        ("return {'a': 1}", "target_unparseable", "returned an object without 'output', but must"),
        ("return object()", "target_failed", "not JSON serializable"),
        ("e = KeyError(prompt); e.headers = ['a']; raise e", "target_failed", "KeyError: 'Why?' (agent.py:2)"),
    ],
)
def test_after_every_failure_of_a_function_the_next_call_works(function, body, code, told):
    target = function(f"def answer(prompt):\n if prompt == 'Why?': {body}\n return 'fine'")
    problem = target.answer(ASKED).problem
    assert problem.code == code
    assert told in problem.message
    assert target.answer(Conversation(suite="s", case="c", attempt=1, turn=1, prompt="ok")).text == "fine"


def test_a_function_asks_the_mocks_of_the_case_for_its_tool_calls(function):
    mocks = {"mocks": [{"tool": "Read", "return_seq": ["one", "two"]}]}
    target = function(
        "def answer(prompt, messages, case, call_tool):\n"
        " return call_tool('Read') + call_tool('Read', {'a': 1}) + call_tool('Bash')"
    )
    response = target.answer(Conversation(suite="s", case="c", attempt=1, turn=1, prompt="?", metadata=mocks))
    assert response.text == "onetwoerror: this tool cannot be used here"
    assert [call.mock for call in response.tool_calls] == ["Read:1", "Read:1", None]


@pytest.mark.parametrize("fields", ["code = 401", "status_code = 401", "response = Reply()"])
def test_a_server_that_refuses_its_key_ends_the_run(function, fields):
    code = f"class Reply: status_code = 401\nclass Refused(Exception): {fields}\n"
    target = function(f"{code}def answer(prompt): raise Refused('wrong key')")
    with pytest.raises(TargetRefused, match=r"the target refuses every call: Refused: wrong key \(agent.py:3\)"):
        target.answer(ASKED)


def test_an_error_names_the_line_of_the_repository_and_what_the_server_answered(function, tmp_path):
    (tmp_path / "src").mkdir()
    code = "import json, urllib.request, urllib.error, io\ndef ask():\n raise urllib.error.HTTPError("
    code += "'http://h', 402, 'Unpaid', {}, io.BytesIO(b'{\"error\":  \"wrong key\"}'))\n"
    code += "def read():\n return json.loads('not JSON')\n"
    (tmp_path / "src" / "bot.py").write_text(code, encoding="utf-8")
    target = function("import sys; sys.path.insert(0, 'src')\nimport bot\ndef answer(prompt): return bot.ask()")
    message = target.answer(ASKED).problem.message
    assert 'HTTPError: HTTP Error 402: Unpaid: {"error": "wrong key"} (src/bot.py:3)' in message
    target = function("import sys; sys.path.insert(0, 'src')\nimport bot\ndef answer(prompt): return bot.read()")
    assert "(src/bot.py:5)" in target.answer(ASKED).problem.message


def test_a_call_of_a_function_that_times_out_is_killed(function):
    target = function("import time\ndef answer(prompt):\n time.sleep(30)", timeout_s=0.3)
    started = time.monotonic()
    assert target.answer(ASKED).problem.code == "target_timeout"
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("def anwser(prompt): ...", "AttributeError"),
        ("def answer(", "SyntaxError"),
        ("import nothing_of_this_name", "ModuleNotFoundError"),
        ("from .other import text", "name it as a module of its package: python:PACKAGE.MODULE:FUNCTION"),
        ("answer = 5", "is not a function"),
    ],
)
def test_a_function_that_cannot_be_loaded_stops_the_run(function, code, told):
    with pytest.raises(TargetRefused, match=told):
        function(code).answer(ASKED)


def test_a_module_that_is_not_there_is_told_without_a_place_in_pythons_own_code(project, runevals):
    project.write("evals.json", SUITE)
    code, out, err = runevals("run", "--target", "python:no.such.module:answer")
    assert code == 3
    assert "cannot be loaded: ModuleNotFoundError: No module named 'no'\n" in out + err


WRITES = """\
import os
def write(line):
    for number in range(3, 12):
        try:
            os.write(number, line)
        except OSError:
            pass
"""
LINES = {
    "no JSON": "b'x\\n'",
    "no object": "b'5\\n'",
    "NUL": 'b\'{"file": "\\\\u0000"}\\n\'',
    "deep": "b'[' * 200_000 + b'\\n'",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_what_its_code_writes_as_the_worker_is_not_a_bug_of_ours(function, line):
    at_once = function(f"{WRITES}write({line})\ndef answer(prompt): return 'a'\n")
    with pytest.raises(TargetRefused, match="its code wrote to the pipe of the worker"):
        at_once.answer(ASKED)
    later = function(f"{WRITES}def answer(prompt): write({line})\n").answer(ASKED)
    assert later.problem.code in ("target_failed", "target_unparseable")


def test_children_of_a_function_cannot_read_the_requests(function):
    cat = "subprocess.run(['cat'], capture_output=True).stdout.decode()"
    code = f"import subprocess\ndef answer(prompt): return {cat} or 'eof'"
    assert function(code).answer(ASKED).text == "eof"


def test_a_function_does_not_import_the_modules_of_runevals(function):
    code = "def answer(prompt):\n import openai\n return openai.__file__"
    assert Path(runevals.__file__).parent not in Path(function(code).answer(ASKED).text).parents


def test_the_first_worker_is_started_alone(function, tmp_path):
    """Sixteen slow imports at once on two cores take eight times as long as one."""
    code = (
        "import pathlib, time\n"
        "log = pathlib.Path(__file__).with_name('log')\n"
        "def wait_for(workers):\n"
        "    ends_at = time.monotonic() + 30\n"
        "    while log.read_text().count('begin') < workers and time.monotonic() < ends_at:\n"
        "        time.sleep(0.01)\n"
        "log.open('a').write('begin\\n')\n"
        "if log.read_text().count('begin') > 1:\n"
        "    wait_for(3)\n"
        "else:\n"
        "    time.sleep(0.5)\n"
        "log.open('a').write('end\\n')\n"
        "def answer(prompt):\n"
        "    wait_for(3)\n"
        "    return prompt\n"
    )
    target = function(code)
    with ThreadPoolExecutor(4) as calls:
        texts = [response.text for response in calls.map(target.answer, [ASKED] * 4)]
    assert texts == ["Why?"] * 4
    lines = (tmp_path / "log").read_text(encoding="utf-8").split()
    assert lines[:2] == ["begin", "end"]
    assert lines[2:4] == ["begin", "begin"], "the others are started together"


def test_workers_are_started_few_at_once(function, tmp_path):
    """As many as there are processors, or half as many as there are already: the machine has calls to answer."""
    code = (
        "import pathlib, time\n"
        "log = pathlib.Path(__file__).with_name('log')\n"
        "log.open('a').write('begin\\n')\n"
        "time.sleep(0.3)\n"
        "log.open('a').write('end\\n')\n"
        "def answer(prompt):\n"
        "    ends_at = time.monotonic() + 60\n"
        "    while log.read_text().count('begin') < 16 and time.monotonic() < ends_at:\n"
        "        time.sleep(0.01)\n"
        "    return prompt\n"
    )
    target = function(code, timeout_s=90.0)
    with ThreadPoolExecutor(16) as calls:
        texts = [response.text for response in calls.map(target.answer, [ASKED] * 16)]
    assert texts == ["Why?"] * 16
    lines = (tmp_path / "log").read_text(encoding="utf-8").split()
    starting = [lines[: n + 1].count("begin") - lines[:n].count("end") for n in range(len(lines))]
    assert lines.count("begin") == 16
    assert max(starting) <= max(8, os.cpu_count() or 1)


def test_where_the_first_worker_cannot_start_no_other_is_started(function, tmp_path):
    code = (
        "import pathlib, time\n"
        "pathlib.Path(__file__).with_name('log').open('a').write('begin\\n')\n"
        "time.sleep(0.3)\n"
        "import nothing_of_this_name\n"
    )
    target = function(code)
    with ThreadPoolExecutor(4) as calls:
        waiting = [calls.submit(target.answer, ASKED) for _ in range(4)]
    assert all("nothing_of_this_name" in str(call.exception()) for call in waiting)
    assert (tmp_path / "log").read_text(encoding="utf-8").split() == ["begin"]


def test_another_interpreter_needs_no_package_of_ours(tmp_path):
    """An environment of the user's own: its packages, and none of ours."""
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    interpreter = tmp_path / "venv" / "bin" / "python"
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')", encoding="utf-8")
    code = "import sys\ndef answer(prompt): return sys.prefix"
    (tmp_path / "agent.py").write_text(code, encoding="utf-8")
    for named in (str(interpreter), "venv/bin/python"):
        target = python(tmp_path, interpreter=named)
        try:
            assert target.answer(ASKED).text == str(tmp_path / "venv")
        finally:
            target.close()


def test_an_interpreter_that_is_not_there_is_named(tmp_path):
    target = python(tmp_path, interpreter=".venv/bin/python")
    with pytest.raises(TargetRefused, match=r"\.venv/bin/python"):
        target.answer(ASKED)


def test_in_the_container_a_package_of_the_jobs_is_said_to_need_the_other_form(function, monkeypatch):
    monkeypatch.setenv("RUNEVALS_IN_CONTAINER", "1")
    with pytest.raises(TargetRefused, match=r"nothing_of_this_name.*; use runevals/runevals, which runs on the "):
        function("import nothing_of_this_name").answer(ASKED)
