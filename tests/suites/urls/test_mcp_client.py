"""An MCP server gets the variables that it names, and no others."""

from __future__ import annotations

import pytest

from runevals.suites.urls.fetch import NotFetched
from runevals.suites.urls.mcp_client import server_environment

AROUND = {
    "PATH": "/bin",
    "https_proxy": "http://p",
    "LC_ALL": "C",
    "OPENAI_API_KEY": "sk-1",
    "DOCS_TOKEN": "t-1",
    "E": "",
}
NEEDED = {"PATH": "/bin", "https_proxy": "http://p", "LC_ALL": "C"}


@pytest.mark.parametrize(
    ("told", "more"),
    [
        ({}, {}),
        ({"REGION": "eu"}, {"REGION": "eu"}),
        ({"TOKEN": "${DOCS_TOKEN}"}, {"TOKEN": "t-1"}),
        ({"AUTH": "Bearer ${DOCS_TOKEN}!"}, {"AUTH": "Bearer t-1!"}),
        ({"A": "${NOT_SET:-eu}", "B": "${NOT_SET:-}", "C": "${E:-x}"}, {"A": "eu", "B": "", "C": ""}),
        ({"PRICE": "$5 ${} $HOME"}, {"PRICE": "$5 ${} $HOME"}),
        ({"PATH": "/opt:${PATH}"}, {"PATH": "/opt:/bin"}),
    ],
)
def test_an_mcp_server_gets_the_basic_variables_and_the_ones_it_names(told, more):
    assert server_environment(told, AROUND) == {**NEEDED, **more}


def test_an_unset_variable_of_an_mcp_server_is_reported():
    with pytest.raises(NotFetched, match=r"needs \$\{NOT_SET\}, which is not set"):
        server_environment({"A": "${NOT_SET}"}, AROUND)
