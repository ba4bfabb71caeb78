"""`.mcp.json`: which servers it names for addresses, what they are asked, and where their text is."""

from __future__ import annotations

import json

import pytest

from runevals.records.errors import InvalidSuite
from runevals.suites.urls.mcp_config import claiming, extract_text, read_servers

PRINTED = {  # as the documents of the format print it
    "mcpServers": {
        "docs": {
            "command": "npx",
            "args": ["@example/docs-mcp-server"],
            "env": {"DOCS_API_TOKEN": "xxx"},
            "urlPatterns": ["docs.example.com"],
            "fetchTool": {
                "name": "fetch_doc",
                "urlTransform": {
                    "regex": "docs\\.example\\.com/([^/]+/[^/]+)/([^/?#]+)",
                    "params": {"namespace": "$1", "slug": "$2"},
                },
                "contentExtract": "data.body",
            },
        }
    }
}


def read(document):
    return read_servers(json.dumps(document).encode(), ".json", ".mcp.json")


def server(**more):
    (found,) = read({"servers": {"s": {"command": "c", "urlPatterns": ["x"], "fetchTool": {"name": "t", **more}}}})
    return found


def transform(**params):
    return {"urlTransform": {"regex": "r", "params": params}}


def test_the_printed_example():
    (docs,) = read(PRINTED)
    assert (docs.command, docs.args, docs.env) == ("npx", ("@example/docs-mcp-server",), {"DOCS_API_TOKEN": "xxx"})
    groups = ["docs.example.com/a/b/plan", "a/b", "plan"]
    tool = docs.fetch_tool
    assert tool.arguments("https://docs.example.com/a/b/plan", groups) == {
        "namespace": "a/b",
        "slug": "plan",
    }
    assert (tool.name, tool.content_extract) == ("fetch_doc", "data.body")


def test_the_first_server_whose_pattern_matches_reads_the_address():
    tool = {"name": "t"}
    servers = read(
        {
            "mcpServers": {
                "remote": {"type": "http", "url": "https://mcp.example.com"},
                "a": {"command": "c", "urlPatterns": ["a.org", "b.org/x"], "fetchTool": tool},
                "b": {"command": "c", "urlPatterns": ["b.org"], "fetchTool": tool},
            }
        }
    )
    urls = ("https://a.org", "https://b.org/xy", "https://b.org", "https://aXorg", "https://c.org")
    found = [claiming(servers, url) for url in urls]
    assert [server and server.name for server in found] == ["a", "a", "b", None, None]


@pytest.mark.parametrize(
    ("tool", "groups", "asked"),
    [
        ({}, [], {"url": "https://x"}),
        ({"urlParam": "page"}, [], {"page": "https://x"}),
        (transform(a="$2-$1", n=3), ["m", "$2", "\\1"], {"a": "\\1-$2", "n": 3}),
        (transform(a="$1$9", b="$0$&"), ["m", None], {"a": "", "b": "$0$&"}),
    ],
)
def test_the_arguments_of_a_tool_call_come_from_the_address(tool, groups, asked):
    assert server(**tool).fetch_tool.arguments("https://x", groups) == asked


@pytest.mark.parametrize(
    ("answer", "path", "text"),
    [
        ('{"data": {"body": "é"}}', "data.body", "é"),
        ('{"pages": [{"text": "a"}, {"text": "b"}]}', "pages.1.text", "b"),
        ('{"data": {"a": ["é"]}}', "data", '{"a": ["é"]}'),
        ('{"data": 0}', "data", "0"),
        ('{"data": null}', "data", None),
        ('{"data": "text"}', "data.body", None),
        ('{"data": []}', "data.0", None),
        ('{"data": []}', "data.x", None),
        ("plain text", "data", None),
        ("[" * 100_000, "data", None),
    ],
)
def test_the_text_is_extracted_from_an_answer(answer, path, text):
    assert extract_text(answer, path) == text


def one(**more):
    return {"mcpServers": {"s": {"command": "c", "urlPatterns": ["x"], "fetchTool": {"name": "t"}, **more}}}


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ([], "must be an object"),
        ({"mcpServers": []}, "/mcpServers must be an object"),
        ({"mcpServers": {"s": {"urlPatterns": ["x"]}}}, "command"),
        (one(urlPatterns="x"), "/mcpServers/s/urlPatterns must be"),
        (one(urlPatterns=[""]), "/mcpServers/s/urlPatterns/0"),
        (one(fetchTool={"name": "t", "contentExtact": "a"}), "did you mean 'contentExtract'?"),
        (one(contentExtract="a"), "/mcpServers/s/contentExtract contentExtract belongs into fetchTool"),
    ],
)
def test_each_problem_of_an_mcp_configuration_has_its_location(document, told):
    with pytest.raises(InvalidSuite) as refused:
        read(document)
    assert ".mcp.json:1" in str(refused.value)
    assert told in str(refused.value)
