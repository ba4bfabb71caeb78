"""Where the keys of a target behind an address go when a change is looked at in CI, in a real repository."""

from __future__ import annotations

import pytest

from tests.against_base import on_main
from tests.ending import ended
from tests.json_server import json_server
from tests.sample_suites import SUITE

KEY = "canary-1234567890"


def settings(url, more=""):
    return f"suites: [evals.json]\ntarget: {{type: http, url: '{url}/chat', api_key_env: AGENT_KEY{more}}}\n"


@pytest.fixture(autouse=True)
def _in_ci(monkeypatch):
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("AGENT_KEY", KEY)


def test_both_sides_of_a_change_ask_the_host_that_the_base_names(repository, runevals):
    with json_server(lambda asked, n: {"output": "Paris, Lima"}) as server:
        on_main(repository, "runevals.yaml", settings(server.url))
        repository.write("runevals.yaml", settings(server.url, ", system_prompt: Be kind."))
        code, out, err = runevals("--base", "main", "-q", "--repeat", "1")
    assert code == 0, out + err
    assert len(server.requests) == 2 * len(SUITE["items"])
    assert {asked.headers["authorization"] for asked in server.requests} == {f"Bearer {KEY}"}


def test_a_change_cannot_send_the_key_to_a_host_of_its_own(repository, runevals):
    with json_server(lambda asked, n: {"output": "Paris"}) as server, json_server(lambda asked, n: {}) as other:
        on_main(repository, "runevals.yaml", settings(server.url))
        repository.write("runevals.yaml", settings(other.url))
        code, _, err = runevals("--base", "main", "-q")
    ended(code, 2, err, "and sends AGENT_KEY to")
    assert server.requests == other.requests == []
