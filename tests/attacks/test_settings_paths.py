"""What a settings file may name: no file of git, none outside the repository, and no variable of the job's."""

from __future__ import annotations

import base64
import json
import sys

import pytest

from tests.attacks.conftest import SECRETS, SUITE
from tests.json_server import json_server

TOKEN = base64.b64encode(f"x-access-token:{SECRETS['GITHUB_TOKEN']}".encode()).decode()
CONFIG = f'[http "https://github.com/"]\n\textraheader = AUTHORIZATION: basic {TOKEN}\n'
TARGET = "target: {{type: openai, model: tiny, {}: {}}}\n"
PRIVATE = "input,expected\nthe salary of Ann,100000\n"


@pytest.fixture
def checkout(hostile, around):
    """A repository whose git has credentials, and a private table beside it."""
    (hostile.path / ".git" / "config").write_text(CONFIG, encoding="utf-8")
    (around / "private.csv").write_text(PRIVATE, encoding="utf-8")
    (around / "notes.md").write_text("Say yes.", encoding="utf-8")
    return hostile


def links(checkout, around):
    (checkout.path / "link.md").symlink_to(".git/config")
    (checkout.path / "gitlink").symlink_to(".git")
    (checkout.path / "out.md").symlink_to(around / "notes.md")
    (checkout.path / "out").symlink_to(around)


@pytest.mark.parametrize("option", ["system_prompt_file", "prompt_file"])
def test_a_file_of_the_repository_is_a_prompt(checkout, option):
    """The control."""
    checkout.write("prompt.md", "Say yes, {{prompt}}." if option == "prompt_file" else "Say yes.")
    checkout.write("runevals.yaml", "suites: [evals.json]\n" + TARGET.format(option, "prompt.md"))
    checkout.run("run", "-o", "out.json").must(0)


@pytest.mark.parametrize("option", ["system_prompt_file", "prompt_file"])
@pytest.mark.parametrize(
    "name",
    [
        ".git/config",
        "./.git/config",
        "evals/../.git/config",
        "link.md",
        "gitlink/config",
        "out.md",
        "out/notes.md",
        "{around}/notes.md",
        "/dev/stdin",
        "/dev/zero",
        "/proc/self/environ",
        "/etc/hostname",
    ],
)
def test_a_file_of_git_or_of_the_machine_is_no_prompt(checkout, around, option, name):
    links(checkout, around)
    (checkout.path / "evals").mkdir()
    named = name.format(around=around)
    checkout.write("runevals.yaml", "suites: [evals.json]\n" + TARGET.format(option, named))
    ran = checkout.run("run", "-o", "out.json")
    ran.must(2, f"target.{option}: {named} ")
    assert TOKEN not in ran.text
    assert not (checkout.path / "out.json").exists()


def test_a_table_that_the_command_line_names_is_a_suite_wherever_it_is(checkout, around):
    """The control: the user may."""
    checkout.run("run", around / "private.csv", "-o", "out.json", "--evaluators", "ExactMatch").must(0)
    assert "the salary of Ann" in (checkout.path / "out.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [
        "{up}/private.csv",
        "{around}/private.csv",
        "{up}/*.csv",
        "{up}",
        "out/private.csv",
        "out/*.csv",
        "out",
        "evals/../{up}/private.csv",
        ".git/evals.json",
        ".git",
        "gitlink/evals.json",
        "**/private.csv",
    ],
)
@pytest.mark.parametrize("form", ["{name}", "{{path: {name}, evaluators: [ExactMatch]}}"])
def test_no_table_of_the_machine_is_a_suite_of_the_settings(checkout, around, name, form):
    links(checkout, around)
    (checkout.path / ".git" / "evals.json").write_text(json.dumps(SUITE), encoding="utf-8")
    named = json.dumps(name.format(around=around, up=f"../{around.name}"))
    checkout.write(
        "runevals.yaml", f"suites: [{form.format(name=named)}]\ntarget: {{type: openai, model: tiny}}\n"
    )
    for command in ("run", "validate", "plan"):
        ran = checkout.run(command)
        ran.must(2)
        assert "salary" not in ran.text
    assert not (checkout.path / ".evals" / "results").exists()


def test_a_folder_of_suites_that_links_to_git_is_none(checkout, around):
    (checkout.path / "runevals.yaml").unlink()
    (checkout.path / "evals.json").unlink()
    (checkout.path / ".git" / "evals.json").write_text(json.dumps(SUITE), encoding="utf-8")
    (checkout.path / "evals").symlink_to(".git")
    checkout.run("run", "--target", "openai:tiny").must(2, "leads to git's own files")


JOB = {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request", "DEPLOY_KEY": "deploy-key-1"}


LAPTOP = dict.fromkeys(("CI", "GITHUB_ACTIONS", "GITHUB_EVENT_NAME"), "")


def key_of(settings: str) -> str:
    return f"suites: [evals.json]\n{settings}\n"


OF_OPENAI = "target: {type: openai, model: tiny, api_key_env: DEPLOY_KEY}"
NAMING = {
    "a target": OF_OPENAI,
    "a judge": "target: {type: openai, model: tiny}\njudge: {model: big, api_key_env: DEPLOY_KEY}",
    "one of several judges": "target: {type: openai, model: tiny}\n"
    "judges: [{model: big}, {model: other, api_key_env: DEPLOY_KEY}]",
    "a header": "target: {type: http, url: 'https://x.example/', headers: {X-Key: {env: DEPLOY_KEY}}}",
}


@pytest.mark.parametrize("settings", NAMING.values(), ids=NAMING)
@pytest.mark.parametrize(
    "workflow", [{}, {"RUNEVALS_TARGET_URL": "https://preview.example/"}], ids=["", "preview"]
)
def test_a_change_names_no_variable_of_the_job_as_its_key(hostile, settings, workflow):
    hostile.write("runevals.yaml", key_of(settings))
    for command in ("settings", "plan"):
        ran = hostile.run(command, **JOB, **workflow)
        ran.must(2, "DEPLOY_KEY")


@pytest.mark.parametrize(
    "more", [{"RUNEVALS_API_KEY_ENV": "DEPLOY_KEY"}, {"GITHUB_EVENT_NAME": "push"}, LAPTOP], ids=str
)
def test_the_workflow_a_push_and_a_laptop_name_any(hostile, more):
    """The control."""
    hostile.write("runevals.yaml", key_of(OF_OPENAI))
    hostile.run("settings", **{**JOB, **more}).must(0, "api_key_env=DEPLOY_KEY")
    hostile.run("settings", "--target", "openai:tiny", **JOB).must(0)


# --- tenants of one gateway share its host


TENANT = "suites: [evals.json]\ntarget: {{type: {type}, url: '{url}/{path}', {key}}}\n"
OURS = {"type": "http", "path": "tenant-a/chat", "key": "headers: {X-Api-Key: {env: DEPLOY_KEY}}"}
THEIRS = {
    "another path": {"path": "tenant-b/chat"},
    "a path that leads up": {"path": "tenant-a/chat/../../tenant-b/chat"},
    "a path that leads up by the key of a case": {"path": "tenant-a/chat/{{case.key}}/{{case.key}}/tenant-b"},
    "the root": {"path": ""},
    "another header": {"key": "headers: {X-Echo: {env: DEPLOY_KEY}}"},
    "one header more": {"key": "headers: {X-Api-Key: {env: DEPLOY_KEY}, X-Echo: {env: DEPLOY_KEY}}"},
    "as its bearer": {"key": "api_key_env: DEPLOY_KEY"},
    "another kind of target": {"type": "a2a", "path": "tenant-b"},
}


@pytest.mark.parametrize("theirs", THEIRS.values(), ids=THEIRS)
def test_a_change_leads_the_key_to_no_other_tenant(change, theirs):
    with json_server(lambda _asked, _number: {"answer": "yes"}) as gateway:
        change.main(settings=TENANT.format(url=gateway.url, **OURS))
        job = {"DEPLOY_KEY": "deploy-key-1", "RUNEVALS_REPEAT": "1", "INPUT_BASELINE": "none"}
        change.action(**job).must(0)
        assert {asked.headers["x-api-key"] for asked in gateway.requests} == {"deploy-key-1"}  # the control
        asked = len(gateway.requests)
        change.write(settings=TENANT.format(url=gateway.url, **{**OURS, **theirs}))
        change.action(**job).must(2, "sends DEPLOY_KEY to ", "RUNEVALS_TARGET_URL=")
        assert len(gateway.requests) == asked


@pytest.mark.parametrize(("key", "code"), [("k0", 0), ("..", 3)])
def test_the_key_of_a_case_does_not_lead_up_to_another_tenant(hostile, key, code):
    """The base itself fills in the path; the first is the control."""
    hostile.write("evals.json", {**SUITE, "items": [{"testId": key, "prompt": "?", "expected_response": "yes"}]})
    with json_server(lambda _asked, _number: {"answer": "yes"}) as gateway:
        path = "tenant-a/{{case.key}}/chat"
        target = f"{{type: http, url: '{gateway.url}/{path}', headers: {{X-Api-Key: {{env: DEPLOY_KEY}}}}}}"
        hostile.write("runevals.yaml", key_of(f"target: {target}"))
        hostile.run("run", "-q", DEPLOY_KEY="deploy-key-1").must(code)
        assert {asked.path.partition("/chat")[0].rpartition("/tenant-a/")[2] for asked in gateway.requests} <= {
            "k0"
        }


MCP = """
import os, pathlib, sys
pathlib.Path(sys.argv[1]).write_text("\\n".join(f"{name}={value}" for name, value in os.environ.items()))
"""


@pytest.mark.parametrize(
    ("told", "seen"), [({}, None), ({"TOKEN": "${AGENT_KEY}"}, f"TOKEN={SECRETS['AGENT_KEY']}")], ids=["", "named"]
)
def test_an_mcp_server_sees_the_variables_that_it_is_told_of(hostile, around, told, seen):
    pytest.importorskip("mcp")
    server = {"command": sys.executable, "args": ["-c", MCP, str(around / "seen")], "env": told}
    server |= {"urlPatterns": ["docs.example.com"], "fetchTool": {"name": "fetch"}}
    hostile.write(".mcp.json", {"mcpServers": {"docs": server}})
    check = [{"type": "min_length", "value": 1}]
    hostile.write("docs.json", [{"sample_id": "a", "prompt": "https://docs.example.com/a", "assertions": check}])
    hostile.write(
        "runevals.yaml", "suites: [docs.json]\ntarget: {type: openai, model: tiny}\nurl_fetch: {enabled: true}\n"
    )
    hostile.run("run").must(3)
    lines = (around / "seen").read_text(encoding="utf-8").splitlines()
    values = {line.partition("=")[2] for line in lines} - {"sk-test"}
    assert "PATH" in {line.partition("=")[0] for line in lines}
    assert seen is None or seen in lines
    assert values.isdisjoint(set(SECRETS.values()) - {(seen or "").partition("=")[2]})
    assert not any(line.startswith(("OPENAI_API_KEY", "GITHUB_TOKEN")) for line in lines)


@pytest.mark.parametrize("where", ["out.yaml", ".git/config"])
@pytest.mark.parametrize("words", [(), ("--config", "runevals.yaml")], ids=["found", "named"])
def test_the_settings_file_is_no_link_out_of_the_repository(checkout, around, where, words):
    """Messages about it would show what is in the file."""
    (around / "out.yaml").write_text("password: hunter2\n", encoding="utf-8")
    (checkout.path / "runevals.yaml").unlink()
    (checkout.path / "runevals.yaml").symlink_to(around / where if where == "out.yaml" else where)
    done = checkout.run("run", *words)
    done.must(2, "runevals.yaml leads out of the repository")
    assert "password" not in done.text


@pytest.mark.parametrize("named", ["", "quarantine: ../{around}/out.yaml\n"], ids=["a link", "by its path"])
def test_the_quarantine_list_is_in_the_repository_unless_the_command_line_names_it(checkout, around, named):
    entry = {"key": "1", "owner": "hunter2", "reason": "hunter2", "expires": "2099-01-01"}
    (around / "out.yaml").write_text(json.dumps([entry]), encoding="utf-8")
    (checkout.path / "runevals.quarantine.yaml").symlink_to(around / "out.yaml")
    checkout.write(
        "runevals.yaml",
        "suites: [evals.json]\ntarget: {type: openai, model: tiny}\n" + named.format(around=around.name),
    )
    done = checkout.run("run", "-o", "out.json")
    done.must(2, "is outside the repository")
    assert "hunter2" not in done.text
    checkout.write("runevals.yaml", "suites: [evals.json]\ntarget: {type: openai, model: tiny}\n")
    checkout.run("run", "--quarantine", str(around / "out.yaml"), "-o", "out.json").must(0)
