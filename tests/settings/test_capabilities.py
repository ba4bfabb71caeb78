"""What settings reach, and that no field of a change reaches more than base and workflow name."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from importlib.resources import files

import msgspec
import pytest

from runevals.models.chat.providers import PROVIDERS
from runevals.records.errors import InvalidSettings, UsageError
from runevals.repository.git import Head
from runevals.settings.capabilities import Reach, beyond, capabilities, of_workflow, require_granted, servers_at
from runevals.settings.file import BaseSide, SettingsFile
from runevals.settings.protected import PROTECTED
from runevals.settings.resolve import RawSettings, resolve
from runevals.targets.agents import AGENTS
from runevals.targets.agents.agent import Ask
from runevals.targets.agents.settings import AgentTargetSettings, options_of
from runevals.targets.kinds import KINDS, kind_of
from runevals.targets.plugin import PluginSettings

HERE = "https://api.openai.com/v1"
PLACE = "https://a.example/"
KEYS = {
    **{name: f"value-of-{name}" for provider in PROVIDERS.values() for name in (provider.key,)},
    **{name: f"value-of-{name}" for agent in AGENTS.values() for name in agent.keys},
    "DEPLOY_KEY": "deploy-key-1",
}
JOB = {"CI": "true", "GITHUB_EVENT_NAME": "pull_request", **KEYS}
PLACES = {"AZURE_AI_OPENAI_ENDPOINT": "https://azure.example/", "AWS_REGION": "us-east-1"}
SCHEMA = json.loads(files("runevals.settings").joinpath("schemas/settings-1.schema.json").read_text("utf-8"))
TARGET = SCHEMA["properties"]["target"]["then"]["properties"]
JUDGE = SCHEMA["$defs"]["judge"]["then"]["properties"]


def no_servers(_name):
    return {}


def reached(environment=KEYS, **values):
    return capabilities(values, environment, no_servers)


@pytest.mark.parametrize(
    ("values", "ledger"),
    [
        ({"target": "openai:m"}, {Reach("key", "OPENAI_API_KEY", HERE, "authorization"): "target.type"}),
        (
            {"target": {"type": "openai", "base_url": f"{PLACE}v1?a=b", "api_key_env": "DEPLOY_KEY"}},
            {Reach("key", "DEPLOY_KEY", f"{PLACE}v1", "authorization"): "target.base_url"},
        ),
        (
            {"judge": [{"model": "m"}, {"type": "openai", "api_key_env": "DEPLOY_KEY"}]},
            {
                Reach("key", "OPENAI_API_KEY", HERE, "authorization"): "judge.type",
                Reach("key", "DEPLOY_KEY", HERE, "authorization"): "judge.api_key_env",
            },
        ),
        (
            {"target": {"type": "http", "url": PLACE, "headers": {"X": {"env": "DEPLOY_KEY"}, "Y": "y"}}},
            {Reach("key", "DEPLOY_KEY", "https://a.example/", "x"): "target.url"},
        ),
        ({"target": {"type": "http", "url": "https://a.example/", "api_key_env": "NOT_SET"}},
         {Reach("host", "", "https://a.example/"): "target.url"}),
        ({"target": {"type": "http", "url": "no address", "api_key_env": "DEPLOY_KEY"}}, {}),
        (
            {"target": {"type": "command", "command": ["python", "a b.py"], "env": ["DEPLOY_KEY", "NOT_SET"]}},
            {
                Reach("program", "python 'a b.py'"): "target.command",
                Reach("variable", "DEPLOY_KEY", "a program under test"): "target.env",
            },
        ),
        (
            {"target": {"type": "codex", "args": ["--a=b", "-c", "model_verbosity=low"], "tools": ["shell"]}},
            {
                Reach("agent", "codex"): "target.type",
                Reach("option", "--a=b", "codex"): "target.args",
                Reach("tool", "shell", "codex"): "target.tools",
            },
        ),
        (
            {"target": {"type": "openai", "auth": "github"}},
            {Reach("key", "the job's identity", HERE, "authorization"): "target.auth"},
        ),
        (
            {"target": {"type": "openai", "mcp": [{"url": f"{PLACE}mcp"}, {"command": "a", "args": ["b"]}]}},
            {
                Reach("key", "OPENAI_API_KEY", HERE, "authorization"): "target.type",
                Reach("host", "", f"{PLACE}mcp"): "target.mcp",
                Reach("program", "a b"): "target.mcp",
            },
        ),
        ({"target": {"type": "plugin", "plugin": "p"}}, {Reach("plugin", "p", "", "{}"): "target.plugin"}),
        ({"base_setup": ["pip", "install", "."]}, {Reach("program", "pip install ."): "base_setup"}),
        ({"target": {"type": "recorded", "path": "a.jsonl"}}, {}),
    ],
)  # fmt: skip
def test_settings_reach(values, ledger):
    assert dict(reached(**values)) == ledger


def test_the_identity_of_a_job_goes_to_the_provider_or_where_the_base_sends_it():
    at = {
        place: reached(target={"type": "anthropic", "auth": "github", "base_url": place})
        for place in (PLACE, HERE)
    }
    require_granted(reached(target={"type": "anthropic", "auth": "github"}), {}, KEYS)
    require_granted(at[PLACE], at[PLACE], KEYS)
    with pytest.raises(
        InvalidSettings, match=r"target.base_url .* sends the job's identity to https://a.example/"
    ):
        require_granted(at[PLACE], at[HERE], KEYS)


def test_an_agent_without_a_key_reaches_nothing():
    assert not reached({}, target={"type": "codex", "args": ["--add-dir", "x"], "tools": ["shell"]})


@pytest.mark.parametrize(
    ("base", "place", "expected"),
    [
        ({"type": "openai"}, HERE, True),
        ({"type": "openai"}, "https://other.example/v1", False),
        ({"type": "openai", "base_url": "https://other.example/v1"}, "https://other.example/v1/", True),
        ({"type": "openai", "base_url": "https://other.example/a/v1"}, "https://other.example/b/v1", False),
        ({"type": "openai", "base_url": "https://other.example/v1"}, HERE, False),
        ({"type": "http", "url": "https://agent.example/v1"}, HERE, False),
        ({"type": "http", "url": "no address"}, "https://agent.example/v1", False),
    ],
)
def test_a_key_goes_only_where_the_base_sends_it(base, place, expected):
    of_base = reached(target={**base, "api_key_env": "DEPLOY_KEY"})
    head = reached(target={"type": "openai", "base_url": place, "api_key_env": "DEPLOY_KEY"})
    assert (not beyond(head, of_base)) is expected


def test_a_preview_that_the_workflow_names_is_where_the_base_would_send_it():
    target = {"type": "http", "url": "https://agent.example/", "headers": {"X": {"env": "DEPLOY_KEY"}}}
    preview = {**KEYS, "RUNEVALS_TARGET_URL": "https://preview.example/"}
    require_granted(reached(preview, target=target), reached(preview, target=target), preview)
    named = {**preview, "RUNEVALS_API_KEY_ENV": "DEPLOY_KEY"}
    require_granted(reached(named, target=target), {}, named)
    with pytest.raises(
        InvalidSettings, match=r"sends DEPLOY_KEY to .*workflow: .*RUNEVALS_API_KEY_ENV=DEPLOY_KEY"
    ):
        require_granted(reached(preview, target=target), {}, preview)


def test_the_options_of_an_agent_have_their_values():
    words = ["--effort", "low", "--a=b", "-c", "k=v", "--flag", "--last", "x", "y", "-c=k.l=v", "--end"]
    assert [str(option) for option in options_of(words)] == [
        *("--effort=low", "--a=b", "-c k=v", "--flag", "--last=x", "y", "-c k.l=v", "--end"),
    ]


# --- every field of the schema, for every type


@pytest.mark.parametrize("kind", KINDS)
def test_each_setting_of_a_target_and_a_judge_has_a_rule(kind):
    assert kind_of(kind).reaches.keys() == TARGET.keys() | JUDGE.keys()


# The other settings that are the change's own: none leads to a host, a program, a variable or a file outside.
OF_CHANGE = {
    *("$schema", "version", "suites", "target", "targets", "prices", "evaluators"),
    *("repeat", "concurrency", "judge_concurrency", "changed_only", "depends_on"),
}
SPREAD = {"judges": "judge", "errors": "errors_limit", "baseline": "baseline", "redact": "redact_patterns"}


def test_each_other_setting_is_the_bases_or_reaches_nothing():
    assert {name for name in SCHEMA["properties"] if SPREAD.get(name, name) not in PROTECTED} == OF_CHANGE


OF_BASE = {
    **{name: {"type": name, "model": "m"} for name in PROVIDERS},
    **{name: {"type": name, "model": "m", "tools": ["read"], "args": ["--of-base"]} for name in AGENTS},
    "http": {"type": "http", "url": "https://agent.example/chat", "api_key_env": "OPENAI_API_KEY"},
    "a2a": {"type": "a2a", "url": "https://agent.example/chat", "api_key_env": "OPENAI_API_KEY"},
    "command": {"type": "command", "command": ["agent"], "env": ["OPENAI_API_KEY"]},
    "python": {"type": "python", "function": "agent.py:answer", "env": ["OPENAI_API_KEY"]},
    "recorded": {"type": "recorded", "path": "answers.jsonl"},
    "skill": {"type": "skill"},
    "plugin": {"type": "plugin", "plugin": "of-base", "options": {"a": 1}},
}
CANARY = "https://canary.example/v1"
VALUES = [
    *(
        "DEPLOY_KEY",
        CANARY,
        "--canary=1",
        "canary",
        "../outside.txt",
        "/etc/hostname",
        "shell",
        "codex",
        "command",
    ),
    *(["DEPLOY_KEY"], ["--canary", "x"], ["shell"], ["canary"], ["../outside"], ["mcp:canary"]),
    *({"canary": {"command": "canary"}}, {"X": {"env": "DEPLOY_KEY"}}, {"url": CANARY, "key": "DEPLOY_KEY"}),
    [{"command": "canary"}],
]
FURTHER = {"env": ["DEPLOY_KEY"], "tools": ["mcp:canary"]}

granted_by = cache(lambda variables, what: of_workflow(dict(variables), what))


@pytest.fixture
def settled(tmp_path, monkeypatch):
    """Resolves the settings of a change to this base; what the workflow grants is read once."""
    for module in ("capabilities", "resolve"):
        monkeypatch.setattr(
            f"runevals.settings.{module}.of_workflow",
            lambda environment, what: granted_by(tuple(environment.items()), what),
        )
    (tmp_path / ".git").mkdir()  # otherwise each would look for it up to the root
    (tmp_path / "answers.jsonl").write_text("", encoding="utf-8")
    (tmp_path.parent / "outside.txt").write_text("CANARY OF A FILE", encoding="utf-8")

    def resolved(head, base, what="target"):
        def file(values):
            return SettingsFile(exists=True, display_name="runevals.yaml", base=tmp_path, values=values)

        side = BaseSide(commit="0123456789", file=file({what: base}), on_pull_request=True)
        raw = RawSettings(cwd=tmp_path, environment={**JOB, **PLACES}, base_side=side, head=Head())
        return resolve(raw, file({what: head}))

    return resolved


def reaches(settings):
    """What the resolved settings would do: what is started with which variables, and where keys go."""
    target = settings.target
    agent = target.agent if isinstance(target, AgentTargetSettings) else None
    sends = target.is_model or target.address is not None or agent is not None
    names = settings.key_names if sends else settings.program_variables or ()
    yield from (("variable", name) for name in names if name in KEYS)
    for endpoint in (target, *settings.judges):
        if endpoint.type in PROVIDERS:
            yield "address", endpoint.base_url
    if target.address is not None:
        yield "address", target.address
    if agent is not None:
        ask = Ask(prompt="p", model="m", settings=agent)
        yield from (("word", word) for word in AGENTS[target.type].arguments(ask))
        yield "home", json.dumps(dict(AGENTS[target.type].home(agent, KEYS)))
        yield "agent", target.type
    if isinstance(target, PluginSettings):
        yield "plugin", json.dumps([target.plugin, target.options])
    text = json.dumps([target.system_prompt, msgspec.to_builtins(target.prompt)])
    yield from [("file", text)] if "CANARY OF A FILE" in text else []


@pytest.mark.parametrize("kind", OF_BASE)
@pytest.mark.parametrize("field", [name for name in TARGET if name != "model"])
def test_no_value_of_a_change_leads_further(settled, kind, field):
    base = OF_BASE[kind]
    known = set(reaches(settled(base, base)))
    heads = [{**base, field: value, **more} for value in VALUES for more in ({}, FURTHER)]
    if field == "type":
        heads += [{**OF_BASE[other], "env": ["DEPLOY_KEY"]} for other in OF_BASE if other != kind]
    for head in heads:
        with suppress(UsageError, TypeError, ValueError, AttributeError, KeyError):  # the schema refuses others
            settings = settled(head, base)
            new = {reach for reach in reaches(settings) if reach not in known}
            assert not any(map(is_of_canary, new)), (head, new)
            assert settings.target.type in (kind, *(OF_BASE.keys() - AGENTS.keys())), head


def is_of_canary(reach):
    return any(
        word in str(reach[1]) for word in ("canary", "CANARY", "DEPLOY_KEY", "outside", "/etc", "shell", "Bash")
    )


@pytest.mark.parametrize(
    "content", ['{"mcpServers": {"docs": {"command": "docs"}}}', "{}", "[]", "{", '{"mcpServers": 3}']
)
def test_a_file_of_servers_in_the_base_may_name_none(repository, content):
    repository.write("servers.json", content)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "servers")
    servers = servers_at(repository.path, repository.path, "HEAD")("servers.json")
    assert set(servers) == ({"docs"} if "docs" in content else set())
