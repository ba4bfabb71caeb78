"""How an agent's command line is started, and what becomes of one that does not behave."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from runevals.records.errors import InvalidSettings, TargetRefused
from tests.targets.agents.streams import lines, read
from tests.targets.agents.stub import ask, installed, target


def answer(tmp_path: Path, code: str, *, environment: dict[str, str] | None = None, **settings: object):
    known = installed(tmp_path, code) | (environment or {})
    return target(known, **settings).answer(ask(tmp_path))


def test_a_command_line_that_is_missing_says_how_it_is_installed():
    with pytest.raises(InvalidSettings, match="install it with: npm install -g @anthropic-ai/claude-code"):
        target({"PATH": "/usr/bin:/bin"})


def test_a_server_that_is_not_configured_is_a_usage_error(tmp_path):
    with pytest.raises(InvalidSettings, match=r"there is no MCP server docs in target\.mcp"):
        target(installed(tmp_path, ""), tools=("mcp:docs",))


def test_its_version_tools_and_skills_are_its_identity(tmp_path):
    skill = tmp_path / "haiku"
    skill.mkdir()
    (skill / "SKILL.md").write_text("one", encoding="utf-8")
    environment = installed(tmp_path, "")
    before = target(environment, tools=("shell",), skills=(skill,), model="opus").identity()
    assert (before.type, before.model) == ("claude-code", "opus")
    assert (before.detail["version"], before.detail["tools"]) == ("9.8.7", ["shell"])
    (skill / "SKILL.md").write_text("two", encoding="utf-8")
    assert target(environment, tools=("shell",), skills=(skill,), model="opus").identity() != before


def test_it_has_a_home_of_its_own_its_key_and_what_env_names(tmp_path):
    code = "print(json.dumps({'type': 'result', 'subtype': 'success', 'result': json.dumps(dict(os.environ))}))"
    job = {"GITHUB_TOKEN": "ghs_x", "OPENAI_API_KEY": "sk-o", "ACTIONS_X": "1", "DATABASE_URL": "db", "OTHER": "o"}
    found = json.loads(answer(tmp_path, code, environment=job, env=("DATABASE_URL",)).text)
    assert found["HOME"] == str(tmp_path / "home")
    assert (found["ANTHROPIC_API_KEY"], found["DATABASE_URL"]) == ("sk-ant-key", "db")
    assert not {"GITHUB_TOKEN", "OPENAI_API_KEY", "ACTIONS_X", "OTHER"} & found.keys()


def test_a_workspace_sets_no_variables_of_gemini_cli(tmp_path):
    """It would read them before our own settings, the address of its key too; above its folder as well."""
    environment = installed(tmp_path, "open('started', 'w')", program="gemini")
    conversation = ask(tmp_path)
    (inside := conversation.cwd / "a").mkdir()
    (conversation.cwd / ".gemini").mkdir()
    asked = target(environment, "gemini-cli")
    asked.answer(conversation)
    assert (conversation.cwd / "started").exists()  # the control
    (conversation.cwd / ".gemini/.env").symlink_to("elsewhere")
    for folder in (conversation.cwd, inside):
        (conversation.cwd / "started").unlink(missing_ok=True)
        problem = asked.answer(replace(conversation, cwd=folder)).problem
        assert problem.message.startswith("gemini-cli reads .gemini/.env of its workspace as its environment")
        assert not (folder / "started").exists()


def test_skills_are_put_where_it_looks_for_them(tmp_path):
    skill = tmp_path / "haiku"
    for name in ("scripts", "evals", ".git"):
        (skill / name).mkdir(parents=True)
    (skill / "evals" / "evals.json").write_text("[]", encoding="utf-8")
    (skill / "SKILL.md").write_text("---\nname: haiku\n---\n", encoding="utf-8")
    (skill / "scripts" / "a.py").write_text("a", encoding="utf-8")
    given = answer(tmp_path, "print(END)", skills=(skill,))
    assert (given.problem, given.skills) == (None, ("haiku",))
    assert (tmp_path / "home/.claude/skills/haiku/scripts/a.py").read_text() == "a"
    assert {path.name for path in (tmp_path / "home/.claude/skills/haiku").iterdir()} == {"SKILL.md", "scripts"}
    assert list((tmp_path / "work").iterdir()) == []


def test_it_may_load_the_skills_that_its_workspace_brings(tmp_path):
    """Otherwise it lists them, cannot load them, and fails every case that asks for one."""
    code = "print(json.dumps({'type': 'result', 'subtype': 'success', 'result': str(sys.argv)}))"
    agent = target(installed(tmp_path, code))
    conversation = ask(tmp_path)
    assert "--tools=Skill" not in agent.answer(conversation).text
    (conversation.cwd / ".claude/skills/haiku").mkdir(parents=True)
    assert "--tools=Skill" in agent.answer(conversation).text


def test_the_skills_that_it_had_are_those_it_reports_or_was_given(tmp_path):
    """By the name of the folder and of the front matter, which suites use."""
    skill = tmp_path / "folder"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\ndescription: A name: in it.\nname: 'haiku'\n---\nname: other\n", "utf-8")
    environment = installed(tmp_path, "print(END)")
    assert set(target(environment, skills=(skill,)).answer(ask(tmp_path)).skills) == {"folder", "haiku"}
    assert target(environment).answer(ask(tmp_path)).skills == ()
    reported = lines(
        {"type": "system", "subtype": "init", "session_id": "s", "skills": ["a", "b"]},
        {"type": "result", "subtype": "success", "result": "Done."},
    )
    assert read("claude-code", reported).skills == ("a", "b")
    loaded = {"type": "session.skills_loaded", "data": {"skills": [{"name": "a"}]}}
    assert read("copilot", lines(loaded, {"type": "result", "exitCode": 0})).skills == ("a",)


def test_the_next_turn_goes_on_with_the_session(tmp_path):
    code = (
        "said = ' '.join(sys.argv[-4:])\n"
        "print(json.dumps({'type': 'result', 'subtype': 'success', 'result': said, 'session_id': 's-1'}))"
    )
    agent = target(installed(tmp_path, code))
    agent.answer(ask(tmp_path))
    assert agent.answer(ask(tmp_path, turn=2)).text == "--resume s-1 -- Why?"


def test_without_a_session_there_is_no_next_turn(tmp_path):
    agent = target(installed(tmp_path, "print(json.dumps({'type': 'result', 'subtype': 'success'}))"))
    agent.answer(ask(tmp_path))
    assert agent.answer(ask(tmp_path, turn=2)).problem.code == "target_failed"


def test_what_it_does_not_say_of_its_cost_is_computed(tmp_path):
    code = (
        "print(json.dumps({'type': 'system', 'subtype': 'init', 'session_id': 's', 'model': 'claude-x'}))\n"
        "used = {'input_tokens': 1000000, 'output_tokens': 0}\n"
        "print(json.dumps({'type': 'result', 'subtype': 'success', 'usage': used}))"
    )
    assert answer(tmp_path, code).cost_usd == 1.0


@pytest.mark.parametrize(
    ("code", "problem", "reason"),
    [
        ("", "target_failed", "ended without its final event"),
        ("print(END); sys.exit('no key')", "target_failed", "exit code 1: no key"),
        ("sys.exit('no key')", "target_failed", "exit code 1: no key"),
        ("print(END[:-20], end='')", "target_unparseable", "not a JSON object"),
        ('sys.stdout.buffer.write(b\'{"type": "\\xff"}\\n\'); print(END)', "target_unparseable", "not UTF-8"),
        ("print(END, flush=True)\nwhile True: print('x' * 1000000)", "target_unparseable", "printed"),
        (
            "print(END, flush=True); time.sleep(60)",
            "target_timeout",
            "did not end after its final event within 2 s",
        ),
        ("time.sleep(60)", "target_timeout", "no final event within 2 s"),
    ],
)
def test_an_agent_that_does_not_behave_is_errored(tmp_path, code, problem, reason):
    found = answer(tmp_path, code, timeout_s=2.0 if "sleep" in code else 20.0)
    assert (found.problem.code, reason in found.problem.message) == (problem, True), found.problem


@pytest.mark.parametrize(
    ("name", "status", "errored"),
    [
        ("docs", "failed", True),
        ("docs", "connected", False),
        ("docs", "pending", False),
        ("other", "failed", False),
    ],
)
def test_an_answer_without_a_permitted_mcp_server_is_errored(tmp_path, name, status, errored):
    """Of a server that could not be started, no check may pass or fail."""
    servers = {"docs": {"command": "no-such-program"}, "other": {"command": "no-such-program"}}
    begin = {"type": "system", "subtype": "init", "session_id": "s-1"}
    begin["mcp_servers"] = [{"name": name, "status": status}]
    answered = answer(tmp_path, f"print(json.dumps({begin!r})); print(END)", tools=("mcp:docs",), servers=servers)
    assert (answered.problem is not None) is errored
    if answered.problem is not None:
        assert answered.problem.code == "target_failed"
        assert "the MCP server docs" in answered.problem.message


@pytest.mark.needs("linux")
def test_a_late_agent_ends_with_all_that_it_started(tmp_path):
    code = "p = subprocess.Popen(['sleep', '300']); open('pid', 'w').write(str(p.pid)); time.sleep(300)"
    assert answer(tmp_path, code, timeout_s=4.0).problem.code == "target_timeout"
    pid = (tmp_path / "work" / "pid").read_text()
    ends_at = time.monotonic() + 60
    while (state := _state(pid)) not in ("", "Z", "X") and time.monotonic() < ends_at:
        time.sleep(0.05)
    assert state in ("", "Z", "X")


def _state(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return ""


def test_a_prompt_that_is_too_long_for_a_command_line_is_errored(tmp_path):
    agent = target(installed(tmp_path, "print(END)"))
    found = agent.answer(ask(tmp_path, prompt="x" * 3_000_000))
    assert "too long for a command line" in found.problem.message


def test_without_a_folder_it_is_not_started(tmp_path):
    agent = target(installed(tmp_path, "print(END)"))
    with pytest.raises(TargetRefused):
        agent.answer(ask(tmp_path).__class__(suite="s", case="c", attempt=1, turn=1, prompt="?"))
