"""What settings say of the MCP servers under test."""

from __future__ import annotations

import json

import pytest

from runevals.programs.mcp_servers import HttpServer, StdioServer
from runevals.records.errors import InvalidSettings, UsageError
from runevals.targets.servers_under_test import servers_under_test


def settle(base, mcp):
    return servers_under_test(mcp, base, base)


def test_a_file_a_mapping_and_a_list_name_the_same_servers(tmp_path):
    server = {"command": "python", "args": ["s.py"], "env": {"MODE": "test", "HOST": "${HOST:-local}"}}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"docs": {**server, "type": "stdio"}}}))
    expected = StdioServer(
        name="docs", command="python", args=("s.py",), env={"MODE": "test", "HOST": "local"}, cwd=tmp_path
    )
    assert settle(tmp_path, ".mcp.json") == (expected,)
    assert settle(tmp_path, {"docs": server}) == (expected,)
    assert settle(tmp_path, [{**server, "name": "docs"}]) == (expected,)
    assert [one.name for one in settle(tmp_path, [{"command": "a"}, {"command": "b"}])] == ["server1", "server2"]


def test_a_server_at_an_address_has_headers_of_its_own(tmp_path):
    server = {"type": "http", "url": "https://docs.example/mcp", "headers": {"X-Team": "${TEAM:-evals}"}}
    expected = HttpServer(name="docs", url="https://docs.example/mcp", headers={"X-Team": "evals"})
    assert settle(tmp_path, {"docs": server}) == (expected,)


@pytest.mark.parametrize(
    ("mcp", "reason"),
    [
        ([{"name": "docs"}], "docs needs a `command`, or a `url`"),
        ({"docs": {"url": "ws://docs.example"}}, "docs.url must be an http or https address"),
        ({"docs": {"url": "https://docs.example", "type": "sse"}}, r"streamable HTTP, not sse"),
        ({"docs": {"url": "https://d.example", "headers": {"X": "${KEY}"}}}, r"docs.headers.X names \$\{KEY\}"),
        ({"docs": {"command": "a", "args": "b"}}, "docs.args must be a list of texts"),
        ({"docs": {"command": "a", "env": {"N": 1}}}, "docs.env must have a text for each name"),
        (
            {"docs": {"command": "a", "env": {"N": "${KEY}"}}},
            r"docs.env.N names \$\{KEY\}, but a server",
        ),
        ([{"command": "a", "name": "x"}, {"command": "b", "name": "x"}], "two servers have one name"),
        ("none.json", "none.json"),
    ],
)
def test_what_cannot_be_started_is_an_error_with_its_place(tmp_path, mcp, reason):
    with pytest.raises((InvalidSettings, UsageError), match=reason):
        settle(tmp_path, mcp)
