"""In the container, a server on the runner's localhost is refused in one line that names the other form."""

from __future__ import annotations

import pytest

from runevals.programs.processes import IN_CONTAINER
from runevals.records.errors import InvalidSettings
from runevals.run.preflight import require_reachable
from runevals.settings.resolve import RawSettings, resolve
from tests.json_server import json_server

INSTEAD = "; use runevals/runevals, which runs on the runner, instead of runevals/runevals/container"


def settled(folder, target, **environment):
    return resolve(RawSettings(inputs={"target": target}, cwd=folder, environment=environment))


@pytest.mark.parametrize(
    ("target", "environment", "told"),
    [
        ("http:http://localhost:9/chat", {}, "target: nothing answers at http://localhost:9/chat "),
        ("a2a:http://127.0.0.1:9", {}, "target: nothing answers at http://127.0.0.1:9 "),
        ("openai:m", {"OPENAI_BASE_URL": "http://[::1]:9/v1"}, "target: nothing answers at http://[::1]:9/v1 "),
        ("ollama:m", {"OLLAMA_HOST": "localhost:9"}, "target: nothing answers at http://localhost:9/v1 "),
    ],
)
def test_a_server_that_is_not_in_the_container(tmp_path, monkeypatch, target, environment, told):
    settings = settled(tmp_path, target, **environment)
    require_reachable(settings)  # elsewhere, each call says so by itself
    monkeypatch.setenv(IN_CONTAINER, "1")
    with pytest.raises(InvalidSettings) as refused:
        require_reachable(settings)
    assert str(refused.value) == f"{told}within the container{INSTEAD}"


def test_a_server_that_is_there_or_elsewhere_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setenv(IN_CONTAINER, "1")
    with json_server(lambda request, number: {"output": "x"}) as server:
        require_reachable(settled(tmp_path, f"http:{server.url}"))
    require_reachable(settled(tmp_path, "http:http://agent.invalid/chat"))
