"""Programs of the user: their variables, and whether they are started here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runevals.models.chat.prices import Prices
from runevals.models.http.throttle import Throttles
from runevals.records import Conversation, Workspace
from runevals.targets.command import CommandSettings
from runevals.targets.conversation_ids import ConversationIds
from runevals.targets.kind import Making
from runevals.targets.python import PythonSettings

HERE = Path()


@pytest.mark.parametrize("trace", [None, "otlp"])
def test_a_program_that_exports_its_trace_stays_here(trace):
    settings = CommandSettings(type="command", base=HERE, command=("a",), trace=trace)
    assert (settings.stays_here_for() is None) == (trace is None)


def test_its_variables_hold_keys_too():
    settings = PythonSettings(type="python", base=HERE, function="a.py:f", variables=("DATABASE_URL",))
    assert settings.key_names == ("OPENAI_API_KEY", "DATABASE_URL")


def test_the_files_of_a_module_and_its_packages_are_named():
    settings = PythonSettings(type="python", base=HERE, function="pack.mod:f")
    names = {path.as_posix() for path in settings.named_files()}
    assert {"pack/__init__.py", "pack.py", "pack/mod.py", "pack/mod/__init__.py"} <= names


@pytest.mark.parametrize(
    ("variables", "end"), [(None, ""), (("BOT_KEY",), "; withheld from it: OTHER_KEY")], ids=["all", "one"]
)
def test_doctor_names_the_keys_that_it_is_not_given(variables, end):
    settings = CommandSettings(type="command", base=HERE, command=("sh",), variables=variables)
    environment = {"PATH": "/bin", "BOT_KEY": "a", "OTHER_KEY": "b", "PLAIN": "c", "GITHUB_TOKEN": "d"}
    assert settings.diagnosis(environment).text == f"command sh{end}"


LIMITED = """import json, os, sys
class Limited(Exception):
    status_code, headers = STATUS, {"Retry-After": "0.01"}
def answer(prompt):
    with open("calls", "a+") as file:
        file.write("x")
        file.seek(0)
        if len(file.read()) < 3:
            raise Limited("slow down")
    return "fine"
if __name__ == "__main__":
    try:
        print(answer(""))
    except Limited as error:
        print(json.dumps({"error": {"message": str(error), "status": STATUS, "retry_after": 0.01}}))
"""


@pytest.mark.parametrize("kind", ["python", "command"])
@pytest.mark.parametrize(
    ("status", "workspace", "calls", "code"),
    [
        pytest.param(429, None, 3, None, id="rate limit"),
        pytest.param(503, None, 3, None, id="overloaded"),
        pytest.param(404, None, 1, "target_failed", id="no such page"),
        pytest.param(429, Workspace(), 1, "target_rate_limited", id="in a folder"),
    ],
)
def test_what_a_server_refused_for_now_is_tried_again(tmp_path, kind, status, workspace, calls, code):
    """A call that leaves changes in a folder is not."""
    (tmp_path / "bot.py").write_text(LIMITED.replace("STATUS", str(status)), encoding="utf-8")
    settings = (
        PythonSettings(type="python", base=tmp_path, function="bot.py:answer")
        if kind == "python"
        else CommandSettings(type="command", base=tmp_path, command=(sys.executable, "bot.py"))
    )
    asked = Conversation(suite="s", case="c", attempt=1, turn=1, prompt="?", workspace=workspace, cwd=tmp_path)
    making = Making(environment={}, throttles=Throttles(), conversations=ConversationIds(), prices=Prices())
    target = settings.build(making)
    try:
        response = target.answer(asked)
    finally:
        target.close()
    assert len((tmp_path / "calls").read_text("utf-8")) == calls
    assert (response.text, response.problem and response.problem.code) == ("fine" if calls == 3 else "", code)
