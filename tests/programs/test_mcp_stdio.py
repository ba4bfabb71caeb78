"""What an MCP server may write: its messages, its requests and its stderr have limits."""

from __future__ import annotations

import resource
import sys
import tempfile

import pytest

from runevals.programs.mcp_servers import RunningServers, ServerFailed, StdioServer

ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "docs", "version": "1"},
    },
    "tools/list": {"tools": []},
    "tools/call": {"content": [{"type": "text", "text": "an answer"}]},
}
HOSTILE = f"""
import json, os, sys, time

def write(descriptor, content):
    while content:
        content = content[os.write(descriptor, content):]

def trick(name):
    if name == "endless line":
        write(1, b"x" * 40_000_000)
    elif name == "requests":
        pings = [{{"jsonrpc": "2.0", "method": "ping", "id": str(number)}} for number in range(30_000)]
        write(1, "".join(json.dumps(ping) + chr(10) for ping in pings).encode())
        time.sleep(60)
    elif name == "stderr":
        write(2, b"." * 40_000_000 + b" out of ink")
    elif name == "end":
        os._exit(3)

for line in sys.stdin:
    message = json.loads(line)
    answer = {ANSWERS}.get(message["method"])
    if message["method"] == "tools/call":
        trick(message["params"]["name"])
    if "id" in message:
        of = {{"result": answer}} if answer else {{"error": {{"code": -32601, "message": "no such method"}}}}
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], **of}}), flush=True)
"""


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        pytest.param("endless line", "sent a message of more than 10 MiB", id="a line without an end"),
        pytest.param("requests", "sent more than 100 requests", id="requests whose answers it does not read"),
        pytest.param("stderr", "out of ink", id="forty megabytes of stderr"),
    ],
)
def test_what_a_server_writes_is_kept_within_limits(tool, reason, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    server = StdioServer(name="docs", command=sys.executable, args=("-c", HOSTILE), cwd=tmp_path)
    servers = RunningServers(timeout_s=20.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        running = servers.start(server, str)
        if tool == "stderr":
            assert running.call(tool, {}).content[0].text == "an answer"
            assert not [path for path in tmp_path.rglob("*") if path.stat().st_size > 100_000]
            tool = "end"
        for _ in range(2):
            with pytest.raises(ServerFailed, match=f"cannot call {tool}: .*{reason}"):
                running.call(tool, {})
    finally:
        servers.close()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60 * 1024  # KiB
