"""Addresses read by an MCP server that nobody here wrote (npm @modelcontextprotocol/server-everything)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.system.mcp_project import errors, outputs, written

pytestmark = pytest.mark.needs("npm")

HERE = Path(__file__).parent / "mcp_peer"


def everything(*patterns, **tool):
    program = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    return {"command": "node", "args": [program], "urlPatterns": patterns, "fetchTool": tool}


def test_a_server_of_others_reads_addresses(project, runevals):
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, project.path)
    npm = ["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    subprocess.run(npm, check=True, timeout=300)
    city = {"regex": "weather\\.example\\.com/([^/]+)", "params": {"location": "$1"}}
    servers = {
        "echo": everything("echo.example.com", name="echo", urlParam="message"),
        "weather": everything(
            "weather.example.com",
            name="get-structured-content",
            urlTransform=city,
            contentExtract="conditions",
        ),
        "image": everything("image.example.com", name="get-tiny-image"),
        "none": everything("none.example.com", name="no-such-tool"),
    }
    written(
        project,
        servers,
        echo="See https://echo.example.com/$&/\\1.",
        weather="https://weather.example.com/Chicago",
    )
    code, out, err = runevals("-q", "-o", "out.json")
    assert code == 0, out + err
    assert outputs(project) == {
        "echo": "See Echo: https://echo.example.com/$&/\\1.",
        "weather": "Light rain / drizzle",
    }
    written(project, servers, image="https://image.example.com/x", none="https://none.example.com/x")
    assert runevals("-q", "-o", "out.json")[0] == 3
    told = errors(project)
    assert "the MCP server image answers with content of type image, not with text" in told["image"]
    assert "the MCP server none" in told["none"]
    assert "no-such-tool not found" in told["none"]
