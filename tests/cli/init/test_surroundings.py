"""What `init` finds beside the prompt: agents, keys, suites of other tools."""

from __future__ import annotations

import pytest

from runevals.cli.init.surroundings import judge_for, likely_target, other_tools
from runevals.models.facts import model

CONFIG = "promptfooconfig.yaml"


@pytest.mark.parametrize(
    ("environment", "has_skill", "target"),
    [
        pytest.param({"OPENAI_API_KEY": "k"}, False, f"openai:{model('openai')}", id="OpenAI"),
        pytest.param({"ANTHROPIC_API_KEY": "k"}, False, f"anthropic:{model('anthropic')}", id="Anthropic"),
        pytest.param({"ANTHROPIC_API_KEY": "k"}, True, "claude-code", id="a skill and Claude Code"),
        pytest.param({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://x"}, False, None, id="another server"),
        pytest.param({}, True, None, id="an agent without a key"),
    ],
)
def test_the_target_is_what_can_be_asked(tmp_path, environment, has_skill, target):
    (tmp_path / "claude").write_text("#!/bin/sh\n")
    (tmp_path / "claude").chmod(0o755)
    assert likely_target({"PATH": str(tmp_path), **environment}, has_skill=has_skill) == target


def test_a_coding_agent_is_judged_by_its_own_vendor():
    assert judge_for("claude-code") == f"anthropic:{model('anthropic')}"
    assert [judge_for(target) for target in ("gemini-cli", "openai:m", None)] == [None, None, None]


def test_suites_of_other_tools_are_named_with_the_way_here(tmp_path):
    for name in (CONFIG, "a/b.eval.yaml", "node_modules/c.eval.yaml", "tests/conftest.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert list(other_tools(tmp_path)) == [
        f"{CONFIG} is of promptfoo: runevals import promptfoo {CONFIG}, or runevals init --gate promptfoo",
        "a/b.eval.yaml is of agentv: runevals gate reads its results",
        "tests/conftest.py is of pytest: runevals init --gate pytest",
    ]
