"""`runevals ablate` on the command line. What it finds: `tests/run/ablate`."""

from __future__ import annotations

import pytest

from tests.against_base import on_main
from tests.ending import ended
from tests.sample_suites import EXACT

AGENT = "def answer(prompt):\n return open('rules.md').read()\n"
SETTINGS = "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer', deterministic: true}\n"


@pytest.fixture
def prompt(repository):
    repository.write(
        "evals.json", {**EXACT, "items": [{"testId": "a", "prompt": "?", "expected_response": "Paris"}]}
    )
    repository.write("agent.py", AGENT)
    repository.write("runevals.yaml", SETTINGS)
    on_main(repository, "rules.md", "Say Paris.\nBe kind.\n")
    return repository


def test_the_patch_is_written_and_nothing_else(prompt, runevals):
    code, out, _ = runevals("ablate", "rules.md", "-q", "--patch", "smaller.patch")
    ended(
        code, 0, out, "1 of 2 hunks change nothing in 1 case (", "Strength: ", "Written: smaller.patch; git apply"
    )
    assert "-Be kind.\n" in (prompt.path / "smaller.patch").read_text()
    assert (prompt.path / "rules.md").read_text() == "Say Paris.\nBe kind.\n"


def test_what_to_do_without_a_judge_is_said_here_too(prompt, runevals):
    item = {
        "testId": "a",
        "prompt": "?",
        "expected_response": "Paris",
        "evaluators": {"rubric": {"rubric": "kind"}},
    }
    prompt.write("evals.json", {**EXACT, "items": [item]})
    prompt.git("commit", "-qam", "judge")
    code, _, err = runevals("ablate", "rules.md")
    ended(code, 3, err, "1 of 1 cases ask for a judge", "Name one with --judge-model MODEL", "--no-judge")


def test_it_is_refused_in_a_job_of_a_change(prompt, runevals, monkeypatch):
    monkeypatch.setenv("CI", "true")
    code, _, err = runevals("ablate")
    ended(code, 2, err, "which must not decide in a job of the change")
