"""Addresses read by MCP servers: real ones, as programs beside a run."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runevals.suites.urls.fetch import NotFetched
from runevals.suites.urls.mcp_client import McpServers, ServerContext
from runevals.suites.urls.mcp_config import claiming, read_servers
from tests.ending import ended
from tests.page_server import page_server
from tests.system.mcp_project import SETTINGS, errors, outputs, samples, written

SERVER = Path(__file__).parents[1] / "mcp_server.py"
TRANSFORM = {"regex": "docs\\.example\\.com/([^/]+)/([^/?#]+)", "params": {"namespace": "$1", "slug": "$2"}}
TOKEN = "abcdefgh-secret"


@pytest.fixture
def web():
    with page_server() as found:
        yield found


def docs(folder, *patterns, tool="fetch", program=SERVER, **more):
    return {
        "command": sys.executable,
        "args": [str(program)],
        "env": {"CALLS": str(folder), "DOCS_API_TOKEN": TOKEN},
        "urlPatterns": patterns,
        "fetchTool": {"name": tool, **more},
    }


def lines(file):
    return sorted(file.read_text(encoding="utf-8").split("\n")[:-1]) if file.exists() else []


def all_ended(folder):
    return not [pid for pid in lines(folder / "pids") if Path(f"/proc/{pid}").exists()]


def test_servers_come_first_and_http_reads_the_rest(project, runevals, web, tmp_path_factory):
    address, seen = web
    calls = tmp_path_factory.mktemp("calls")
    wiki = "https://docs.example.com/team"
    servers = {
        "docs": docs(
            calls, "docs.example.com", tool="fetch_doc", urlTransform=TRANSFORM, contentExtract="data.body"
        ),
        "pages": docs(calls, f"{address}/wiki/"),
    }
    written(
        project,
        servers,
        twice=f"{wiki}/plan, {wiki}/plans and {wiki}/plan.",
        both=f"{address}/a and {address}/wiki/b",
        links=f"Read {address}/wiki/links",
        half=f"{wiki}/half",
    )
    code, out, err = runevals("-q", "-o", "out.json")
    assert code == 0, out + err
    assert outputs(project) == {
        "twice": "plan of team, plans of team and plan of team.",
        "both": f"text of /a and text of {address}/wiki/b",
        "links": f"Read see {address}/wiki/links and http://127.0.0.1:9/inside, costs $& and $1 and \\1",
        "half": "?",
    }
    assert seen == ["/a"]
    assert lines(calls / "calls") == sorted(
        [f"{address}/wiki/b", f"{address}/wiki/links", "team half", "team plan", "team plans"]
    )
    assert len(project.document()["cases"][0]["fetched"]) == 2
    assert len(lines(calls / "pids")) == 2
    assert all_ended(calls)


def test_an_address_of_a_server_that_fails_is_an_error_and_never_tried_over_http(
    project, runevals, web, tmp_path_factory
):
    address, seen = web
    calls = tmp_path_factory.mktemp("calls")
    page = {name: f"{address}/{name}/{name}" for name in ("gone", "sorry", "tool", "regex", "hang", "bare", "die")}
    servers = {
        "gone": {**docs(calls, page["gone"]), "command": "./no-such-program"},
        "sorry": {**docs(calls, page["sorry"]), "args": ["-c", "import sys; sys.exit('no licence')"]},
        "tool": docs(calls, page["tool"], tool="fetsh"),
        "regex": docs(calls, page["regex"], urlTransform={"regex": "^docs/(.*)", "params": {}}),
        "hang": docs(calls, page["hang"], urlTransform={"regex": "(.*)*(.*)*(.*)*(.*)*§", "params": {}}),
        "bare": docs(calls, page["bare"], contentExtract="data.body"),
        "die": docs(calls, page["die"]),
        "docs": docs(calls, address),
    }
    pages = {name: f"{address}/{name}" for name in ("picture", "big", "broken")}
    written(project, servers, **page, **pages)
    code, out, _ = runevals("-q", "-o", "out.json")
    assert code == 3, out
    told = errors(project)
    words = {
        "gone": "the MCP server gone cannot be started: No such file or directory: ./no-such-program",
        "sorry": "the MCP server sorry cannot be started: Connection closed; it last wrote: no licence",
        "tool": "the MCP server tool says: Unknown tool: fetsh",
        "regex": "the MCP server regex reads it, but its urlTransform.regex does not match it",
        "hang": "the MCP server hang has an urlTransform.regex that cannot be used: evaluation timed out",
        "bare": f"the MCP server bare answers without data.body (contentExtract): text of {page['bare']}",
        "die": "Connection closed; it last wrote: out of paper, token [redacted DOCS_API_TOKEN]",
        "picture": "the MCP server docs answers with content of type image, not with text",
        "big": "the MCP server docs answers with more than 2 MiB",
        "broken": "the MCP server docs says: Error executing tool fetch",
    }
    assert told.keys() == words.keys()
    assert [key for key in told if words[key] not in told[key]] == []
    assert seen == []
    assert all_ended(calls)


def test_a_server_that_is_late_is_not_waited_for(tmp_path):
    slow = "import time; time.sleep(60)"
    told = {"docs": docs(tmp_path, "docs"), "mute": {**docs(tmp_path, "mute"), "args": ["-c", slow]}}
    servers = read_servers(json.dumps({"servers": told}).encode(), ".json", "mcp.json")

    def started(timeout_s):
        return McpServers(ServerContext(cwd=tmp_path, env={}, timeout_s=timeout_s), lambda *_: None)

    def fetched(mcp, url):
        return mcp.fetch(claiming(servers, url), url)

    with started(2) as mcp, pytest.raises(NotFetched, match="was not ready within 2 s"):
        fetched(mcp, "http://mute/a")
    with started(25) as mcp:  # on a busy machine, the other server needs some of them to start
        assert fetched(mcp, "http://docs/a") == "text of http://docs/a"
        with pytest.raises(NotFetched, match="took longer than 25 s"):
            fetched(mcp, "http://docs/slow")
        assert fetched(mcp, "http://docs/b") == "text of http://docs/b"
    assert all_ended(tmp_path)


@pytest.mark.needs("linux")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_ends_its_servers(project, tmp_path_factory, sent):
    calls = tmp_path_factory.mktemp("calls")
    written(project, {"docs": docs(calls, "docs.example.com")}, a="https://docs.example.com/slow")
    command = [sys.executable, "-m", "runevals"]
    run = subprocess.Popen(command, cwd=project.path, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while not lines(calls / "calls") and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(sent)
    _, err = run.communicate(timeout=40)  # the server takes a minute
    assert run.returncode == 130
    assert b"Traceback" not in err
    assert lines(calls / "pids")
    assert all_ended(calls)


def test_without_the_client_the_message_says_what_to_install(project, runevals, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)  # as where it is not installed
    written(project, {"docs": docs(project.path, "docs.example.com")}, a="https://docs.example.com/a")
    assert runevals("-q", "-o", "out.json")[0] == 3
    (message,) = errors(project).values()
    assert "the MCP server docs needs the MCP client" in message
    assert "pip install 'runevals[mcp]'" in message


def test_servers_run_only_where_addresses_are_fetched_and_one_of_theirs_is_there(
    project, runevals, tmp_path_factory
):
    calls = tmp_path_factory.mktemp("calls")
    written(project, {"docs": docs(calls, "docs.example.com")}, a="See https://docs.example.com/a")
    for settings, code in (("enabled: false", 0), ("", 3)):
        fetching = f"url_fetch: {{{settings}}}\n" if settings else ""
        project.write("runevals.yaml", f"target: python:agent.py:answer\n{fetching}")
        assert runevals("-q", "-o", "out.json")[0] == code
    samples(project, a="No address")
    project.write("runevals.yaml", SETTINGS)
    assert runevals("-q", "-o", "out.json")[0] == 0
    assert lines(calls / "pids") == []


def test_a_configuration_can_be_named_and_its_servers_run_in_its_folder(project, runevals, tmp_path_factory):
    calls = tmp_path_factory.mktemp("calls")
    written(project, {}, a="https://docs.example.com/a")
    shutil.copy(SERVER, project.write("tools/server.py", ""))
    project.write("tools/mcp.json", {"servers": {"docs": docs(calls, "docs.example.com", program="server.py")}})
    assert runevals("-q", "-o", "out.json", "--mcp-config", "tools/mcp.json")[0] == 0
    assert outputs(project) == {"a": "text of https://docs.example.com/a"}
    code, _, err = runevals("-q", "--mcp-config", "mpc.json")
    ended(code, 2, err, "--mcp-config: there is no file mpc.json")
    project.write(".mcp.json", {"mcpServers": {"docs": {"urlPatterns": ["a"], "fetchTool": {"name": "f"}}}})
    code, _, err = runevals("-q")
    ended(code, 2, err, ".mcp.json:3", "command")


@pytest.fixture
def guarded(repository, tmp_path_factory, monkeypatch):
    """A repository in CI whose main branch fetches by a server of its own."""
    calls = tmp_path_factory.mktemp("calls")
    repository.git("checkout", "-q", "main")
    (repository.path / "evals.json").unlink()
    written(
        repository, {"docs": docs(calls, "docs.example.com", program="server.py")}, a="https://docs.example.com/a"
    )
    repository.write("server.py", SERVER.read_text(encoding="utf-8"))
    repository.git("add", "-A")
    repository.git("commit", "-qm", "fetch")
    repository.git("checkout", "-q", "-B", "change")
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("PYTHONPATH", str(repository.path))
    repository.calls = calls
    return repository


AGAINST = ("--base", "main", "-q", "-o", "out.json")


def test_a_change_cannot_say_which_programs_run_in_ci(guarded, runevals):
    hacked = f"open({str(guarded.calls / 'hacked')!r}, 'w').close()\n"
    guarded.write("evil.py", hacked)
    guarded.write("server.py", hacked)
    guarded.write("mcp.py", hacked)
    evil = {
        "command": sys.executable,
        "args": ["evil.py"],
        "urlPatterns": ["evil"],
        "fetchTool": {"name": "fetch"},
    }
    told = docs(guarded.calls, "docs.example.com", program="evil.py")
    guarded.write(".mcp.json", {"mcpServers": {"docs": told, "evil": evil}})
    samples(guarded, a="https://docs.example.com/a", b="https://evil.example.com/b")
    code, out, err = runevals(*AGAINST)
    assert not (guarded.calls / "hacked").exists()
    assert outputs(guarded)["a"] == "text of https://docs.example.com/a", out + err
    (b,) = [case for case in guarded.document()["cases"] if case["key"] == "b"]
    message = b["attempts"][0]["turns"][0]["error"]["message"]
    assert "the MCP server evil of this change runs only once that is merged" in message
    assert ".mcp.json is not as on the base, whose MCP servers are used until that is merged" in out
    assert code == 3
    assert all_ended(guarded.calls)


def test_a_change_cannot_bring_the_first_configuration_or_name_another_in_ci(guarded, runevals, tmp_path_factory):
    guarded.git("checkout", "-q", "main")
    guarded.git("rm", "-q", ".mcp.json")
    plain = {f"k{n}": "hello" for n in range(5)}  # what the base can measure
    samples(guarded, a="https://docs.example.com/a", **plain)
    guarded.git("commit", "-qam", "none")
    guarded.git("checkout", "-q", "-B", "change")
    guarded.write("new.json", {"servers": {"docs": docs(guarded.calls, "docs.example.com")}})
    shutil.copy(guarded.path / "new.json", guarded.path / ".mcp.json")
    (guarded.path / "link.json").symlink_to(guarded.path / "new.json")
    outside = tmp_path_factory.mktemp("outside") / "link.json"
    outside.symlink_to(guarded.path / "new.json")
    for words in ((), ("--mcp-config", "new.json"), ("--mcp-config", "link.json"), ("--mcp-config", outside)):
        code, out, err = runevals(*AGAINST, *words)
        assert code == 3, out + err
        first = guarded.document()["cases"][0]["attempts"][0]["turns"][0]
        message = first["error"]["message"]
        assert "of this change runs only once that is merged" in message
    assert lines(guarded.calls / "pids") == []


def test_the_workflow_may_name_servers_from_outside_the_repository(guarded, runevals, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "mcp.json"
    outside.write_text(
        json.dumps({"servers": {"docs": docs(guarded.calls, "docs.example.com")}}), encoding="utf-8"
    )
    assert runevals(*AGAINST, "--mcp-config", outside)[0] == 0
    assert outputs(guarded) == {"a": "text of https://docs.example.com/a"}


def test_on_a_laptop_the_change_at_work_has_its_own_servers(guarded, runevals, monkeypatch):
    monkeypatch.delenv("CI")
    text = (guarded.path / "server.py").read_text(encoding="utf-8")
    guarded.write("server.py", text.replace("text of", "new text of"))
    assert runevals(*AGAINST)[0] in (0, 1)
    assert outputs(guarded) == {"a": "new text of https://docs.example.com/a"}
