"""A run against an OpenAI-compatible server that nobody here wrote (npm @copilotkit/aimock)."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytestmark = pytest.mark.needs("npm")

HERE = Path(__file__).parent / "chat_peer"
ALWAYS_DOWN = 42
LIMITED = range(3, 50, 10)


def fixture(number: int) -> list[dict]:
    """What the server answers to one question, first and afterwards."""
    match = {"userMessage": f"Question {number:02d}?"}
    fine = {"match": match, "response": {"content": f"Answer {number:02d}"}}
    first = {**match, "sequenceIndex": 0}
    if number == ALWAYS_DOWN:
        return [{"match": match, "response": {"error": {"message": "always down"}, "status": 500}}]
    if number in LIMITED:
        limited = {
            "error": {"message": "slow down", "code": "rate_limit_exceeded"},
            "status": 429,
            "retryAfter": 1,
        }
        return [{"match": first, "response": limited}, fine]
    if number == 7:
        return [{"match": first, "response": {"error": {"message": "boom"}, "status": 500}}, fine]
    return [fine]


@pytest.fixture
def peer(tmp_path):
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, tmp_path)
    npm = ["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    subprocess.run(npm, cwd=tmp_path, check=True, timeout=300)
    fixtures = [entry for number in range(50) for entry in fixture(number)]
    (tmp_path / "fixtures.json").write_text(json.dumps({"fixtures": fixtures}), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["node_modules/.bin/llmock", "-p", str(port), "-f", "fixtures.json", "--log-level", "silent"]
    server = subprocess.Popen(command, cwd=tmp_path, start_new_session=True)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(address)
        yield address
    finally:
        server.terminate()
        server.wait(60)


def _wait(address: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/__aimock/journal", timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the peer did not start")


def test_throttled_failing_and_recovering_calls(peer, tmp_path):
    items = [
        {"testId": f"Q-{n:02d}", "prompt": f"Question {n:02d}?", "expected_response": f"Answer {n:02d}"}
        for n in range(50)
    ]
    suite = {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {"mode": "equals"}}, "items": items}
    (tmp_path / "evals.json").write_text(json.dumps(suite), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "runevals", "--model", "gpt-5-mini", "-o", "out.json"],
        cwd=tmp_path,
        env={**os.environ, "OPENAI_BASE_URL": f"{peer}/v1", "OPENAI_API_KEY": "none"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    document = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    errored = [case for case in document["cases"] if case["status"] != "passed"]
    assert [(case["key"], case["status"], case["composite"]) for case in errored] == [("Q-42", "errored", None)]
    assert errored[0]["attempts"][0]["turns"][0]["error"]["code"] == "target_failed"
    assert document["totals"]["composite"] == 5.0  # the errored case is in no mean
    assert document["verdict"]["outcome"] == "unmeasured"
    with urllib.request.urlopen(f"{peer}/__aimock/journal?limit=1000", timeout=30) as answer:
        journal = json.load(answer)
    statuses = [entry["response"]["status"] for entry in journal]
    assert (statuses.count(200), statuses.count(429), statuses.count(500)) == (49, len(LIMITED), 1 + 3 * 5)
