"""A chat model that calls the tools of MCP servers under test, all of them real."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext, suppress

import pytest

from runevals.targets.mcp_tools import ServerTool, tools_by_name
from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.serving import own_port
from tests.wires import WIRES, Turn, wire_server

SERVER = """
import os, sys
from mcp.server import MCPServer

server = MCPServer("sums")

@server.tool(structured_output=False, description="Adds two numbers and gives their sum.")
def add(a: int, b: int) -> str:
    return str(a + b)

@server.tool(structured_output=False, description="Adds two numbers and gives the sum.")
def plus(a: int, b: int) -> str:
    if b == 0:
        raise ValueError("nothing to add")
    if b == 99:
        os._exit(3)
    return str(a + b)

@server.tool(structured_output=False, description="The names of all variables.")
def variables() -> str:
    return " ".join(os.environ)

server.run("stdio")
"""
MOCKS = {"mocks": [{"tool": "add", "match": {"input": {"a": 1, "b": 1}}, "return": "3"}]}
CALLS = {
    "real": [("add", {"a": 2, "b": 3}), ("variables", {}), ("plus", {"a": 1, "b": 0}), ("other", {})],
    "mocked": [("add", {"a": 1, "b": 1}), ("add", {"a": 1, "b": 2})],
    "strict": [("plus", {"a": 1, "b": 1})],
    "dead": [("plus", {"a": 1, "b": 99})],
}


def model(body, _number):
    """Calls the tools of the case that the prompt names, then repeats their results."""
    results = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    prompt = next(message["content"] for message in body["messages"] if message["role"] == "user")
    return Reply(json.dumps(results)) if results else Reply(None, tool_calls=CALLS[prompt])


@pytest.fixture
def served(project, monkeypatch):
    """A project with a server under test, and the requests that its model gets."""
    samples = [
        {"sample_id": key, "prompt": key, "assertions": [{"type": "tools_called", "values": ["add"]}]}
        for key in CALLS
    ]
    samples[1] |= MOCKS
    samples[2] |= {"mocksStrict": True}
    project.write("eval-samples.json", samples)
    project.write("server.py", SERVER)
    project.write("runevals.yaml", {"target": {"type": "openai", "model": "m", "mcp": [SETTINGS]}})
    with chat_server(model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-job")
        monkeypatch.setenv("DATABASE_URL", "postgres://of-the-job")
        yield server


SETTINGS = {"name": "sums", "command": sys.executable, "args": ["server.py"], "env": {"MODE": "test"}}


def test_the_model_calls_real_servers_after_the_mocks_and_they_get_no_secret_of_the_job(served, project, runevals):
    code, out, err = runevals("run", "--no-judge", "-o", "out.json", "--concurrency", "1")
    ended(code, 3, out + err, "the MCP server sums cannot call plus")
    turns = {case["key"]: case["attempts"][0]["turns"][0] for case in project.document()["cases"]}
    real, mocked = (turns[key]["tool_calls"] for key in ("real", "mocked"))
    assert [(call["output"], call["ok"]) for call in (real[0], real[3])] == [
        ("5", True),
        ("error: this tool cannot be used here", False),
    ]
    names = real[1]["output"].split()
    assert "MODE" in names
    assert not {"OPENAI_API_KEY", "DATABASE_URL", "OPENAI_BASE_URL"} & set(names)
    assert (real[2]["ok"], "plus" in real[2]["output"]) == (False, True)
    assert [(call["output"], call.get("mock")) for call in mocked] == [("3", "add:1"), ("3", None)]
    assert turns["strict"]["tool_calls"][0]["output"] == "denied: no mock answers this call"
    assert turns["dead"]["error"]["code"] == "target_failed"
    assert turns["dead"]["input_tokens"] == 10
    tools = {tool["function"]["name"]: tool["function"] for tool in served.requests[0]["tools"]}
    assert sorted(tools) == ["add", "plus", "variables"]
    assert tools["add"]["parameters"]["required"] == ["a", "b"]
    assert project.document()["run"]["target"]["detail"]["mcp"] == [["sums", sys.executable, "server.py"]]


def test_health_names_tools_that_no_case_expects_and_pairs_that_are_described_alike(served, runevals):
    code, out, err = runevals("validate", "--health")
    ended(
        code,
        0,
        out + err,
        "runevals.yaml: unexpected tool: variables: no case expects this tool",
        "runevals.yaml: alike tools: add and plus: their descriptions are nearly equal",
        without=["unexpected tool: add"],
    )


def test_a_server_that_cannot_be_started_ends_the_run_with_its_name(served, project, runevals):
    broken = {**SETTINGS, "command": "./no-such-program"}
    project.write("runevals.yaml", {"target": {"type": "openai", "model": "m", "mcp": [broken]}})
    code, out, err = runevals("run", "--no-judge")
    ended(code, 3, out + err, "the MCP server sums cannot be started: No such file or directory")
    code, out, err = runevals("run", "--no-judge", "--cache-target", "--cache", "here")
    ended(code, 2, out + err, "--cache-target: answers of the MCP servers under test are not cached")


def test_tools_of_one_name_have_their_servers_name_before_it():
    tools = [
        ServerTool(name=name, own_name=name, server=server)
        for server, name in (("a", "x"), ("b", "x"), ("b", "y.z"))
    ]
    assert list(tools_by_name(tools)) == ["a__x", "b__x", "y_z"]


@contextmanager
def at_an_address(project):
    """The same server by streamable HTTP, as the settings name it."""
    port = own_port()
    project.write("over_http.py", SERVER.replace('"stdio"', f'"streamable-http", port={port}'))
    with subprocess.Popen(
        [sys.executable, "over_http.py"], cwd=project.path, stderr=subprocess.DEVNULL
    ) as running:
        try:
            while running.poll() is None:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            yield {"name": "sums", "url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-Team": "evals"}}
        finally:
            running.kill()


@pytest.mark.parametrize("place", [lambda project: nullcontext(SETTINGS), at_an_address], ids=["stdio", "http"])
@pytest.mark.parametrize("api", ["", *WIRES])
def test_a_model_calls_the_tools_of_a_server_on_each_api(project, runevals, monkeypatch, api, place):
    """Without a setting, one that takes tools by Responses alone, as OpenAI's models of today do."""
    wire = WIRES[api or "responses"]

    def answer(body, _number):
        results = wire.results(body)
        return Turn(text=f"It is {results[0]}.") if results else Turn(calls=(("add", 1, {"a": 2, "b": 3}),))

    checks = [
        {"type": "tools_called", "values": ["add"]},
        {"type": "tools_not_called", "values": ["plus"]},
        {"type": "tools_count_min", "value": 1},
        {"type": "tools_count_max", "value": 1},
        {"type": "tool_input_contains", "value": "add:3"},
        {"type": "tool_output_contains", "value": "add:5"},
        {"type": "turns_max", "value": 2},
        {"type": "contains", "value": "It is 5."},
    ]
    project.write("eval-samples.json", [{"sample_id": "s", "prompt": "2 + 3?", "assertions": checks}])
    project.write("server.py", SERVER)
    kind = "anthropic" if api == "messages" else "openai"
    with wire_server(wire.api, answer) as server, place(project) as settings:
        target = {"type": kind, "model": "m", "mcp": [settings], **({"api": api} if api else {})}
        project.write("runevals.yaml", {"target": target})
        monkeypatch.setenv(f"{kind.upper()}_BASE_URL", server.base_url)
        monkeypatch.setenv(f"{kind.upper()}_API_KEY", "k")
        code, out, err = runevals("-q", "-o", "out.json")
    assert code == 0, out + err
    attempt = project.document("out.json")["cases"][0]["attempts"][0]
    assert [made["name"] for made in attempt["turns"][0]["tool_calls"]] == ["add"]
    assert server.paths == ([] if api else ["/v1/chat/completions"]) + [wire.path] * 2


def test_a_server_that_cannot_be_reached_ends_the_run_with_its_name(served, project, runevals):
    gone = {"name": "sums", "url": "http://127.0.0.1:9/mcp"}
    project.write("runevals.yaml", {"target": {"type": "openai", "model": "m", "mcp": [gone]}})
    code, out, err = runevals("run", "--no-judge")
    ended(code, 3, out + err, "the MCP server sums cannot be reached: ")
