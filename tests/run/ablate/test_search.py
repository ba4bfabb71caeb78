"""Lines that are taken out of real prompts, in a worktree; and what is said of them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records.errors import InvalidSettings
from runevals.run.ablate.search import ablated, described
from runevals.run.request import RunRequest
from tests.against_base import on_main
from tests.sample_suites import EXACT

AGENT = """
import pathlib
def answer(prompt):
    text = pathlib.Path("prompts/support.md").read_text()
    return "yes" if {"warranty": "24 months", "refund": "30 days"}[prompt] in text else "no"
"""
SETTINGS = """
suites: [evals.json]
target: {type: python, function: 'agent.py:answer', deterministic: true}
depends_on: ['prompts/**']
"""
PLACE = "prompts/support.md"
PROMPT = """---
name: support
---
# Support

- The warranty is 24 months.
- Be kind.
- A refund is possible within 30 days.
- Say please. We ship.
"""


@pytest.fixture
def prompt(repository):
    items = [{"testId": key, "prompt": key, "expected_response": "yes"} for key in ("warranty", "refund")]
    repository.write("evals.json", {**EXACT, "items": items})
    repository.write("agent.py", AGENT)
    repository.write("runevals.yaml", SETTINGS)
    on_main(repository, PLACE, PROMPT)
    return repository


def test_the_lines_that_no_case_needs_are_named_and_the_patch_applies(prompt):
    report = ablated(RunRequest.of(cwd=prompt.path), [PLACE])
    assert report.places(report.result.idle) == [f"{PLACE}:4–5", f"{PLACE}:7", f"{PLACE}:9"]
    assert report.places(report.result.needed) == [f"{PLACE}:6", f"{PLACE}:8"]
    lines = list(described(report))
    assert lines[0].startswith("3 of 5 hunks change nothing in 2 cases (")
    assert f"  idle: {PLACE}:7" in lines
    assert "The smallest prompt has about 11 tokens less" in lines
    assert any(line.startswith("Its pass rate: 0.0 points in 2 fresh runs; ") for line in lines)
    assert (prompt.path / PLACE).read_text() == PROMPT
    prompt.write("smaller.patch", report.patch)
    prompt.git("apply", "smaller.patch")
    smaller = "---\nname: support\n---\n- The warranty is 24 months.\n- A refund is possible within 30 days.\n"
    assert (prompt.path / PLACE).read_text() == smaller


def test_cases_that_are_not_looked_at_do_not_count_and_say_why(prompt):
    items = [{"testId": key, "prompt": key, "expected_response": "yes"} for key in ("warranty", "lost", "error")]
    prompt.write("evals.json", {**EXACT, "items": items})
    prompt.write("agent.py", AGENT.replace('"30 days"', '"30 days", "lost": "nothing"'))
    lines = [*described(ablated(RunRequest.of(cwd=prompt.path), [PLACE]))]
    assert lines[0].startswith("4 of 5 hunks change nothing in 1 case (")
    assert "Not looked at, as they fail too often with the whole prompt: lost" in lines
    assert "Not looked at, as they could not be measured with the whole prompt: error" in lines
    prompt.write("evals.json", {**EXACT, "items": items[1:2]})
    lines = [*described(ablated(RunRequest.of(cwd=prompt.path), [PLACE]))]
    assert lines[0].startswith("Nothing was taken out: it takes cases that pass (")


def test_a_budget_of_calls_is_kept(prompt):
    notices = []
    request = replace(RunRequest.of(cwd=prompt.path, max_calls=9), tell=notices.append)
    report = ablated(request, [PLACE])
    assert report.calls <= 9
    assert "Taking out 5 hunks of 1 file: at most 9 runs of a case, 9 calls of target and judge" in notices
    assert report.result.untried


@pytest.mark.parametrize(
    ("files", "settings", "told"),
    [
        (["missing.md"], {}, "missing.md: there is no such file in the repository"),
        ([], {"target": "recorded:answers.jsonl"}, "recorded answers cannot be asked again"),
    ],
)
def test_what_cannot_be_searched_is_said(prompt, files, settings, told):
    prompt.write("answers.jsonl", "")
    with pytest.raises(InvalidSettings, match=told):
        ablated(RunRequest.of(cwd=prompt.path, **settings), files)
