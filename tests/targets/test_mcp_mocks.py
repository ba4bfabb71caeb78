"""An MCP server of ours answers the tool calls of agents by the mocks of a case."""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runevals.records import Response, ToolCall
from runevals.targets.agents import AGENTS
from runevals.targets.agents.agent import AgentSettings, Ask
from runevals.targets.mcp_mocks import Offer, offering
from runevals.targets.mocks import NO_TOOL, Mocks
from tests.targets.agents.stub import ask, installed, target

CALLS = """
import asyncio
from mcp import Client
config = next(word for word in sys.argv if word.startswith("--mcp-config=")).partition("=")[2]
servers = json.loads(config)["mcpServers"]
said = []
def say(kind, **part):
    print(json.dumps({"type": kind, "message": {"content": [part]}}), flush=True)
async def call(number, server, tool, **arguments):
    name = f"mcp__{server}__{tool}"
    say("assistant", type="tool_use", id=str(number), name=name, input=arguments)
    async with Client(servers[server]["url"]) as client:
        listed = [one.name for one in (await client.list_tools()).tools]
        found = await client.call_tool(tool, arguments)
    said.append([listed, found.content[0].text])
    say("user", type="tool_result", tool_use_id=str(number), content="as the agent tells it")
asyncio.run(call(1, "docs", "find", q="refund"))
say("assistant", type="tool_use", id="own", name="Bash", input={"command": "ls"})
asyncio.run(call(2, "mocks", "Read", file_path="a.md"))
asyncio.run(call(3, "docs", "find", q="other"))
print(json.dumps({**json.loads(END), "result": json.dumps([sys.argv, said])}))
"""
FIND = {"tool": "mcp__docs__find", "match": {"input": {"q": "refund"}}, "return": "30 days"}
READ = {"tool": "Read", "return_seq": ["one", "two"]}


def test_an_agent_calls_the_tools_of_mocks_and_the_trace_names_them_as_the_case_does(
    project, runevals, tmp_path, monkeypatch
):
    hit = {"type": "mock_hit", "value": "Read:1"}
    project.write(
        "eval-samples.json", [{"sample_id": "a", "prompt": "?", "mocks": [FIND, READ], "assertions": [hit]}]
    )
    project.write("runevals.yaml", {"target": {"type": "claude-code", "tools": ["shell", "read"]}})
    for name, value in installed(tmp_path / "agent", CALLS).items():
        monkeypatch.setenv(name, value)
    code, out, err = runevals("--no-judge", "-q", "-o", "out.json")
    assert code == 0, out + err
    [turn] = project.document("out.json")["cases"][0]["attempts"][0]["turns"]
    assert [tuple(map(call.get, ("name", "output", "ok", "mock"))) for call in turn["tool_calls"]] == [
        ("mcp__docs__find", "30 days", True, "mcp__docs__find:1"),
        ("Bash", None, None, None),
        ("Read", "one", True, "Read:1"),
        ("mcp__docs__find", NO_TOOL, False, None),
    ]
    words, said = json.loads(turn["output"])
    assert said == [[["find"], "30 days"], [["Read"], "one"], [["find"], NO_TOOL]]
    assert "--tools=Bash" in words  # `Read` is mocked, and so all that reads


def test_an_agent_that_does_not_ask_for_the_tools_of_the_mocks_is_errored(tmp_path):
    agent = target(installed(tmp_path, "print(END)"))
    answer = agent.answer(ask(tmp_path, metadata={"mocks": [READ]}))
    assert "did not ask for the tools of the mocks: mocks" in answer.problem.message
    assert agent.answer(ask(tmp_path, metadata={"mocksStrict": True})).problem is None


def test_the_server_answers_nothing_without_the_token_of_a_turn():
    from mcp import Client  # half a second, which only this test pays

    async def tools(address: str) -> list[str]:
        async with Client(address) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    with offering(Mocks([READ], strict=False)) as offer:
        address = offer.servers["mocks"]["url"]
        assert asyncio.run(tools(address)) == ["Read"]
        with pytest.raises(HTTPError, match="404"):
            urlopen(re.sub("/[0-9a-f]{32}/", "/0/", address))
    with pytest.raises(OSError, match="refused"):
        urlopen(address)


@pytest.mark.parametrize(
    ("agent", "tools", "mocked", "left"),
    [
        ("claude-code", ("shell", "read"), "Bash", ["read", "mcp:mocks"]),
        ("claude-code", ("shell", "read"), "shell", ["read", "mcp:mocks"]),
        ("claude-code", ("shell", "mcp:docs"), "mcp__docs__find", ["shell", "mcp:docs"]),
        ("claude-code", ("shell", "mcp:docs"), "*", []),
        ("codex", ("shell", "web"), "web_search", ["shell", "mcp:mocks"]),
        ("copilot", ("shell", "read"), "view", ["shell", "mcp:mocks"]),
        ("gemini-cli", ("shell", "write"), "write_file", ["shell", "mcp:mocks"]),
    ],
)
def test_a_tool_that_is_mocked_is_not_the_agents_own(agent, tools, mocked, left):
    """The servers of a mock take the place of those of the settings that have their name."""
    settings = AgentSettings(tools=tools, servers={"docs": {"command": "x"}})
    offer = Offer(Mocks([{"tool": mocked, "return": ""}], strict=False), "http://127.0.0.1:1/t")
    found = AGENTS[agent].with_mocks(settings, offer)
    assert list(found.tools) == left
    assert all("url" in server for server in found.permitted_servers.values())
    strict = AGENTS[agent].with_mocks(settings, Offer(Mocks([], strict=True), ""))
    assert (strict.tools, strict.permitted_servers) == ((), {})


@pytest.mark.parametrize("agent", AGENTS)
@given(
    name=st.text(min_size=1) | st.sampled_from(["x,bash", "mcp__a,Bash__b", "mcp__a__b,*", "mcp____", "*,view"])
)
def test_the_name_of_a_mock_permits_nothing(agent, name):
    """A change writes it: on a command line it is one name, of a tool of our server."""
    settings = AGENTS[agent].with_mocks(
        AgentSettings(), Offer(Mocks([{"tool": name, "return": ""}], strict=False), "http://127.0.0.1:1/t")
    )
    [(server, one)] = settings.permitted_servers.items() or [("", {})] if name != "*" else [("", {})]
    assert re.fullmatch(r"[\w-]*", server, re.ASCII)
    words = AGENTS[agent].arguments(Ask(prompt="?", settings=settings))
    files = AGENTS[agent].home(settings, {})
    match agent:
        case "claude-code":
            assert {"--tools=", f"--allowedTools={server and f'mcp__{server}'}"} <= {*words}
        case "copilot":
            [listed] = [word for word in words if word.startswith("--available-tools=")]
            assert re.fullmatch(rf"--available-tools=({server}-[\w-]+|none)", listed, re.ASCII)
        case "gemini-cli":
            told = json.loads(files[".gemini/settings.json"])
            assert told["tools"]["core"] == ([f"mcp_{server}_*"] if server else [])
        case "codex":
            told = tomllib.loads(files.get(".codex/config.toml", ""))
            assert told.get("mcp_servers", {}) == ({server: {"url": one["url"]}} if server else {})


def test_a_call_that_the_agent_does_not_report_is_one_all_the_same():
    offer = Offer(Mocks([FIND, READ], strict=False), "")
    offer.mocks.program_calls("mcp__docs__find", {"q": "refund"})
    offer.mocks.program_calls("gone", {})
    told = Response(tool_calls=(ToolCall(name="docs-find", input={"q": "x"}, ok=False),))
    calls = offer.with_answers(told, "{}-{}").tool_calls
    assert [(call.name, call.mock, call.ok) for call in calls] == [
        ("mcp__docs__find", None, False),
        ("mcp__docs__find", "mcp__docs__find:1", True),
        ("gone", None, False),
    ]
