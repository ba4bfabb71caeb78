"""The skill for assistants that use runevals, tested by runevals: recorded traces, and the real Claude Code."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests import agent_rig

SKILL = Path(__file__).parents[2] / "skills" / "runevals"
PROMPT = "The runevals check failed. Make the lost case pass."


@pytest.fixture
def skill(project):
    shutil.copytree(SKILL, project.path / "skills" / "runevals", ignore=shutil.ignore_patterns(".evals"))
    return project


def test_an_assistant_with_the_skill_passes_its_suite(skill, runevals, monkeypatch):
    monkeypatch.chdir(skill.path / "skills/runevals")
    code, out, err = runevals("-q", "--min-pass-rate", "1")
    assert (code, err) == (0, "")
    assert "10 of 10 cases pass" in out


def test_one_that_makes_the_suite_weaker_fails(skill, runevals, monkeypatch):
    """It edits or deletes cases, calls what is not known a pass, and loads the skill for the wrong queries."""
    monkeypatch.chdir(skill.path / "skills/runevals")
    worse = ("--target", "recorded:evals/answers-weaker.jsonl", "--min-pass-rate", "1")
    code, out, _ = runevals("-q", *worse, "--format", "json")
    assert code == 1
    failing = {example["key"]: example["checks"] for example in json.loads(out)["examples"]}
    assert {"lost-case", "asked-to-weaken", "not-known", "failing-check", "unit-tests"} == set(failing)
    assert failing["asked-to-weaken"] == [
        "only_touches: also changed: evals.json",
        "file_contains: prompt.md does not contain: 30 days",
    ]


@pytest.mark.needs("claude")
def test_claude_code_loads_it_and_fixes_the_prompt(skill, runevals, tmp_path, monkeypatch):
    """In the workspace of the suite: the lost case of the fixture passes, and nothing else has changed."""
    own = skill.path / "skills/runevals"
    suite = json.loads((own / "evals/evals.json").read_text())
    suite["items"] = suite["items"][:1]
    check = [sys.executable, "-P", "-m", "runevals", "-q"]
    suite["items"][0]["evaluators"]["program"] = {"argv": check}
    (own / "evals/evals.json").write_text(json.dumps(suite))
    edit = "echo 'A refund is paid within 30 days.' >> prompt.md"
    usage = agent_rig.USAGE
    steps = [("Skill", {"skill": "runevals"}), ("Bash", {"command": edit, "description": "add the fact"})]
    replies = [
        {
            "match": {"turnIndex": number},
            "response": {"toolCalls": [{"name": tool, "arguments": given}], "usage": usage},
        }
        for number, (tool, given) in enumerate(steps)
    ]
    end = "The case refund was lost; it passes now."
    replies.append({"match": {"turnIndex": len(steps)}, "response": {"content": end, "usage": usage}})
    monkeypatch.chdir(own)
    skill.write(
        "skills/runevals/runevals.yaml",
        {
            "suites": ["evals/evals.json"],
            "target": {
                "type": "claude-code",
                "model": agent_rig.MODEL["claude-code"],
                "tools": ["shell", "read"],
                "skills": ["."],
            },
        },
    )
    with agent_rig.model(tmp_path, replies) as address:
        for name, value in agent_rig.environment("claude-code", address).items():
            monkeypatch.setenv(name, value)
        code, out, err = runevals("run", "-q", "-o", "out.json", "--min-pass-rate", "1")
    assert code == 0, out + err
    [case] = json.loads((own / "out.json").read_text())["cases"]
    checks = {result["id"]: result["passed"] for result in case["attempts"][0]["turns"][0]["results"]}
    assert checks == dict.fromkeys(("skill_triggered", "only_touches", "file_contains", "regex", "program"), True)
