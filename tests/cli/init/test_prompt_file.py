"""The prompt file of a new project: which are offered, and which setting names one."""

from __future__ import annotations

import pytest
import yaml

from runevals.cli.init.prompt_file import PromptFile, likely
from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_suites import EXACT

PROMPT = """# Support

You help the customers of a shop.

## Warranty
- Every device has a warranty of **24 months**.

## Refunds
Refunds are possible within 30 days. Ask support.

## Style
1. Answer in one sentence.
2. Name the page you quote.
"""

SKILL = """---
name: {name}
description: Writes release notes. Use when asked what is new.
---
# Notes

- Never name a person.
"""
CHECK = {"type": "contains", "value": "x"}


def test_likely_prompt_files_are_offered_in_a_fixed_order(project):
    names = ("prompts/b.txt", "prompts/a.md", "prompts/README.md", "x.prompt.yml", "system-prompt.md")
    for name in ("AGENTS.md", "notes.md", *names):
        project.write(name, "text")
    project.write("skills/notes/SKILL.md", "text")
    assert likely(project.path) == [
        "x.prompt.yml",
        "prompts/a.md",
        "prompts/b.txt",
        "system-prompt.md",
        "skills/notes/SKILL.md",
        "AGENTS.md",
    ]


@pytest.mark.parametrize(
    ("name", "text", "target", "key"),
    [
        ("p.md", "Be kind.", "openai", "target.system_prompt_file"),
        ("p.md", "Answer {{prompt}}", "python", "target.prompt_file"),
        ("SKILL.md", "Be kind.", "claude-code", None),
        ("AGENTS.md", "Be kind.", "claude-code", None),
        ("SKILL.md", "Be kind.", None, None),
        ("p.md", "Be kind.", None, None),
        ("p.prompt.yml", "messages: []", "openai", "suites"),
    ],
)
def test_the_setting_that_names_it_is_one_that_the_target_reads(name, text, target, key):
    assert PromptFile(name, text).key({"type": target}) == key


@pytest.mark.parametrize("target", ["python:bot.py:answer", "python:bot:answer", "command:python bot.py"])
@pytest.mark.parametrize("name", ["prompts/support.md", "SKILL.md"])
def test_a_program_that_reads_its_prompt_is_not_sent_it_as_well(project, runevals, target, name):
    """Else a program that loses its prompt would still get it, and pass."""
    project.write(name, SKILL.format(name="notes"))
    program = (
        f"import sys\ndef answer(prompt):\n    return open({name!r}).read()\nprint(answer(sys.stdin.read()))\n"
    )
    project.write("bot.py", program)
    code, out, err = runevals("init", "--yes", "--target", target, "--prompt-file", name)
    ended(code, 0, out + err, f"{name}: bot.py names it, so the settings do not send it as well")
    assert (out + err).count("names it, so") == 1
    settings = yaml.safe_load((project.path / "runevals.yaml").read_text(encoding="utf-8"))
    assert (settings["target"], "depends_on" in settings) == (target, False)
    _, again, _ = runevals("init", "--yes", "--target", target, "--prompt-file", name)
    assert "the settings file" not in again


def test_the_prompt_is_sent_and_three_cases_are_proposed_from_it(project, runevals, monkeypatch):
    project.write("prompts/support.md", PROMPT)
    with chat_server(lambda _body, _: Reply("A warranty of 24 months.")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, _ = runevals("init", "--yes", "--target", "openai:small", "--prompt-file", "prompts/support.md")
        assert code == 0
        assert server.requests[0]["messages"][0] == {"role": "system", "content": PROMPT}
    settings = yaml.safe_load((project.path / "runevals.yaml").read_text(encoding="utf-8"))
    assert settings["target"] == {
        "type": "openai",
        "model": "small",
        "system_prompt_file": "prompts/support.md",
    }
    assert settings["repeat"] == 3
    items = project.document("evals/evals.json")["items"]
    assert [(item["prompt"], item["expected_response"]) for item in items] == [
        ("What applies to “Warranty”?", "Every device has a warranty of 24 months."),
        ("What applies to “Style”?", "Answer in one sentence."),
        ("What applies to “Support”?", "You help the customers of a shop."),
    ]
    assert all(item["notes"].startswith("replace me: ") for item in items)
    steps = out.rpartition("\nNext\n")[2].splitlines()
    assert len(steps) <= 5
    marked = "put your own cases into the suite, instead of those marked “replace me”"
    assert f"{marked}; `default_evaluators` check each, too, then: runevals" in steps[0]


@pytest.mark.parametrize(
    "target",
    ["target: openai:small", "target: {type: openai, model: small, parameters: {temperature: 0}}"],
    ids=["one text", "a section"],
)
def test_settings_that_send_no_prompt_are_told_the_line_that_sends_it(project, runevals, monkeypatch, target):
    """It is written as printed, in place of the old one, and is then all that is missing."""
    project.write("runevals.yaml", f"repeat: 1\n{target}\n")
    project.write("SKILL.md", SKILL.format(name="notes"))
    project.write(
        "evals/evals.json", {**EXACT, "items": [{"testId": "a", "prompt": "hi", "expected_response": "yes"}]}
    )
    with chat_server(lambda _body, _: Reply("yes")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, err = runevals("init", "--yes", "--prompt-file", "SKILL.md")
        (line,) = [line for line in out.splitlines() if "put into the settings file: " in line]
        project.write("runevals.yaml", f"repeat: 1\n{line.partition('file: ')[2]}\n")
        code, out, err = runevals("init", "--yes", "--prompt-file", "SKILL.md")
        assert "the settings file" not in out
        sent = server.requests[-1]
    assert (code, sent["messages"][0]["role"]) == (0, "system"), out + err
    assert sent["messages"][0]["content"].startswith(SKILL.format(name="notes").strip()[:20])
    assert ("temperature" in sent) is ("temperature" in target)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("prompts/support.md", "system_prompt_file"),
        ("app/prompts/support.txt", "system_prompt_file"),
        ("system-prompt.md", "system_prompt_file"),
        ("prompts/ask.md", "prompt_file"),
    ],
)
def test_the_first_prompt_of_a_repository_is_tested_where_nobody_can_be_asked(project, runevals, name, key):
    """One with variables is filled in for each case."""
    for other in ("AGENTS.md", "prompts/README.md", "node_modules/prompts/readme.md"):
        project.write(other, PROMPT)
    project.write(name, PROMPT + "Answer {{question}}\n" * (key == "prompt_file"))
    code, out, err = runevals("init")
    ended(code, 0, out + err, "✓ evals/evals.json: written")
    assert project.document("evals/evals.json")["items"][0]["notes"].endswith(f"proposed from {name}:6")
    settings = (project.path / "runevals.yaml").read_text(encoding="utf-8")
    assert f' {key}: "{name}"' in settings
    assert "depends_on" not in settings  # or --changed-only would pass over all else that a program reads


def test_the_cases_of_a_template_run(project, runevals, monkeypatch):
    template = "Answer for {{company}}.\n- Never promise a refund.\n\nCustomer: {{ask}}\n"
    project.write("prompts/support.md", template)
    with chat_server(lambda _body, _: Reply("Never promise a refund.")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, _, err = runevals("init", "--yes", "--target", "openai:small", "--prompt-file", "prompts/support.md")
        assert (code, "still marked “replace me”" in err) == (0, True)
        assert "Customer: What is right here? Never promise" in server.requests[0]["messages"][-1]["content"]


def test_a_template_without_rules_gets_a_suite_with_its_variables(project, runevals, monkeypatch):
    project.write("p.md", "# Support\n\nYou answer customers of {{shop}} …\nQuestion: {{question}}\n")
    words = ("init", "--yes", "--prompt-file", "p.md", "--target", "openai:tiny")
    with chat_server(
        lambda body, n: Reply("Paris" if "France" in body["messages"][-1]["content"] else "no")
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, err = runevals(*words)
        assert code == 0, out + err
        assert "1 of 3 cases pass" in out
        assert "3 cases of `runevals init` still marked “replace me”: write your own" in " ".join(
            (out + err).split()
        )
        _, again, _ = runevals(*words)
    assert "the settings file" not in again


@pytest.mark.parametrize("words", [(), ("--prompt-file", "triage.prompt.yml")], ids=["the only one", "by name"])
def test_a_prompt_with_its_own_cases_is_the_suite(project, runevals, monkeypatch, words):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    project.write(
        "triage.prompt.yml",
        "model: openai/gpt-4o\n"
        "messages: [{role: user, content: '{{message}}'}]\n"
        "testData: [{message: hi, expected: hi}]\n"
        "evaluators: [{name: e, string: {equals: '{{expected}}'}}]\n",
    )
    code, out, err = runevals("init", "--yes", *words)
    ended(code, 0, out + err, "Not run yet: ", "OPENAI_API_KEY is not set", without=["no target", "skill"])
    assert 'suites: ["triage.prompt.yml"]' in (project.path / "runevals.yaml").read_text(encoding="utf-8")
    assert not (project.path / "evals").exists()


def test_settings_without_suites_are_led_to_the_prompt_with_its_own_cases(project, runevals):
    project.write("runevals.yaml", "target: 'command:echo hi'\n")
    project.write(
        "triage.prompt.yml",
        "messages: [{role: user, content: '{{message}}'}]\n"
        "testData: [{message: hi, expected: hi}]\n"
        "evaluators: [{name: e, string: {equals: '{{expected}}'}}]\n",
    )
    code, _, err = runevals()
    ended(code, 2, err, 'suites: ["triage.prompt.yml"]', without=["runevals.yaml:1"])
    code, out, err = runevals("init", "--yes")
    ended(code, 0, out + err, "1 of 1 case", 'in the settings file: suites: ["triage.prompt.yml"]')


def test_a_skill_gets_a_suite_of_its_own_and_is_not_run_before_the_author_wrote_it(project, runevals):
    for name in ("pdf", "notes"):
        project.write(f".claude/skills/{name}/SKILL.md", SKILL.format(name=name))
    code, out, err = runevals("init", "--yes")
    assert (code, err.count("still marked “replace me”")) == (0, 2)
    assert "default_evaluators" not in out, "its suite has none"
    suite = project.document(".claude/skills/notes/evals/evals.json")
    assert suite["skill_name"] == "notes"
    assert suite["evals"][0]["prompt"].startswith("replace me: ")
    queries = project.document(".claude/skills/notes/evals/trigger-evals.json")
    assert [entry["should_trigger"] for entry in queries] == [True, False]
    assert not (project.path / "evals").exists()
    assert "begin the suite of the next skill: runevals init --prompt-file .claude/skills/pdf/SKILL.md" in out
    code, out, _ = runevals("init", "--yes", "--prompt-file", ".claude/skills/pdf/SKILL.md")
    assert "✓ .claude/skills/pdf/evals/evals.json: written" in out
    assert "begin the suite" not in out
    code, out, _ = runevals("validate")
    assert (code, out.count("✓ ")) == (0, 4)


@pytest.mark.parametrize("target", ["claude-code", "openai:m1", "python:agent.py:answer"])
@pytest.mark.parametrize(
    "suites",
    ["", "suites: ['skills/*/evals/evals.json']\n", "suites: [skills/a/evals/evals.json, skills/b/evals]\n"],
    ids=["unset", "a pattern", "by name"],
)
def test_the_next_steps_lead_to_the_cases_of_a_skill_without_any(project, runevals, monkeypatch, target, suites):
    """Followed as printed, until a run here has the cases of all skills."""
    monkeypatch.setenv("PATH", "")
    project.write("runevals.yaml", f"target: {target}\n{suites}")
    project.write("agent.py", "def answer(prompt): return 'x'\n")
    for name in ("a", "b", "c", "own"):
        project.write(f"skills/{name}/SKILL.md", SKILL.format(name=name))
    project.write("skills/own/runevals.yaml", "version: 1\n")
    for name in ("a", "b"):
        suite = {"skill_name": name, "evals": [{"id": name, "prompt": "p", "assertions": [CHECK]}]}
        project.write(f"skills/{name}/evals/evals.json", suite)
    _, out, err = runevals("init", "--yes")
    command = "runevals init --prompt-file skills/c/SKILL.md"
    ended(0, 0, out + err, f"  begin the suite of the next skill: {command}\n")
    _, out, err = runevals(*command.split()[1:], "--yes")
    ended(0, 0, out + err, "✓ skills/c/evals/evals.json: written", without=["begin the suite", "skills/own"])
    step = "  name its suite in the settings file: "
    lines = [line.removeprefix(step) for line in out.splitlines() if line.startswith(step)]
    assert bool(lines) is ("/a/" in suites), out
    if lines:
        project.write("runevals.yaml", "\n".join([f"target: {target}", *lines]))
        assert step not in runevals(*command.split()[1:], "--yes")[1]
    _, out, err = runevals("validate")
    ended(0, 0, out + err, *(f"✓ skills/{name}/evals/evals.json" for name in ("a", "b", "c")))


def test_skills_beside_a_suite_of_something_else_are_no_next_step(project, runevals):
    project.write("runevals.yaml", "suites: [evals.json]\ntarget: 'command:cat'\n")
    project.write("evals.json", {**EXACT, "items": [{"testId": "a", "prompt": "hi", "expected_response": "hi"}]})
    project.write(".claude/skills/commit/SKILL.md", SKILL.format(name="commit"))
    code, out, err = runevals("init", "--yes")
    ended(code, 0, out + err, "1 of 1 case passes", without=["next skill", "commit/"])


def test_a_model_is_given_the_skill_and_a_judge_its_statements(project, runevals, monkeypatch):
    project.write("SKILL.md", SKILL.format(name="notes"))
    project.write("judge.jsonl", "")
    with chat_server(lambda _body, _: Reply("x")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, _ = runevals("init", "--yes", "--target", "openai:small", "--judge", "recorded:judge.jsonl")
        assert (code, server.requests) == (0, [])
    assert "Not run yet: its cases are marked “replace me”" in out
    settings = yaml.safe_load((project.path / "runevals.yaml").read_text(encoding="utf-8"))
    assert settings["target"]["system_prompt_file"] == "SKILL.md"
    assert "suites" not in settings
    (case,) = project.document("evals/evals.json")["evals"]
    assert "replace me: Never name a person." in case["assertions"]
    assert not (project.path / "evals/trigger-evals.json").exists()  # a model does not load skills


def test_a_coding_agent_may_use_what_a_skill_needs(project, runevals):
    project.write("skills/notes/SKILL.md", SKILL.format(name="notes"))
    assert runevals("init", "--yes", "--target", "claude-code:opus")[0] == 0
    settings = yaml.safe_load((project.path / "runevals.yaml").read_text(encoding="utf-8"))
    assert settings["target"] == {"type": "claude-code", "model": "opus", "tools": ["shell", "read", "write"]}
    assert "depends_on" not in settings


def test_a_skill_with_cases_keeps_them(project, runevals):
    project.write("SKILL.md", SKILL.format(name="notes"))
    suite = {"skill_name": "notes", "evals": [{"id": 1, "prompt": "p", "assertions": [CHECK]}]}
    project.write("evals/evals.json", suite)
    project.write("agent.py", "def answer(prompt): return 'x'\n")
    code, out, _ = runevals("init", "--yes", "--target", "python:agent.py:answer")
    assert code == 0
    assert "– evals/evals.json: already exists, skipped" in out
    assert "✓ 1 of 1 case passes" in out
    assert "replace me" not in out
    assert project.document("evals/evals.json") == suite
    settings = yaml.safe_load((project.path / "runevals.yaml").read_text(encoding="utf-8"))
    assert settings["target"]["system_prompt_file"] == "SKILL.md"  # or no edit of the skill would show


@pytest.mark.parametrize("wrong", ["absent.md", "../outside.md"])
def test_a_prompt_file_that_cannot_be_stops_init_before_it_writes(project, runevals, wrong):
    code, _, err = runevals("init", "--yes", "--prompt-file", wrong)
    assert code == 2
    assert "--prompt-file" in err
    assert project.files() == []
