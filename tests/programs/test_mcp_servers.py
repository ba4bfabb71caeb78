"""MCP servers as child processes: a real one, with good and bad answers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from runevals.programs.mcp_servers import RunningServers, ServerFailed, StdioServer

PROGRAM = Path(__file__).parents[1] / "mcp_server.py"


def test_a_server_is_started_once_lists_its_tools_and_is_called(tmp_path):
    env = {"PATH": os.environ["PATH"], "CALLS": str(tmp_path), "DOCS_API_TOKEN": "s3cret-token"}
    server = StdioServer(name="docs", command=sys.executable, args=(str(PROGRAM),), env=env, cwd=tmp_path)
    servers = RunningServers(timeout_s=20.0)

    def started():
        return servers.start(server, lambda text: text.replace("s3cret-token", "[hidden]"))

    try:
        assert sorted(tool.name for tool in started().tools()) == ["fetch", "fetch_doc"]
        assert started().call("fetch", {"url": "http://a/b"}).content[0].text == "text of http://a/b"
        assert started().call("fetch", {"url": "http://a/broken"}).is_error
        with pytest.raises(ServerFailed, match=r"cannot call fetch: .*; it last wrote: .*token \[hidden\]"):
            started().call("fetch", {"url": "http://a/die"})
        missing = StdioServer(name="missing", command="./no-such-program", cwd=tmp_path)
        with pytest.raises(ServerFailed, match="cannot be started: No such file or directory"):
            servers.start(missing, str).tools()
    finally:
        servers.close()
    assert len((tmp_path / "pids").read_text().split()) == 1
    with pytest.raises(ServerFailed, match="the run has ended"):
        started()


WORDY = """
import json, sys

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    tool = {"name": f"t{request['id']}", "description": "x" * 6 * 1024 * 1024, "inputSchema": {"type": "object"}}
    result = {"tools": [tool], "nextCursor": tool["name"]}
    if request["method"] == "initialize":
        version = request["params"]["protocolVersion"]
        about = {"name": "s", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if request["method"] == "tools/call":
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"code": 1, "message": "s3cret-token"}}))
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))
    sys.stdout.flush()
"""


def test_a_server_may_not_fill_the_memory_with_its_tools_nor_print_a_secret(tmp_path):
    server = StdioServer(name="wordy", command=sys.executable, args=("-c", WORDY), cwd=tmp_path)
    servers = RunningServers(timeout_s=60.0)
    started = servers.start(server, lambda text: text.replace("s3cret-token", "[hidden]"))
    try:
        with pytest.raises(ServerFailed, match="describes its tools in more than 16 MiB"):
            started.tools()
        with pytest.raises(ServerFailed, match=r"cannot call add: \[hidden\]"):
            started.call("add", {})
    finally:
        servers.close()
