"""The prompt file of a new project: which are offered, and which setting names one."""

from __future__ import annotations

import pytest
import yaml

from runevals.cli.init.prompt_file import PromptFile, likely
from tests.chat_server import Reply, chat_server

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


def test_likely_prompt_files_are_offered_in_a_fixed_order(project):
    for name in ("AGENTS.md", "notes.md", "prompts/b.txt", "prompts/a.md", "prompts/README.md", "x.prompt.yml"):
        project.write(name, "text")
    project.write("skills/notes/SKILL.md", "text")
    assert likely(project.path) == [
        "x.prompt.yml",
        "prompts/a.md",
        "prompts/b.txt",
        "skills/notes/SKILL.md",
        "AGENTS.md",
    ]


@pytest.mark.parametrize(
    ("name", "text", "target", "key"),
    [
        ("p.md", "Be kind.", "openai", "target.system_prompt_file"),
        ("p.md", "Answer {{prompt}}", "python", "target.prompt_file"),
        ("SKILL.md", "Be kind.", "claude-code", "depends_on"),
        ("p.md", "Be kind.", None, "depends_on"),
        ("p.prompt.yml", "messages: []", "openai", "suites"),
    ],
)
def test_the_setting_that_names_it_is_one_that_the_target_reads(name, text, target, key):
    assert PromptFile(name, text).key(target) == key


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
    steps = out.partition("\nNext\n")[2].splitlines()
    assert len(steps) <= 5
    assert "put your own cases into the suite, instead of those marked “replace me”" in steps[0]


def test_a_prompt_with_its_own_cases_is_the_suite(project, runevals):
    project.write(
        "triage.prompt.yml",
        "messages: [{role: user, content: '{{message}}'}]\n"
        "testData: [{message: hi, expected: hi}]\n"
        "evaluators: [{name: e, string: {equals: '{{expected}}'}}]\n",
    )
    code, _, err = runevals("init", "--yes", "--prompt-file", "triage.prompt.yml")
    assert (code, err) == (0, "")
    assert 'suites: ["triage.prompt.yml"]' in (project.path / "runevals.yaml").read_text(encoding="utf-8")
    assert not (project.path / "evals").exists()


@pytest.mark.parametrize("wrong", ["absent.md", "../outside.md"])
def test_a_prompt_file_that_cannot_be_stops_init_before_it_writes(project, runevals, wrong):
    code, _, err = runevals("init", "--yes", "--prompt-file", wrong)
    assert code == 2
    assert "--prompt-file" in err
    assert project.files() == []
