"""A key that turns up everywhere it could is written nowhere: no file, no log, no comment, no cache."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from urllib.parse import quote

import pytest

from tests.chat_server import Reply, chat_server
from tests.github.emulator import REPOSITORY_ID, TOKEN
from tests.json_server import Answer, json_server
from tests.judge.replies import verdict

CANARY = "cnry/9Zk+Q7wPx4LmT=="  # has what is written otherwise in addresses and in HTML attributes
FORMS = {TOKEN, CANARY, quote(CANARY, safe=""), quote(CANARY), html.escape(CANARY), CANARY.replace("/", "\\/")}
PLACES = ("answer", "error", "header", "redirect", "broken", "tools", "reason")

AGENT = """
import json, os, sys

KEY = os.environ["AGENT_KEY"]

def answer(prompt):
    print(KEY, file=sys.stderr)
    print(KEY)
    if prompt.startswith(("error", "header")):
        raise ValueError("no access with " + KEY)
    if prompt.startswith("redirect"):
        raise SystemExit("https://agent.example/?key=" + KEY)
    calls = [{"name": "call", "input": {"key": KEY, KEY: 1}}]
    return {"output": "the key is " + KEY, "toolCalls": calls, "model": KEY}
"""
PYTHON = "{type: python, function: 'agent.py:answer'}"
HTTP = "{type: http, url: 'https://not.asked.example', api_key_env: AGENT_KEY, headers: {X-Key: {env: AGENT_KEY}}}"


def suite() -> dict:
    items = [
        {
            "testId": f"{place} {CANARY}",
            "prompt": f"{place}: is {CANARY} the key? https://agent.example/?key={quote(CANARY, safe='')}",
            "expected_response": CANARY[::-1],
            "category": CANARY,
            "tags": [CANARY],
        }
        for place in PLACES
    ]
    return {"schemaVersion": "1.2.0", "default_evaluators": {"Relevance": {}, "ExactMatch": {}}, "items": items}


def leaking(asked, number):
    """An endpoint that gives back what it was sent, each time in another way."""
    key = asked.headers["x-key"]
    place = asked.body["prompt"].split(":")[0]
    match place:
        case "error":
            return Answer({"error": f"no access with {key} at {asked.path}"}, status=400)
        case "header":
            return Answer({"error": "no"}, status=400, headers={"X-Key": key, "WWW-Authenticate": key})
        case "redirect":
            return Answer({}, status=302, headers={"Location": f"{asked.path}&key={key}"})
        case "broken":
            return Answer(raw=f'{{"output": "{key}'.encode())
    return {
        "output": f"you sent {asked.headers['authorization']}",
        "tool_calls": [{"name": key, "input": {key: 1}}],
    }


def judging(body, number):
    shown = body["messages"][1]["content"]
    return Reply(f"no JSON but {CANARY}") if "broken" in shown else Reply(verdict(body, 2, reasoning=shown[-200:]))


@pytest.mark.parametrize("target", [PYTHON, HTTP], ids=["python", "http"])
def test_a_key_is_written_nowhere(repository, hub, tmp_path_factory, target):
    runner = tmp_path_factory.mktemp("runner")
    repository.write("evals.json", suite())
    repository.write("agent.py", AGENT)
    repository.write("runevals.yaml", f"suites: [evals.json]\ntarget: {target}\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "change")
    head, own = repository.git("rev-parse", "HEAD"), {"id": REPOSITORY_ID}
    base = {"sha": repository.git("rev-parse", "main"), "ref": "main", "repo": own}
    event = {"pull_request": {"number": 7, "head": {"sha": head, "ref": "change", "repo": own}, "base": base}}
    (runner / "event.json").write_text(json.dumps(event), encoding="utf-8")
    (runner / "output").touch()
    (runner / "summary").touch()
    with json_server(leaking) as agent, chat_server(judging) as judge:
        environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(runner / "event.json"),
            "GITHUB_OUTPUT": str(runner / "output"),
            "GITHUB_STEP_SUMMARY": str(runner / "summary"),
            "GITHUB_API_URL": hub.url,
            "GITHUB_REPOSITORY": "o/r",
            "INPUT_GITHUB_TOKEN": TOKEN,
            "INPUT_JUDGE": "big",
            "RUNEVALS_CACHE": str(runner / "cache"),
            "OPENAI_BASE_URL": judge.base_url,
            "OPENAI_API_KEY": CANARY,
            "AGENT_KEY": CANARY,
            "RUNEVALS_API_KEY_ENV": "AGENT_KEY",
            "RUNEVALS_TARGET_URL": f"{agent.url}/chat?key={quote(CANARY, safe='')}",
        }
        done = subprocess.run(
            [sys.executable, "-m", "runevals", "action"],
            cwd=repository.path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    log = "\n".join(
        line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("::add-mask::")
    )
    written = {
        str(path): path.read_bytes() for folder in (repository.path / ".evals", runner) for path in files(folder)
    }
    names = {path.rsplit("/", 1)[1] for path in written}
    [page] = [name for name in names if name.endswith(".html")]
    assert {"results.json", "junit.xml", "results.csv", "summary.md", "comment.md"} <= names, log
    assert any("/cache/" in path for path in written), "the judge's answers are kept"
    assert judge.requests
    assert hub.bodies()
    places = {"log": log.encode(), "comment": "".join(hub.bodies()).encode(), **written}
    leaks = [(place, form) for place, text in places.items() for form in FORMS if form.encode() in text]
    assert leaks == []
    for name in ("results.json", page, "junit.xml", "comment.md"):
        told = written[str(repository.path / ".evals" / "results" / name)]
        assert b"[redacted OPENAI" in told.replace(b"&#91;", b"["), name


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]
