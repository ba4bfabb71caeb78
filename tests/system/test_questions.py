"""What a new user is asked at a terminal, and nobody anywhere else."""

from __future__ import annotations

import pytest

from tests.terminal import Terminal

PYTHON = ("--target", "python:agent.py:answer")
QUESTION = """⚠️  No prompts file found in current directory or ./evals/

Create a starter evals file with sample prompts? (Y/n): """


@pytest.mark.parametrize(
    ("choice", "question", "answer"),
    [
        ("3", "FILE.py:FUNCTION [agent.py:answer]: ", "bot.py:reply"),
        ("1", "Model [", "python:bot.py:reply"),  # as the flag has it, and no name of a model
    ],
)
def test_at_a_terminal_the_target_is_asked_for(project, choice, question, answer):
    with Terminal(project.path, "init") as terminal:
        terminal.see("Which file holds the prompt to test? (empty: none): ")
        terminal.type("")
        terminal.see("Choose [1]: ")
        terminal.type(choice)
        terminal.see(question)
        terminal.type(answer)
        terminal.see("✓ bot.py: written")
        terminal.see("✓ 3 of 3 cases pass")
        assert terminal.exit_code() == 0


def test_at_a_terminal_likely_prompt_files_are_offered(project):
    project.write("prompts/support.md", "# Support\n\n- Refunds are possible within 30 days.\n")
    with Terminal(project.path, "init", *PYTHON) as terminal:
        terminal.see("  1  prompts/support.md")
        terminal.see("  3  none")
        terminal.see("Choose [1]: ")
        terminal.type("")
        terminal.see("✓ 1 of 1 case passes")
        terminal.see("instead of those marked “replace me”")
        assert terminal.exit_code() == 0


def test_nothing_is_asked_in_ci(project, runevals):
    with Terminal(project.path, "init", CI="true") as terminal:
        assert terminal.exit_code() == 0
        assert "Choose" not in terminal.shown
    with Terminal(project.path, "--quiet", CI="true", TERM="dumb") as terminal:
        terminal.see("nothing says what to run")
        assert terminal.exit_code() == 2
    (project.path / "evals/evals.json").unlink()
    (project.path / "runevals.yaml").unlink()
    with Terminal(project.path, CI="true") as terminal:
        terminal.see("no suite found")
        assert terminal.exit_code() == 2


def test_the_starter_question_is_asked_in_the_documented_words_and_yes_is_enter(project):
    project.write("agent.py", "def answer(prompt): return 'Paris 144 green'\n")
    with Terminal(project.path, *PYTHON) as terminal:
        terminal.see("(Y/n): ")
        assert terminal.shown.replace("\n\n", "\n") == QUESTION.replace("\n\n", "\n")
        terminal.type("")
        terminal.see("✓ evals/evals.json: written")
        terminal.see("✓ 3 of 3 cases pass")
        assert terminal.exit_code() == 0


def test_no_to_the_starter_question_writes_nothing(project):
    with Terminal(project.path, *PYTHON) as terminal:
        terminal.see(QUESTION.splitlines()[-1])
        terminal.type("n")
        terminal.see("no suite found")
        assert terminal.exit_code() == 2
    assert project.files() == []


def test_a_suite_that_the_settings_name_is_not_made_up(project):
    project.write("runevals.yaml", "suites: [mine.json]\n")
    with Terminal(project.path, *PYTHON) as terminal:
        assert terminal.exit_code() == 2
        assert "(Y/n)" not in terminal.shown


def test_samples_are_run_without_a_judge_at_a_terminal_only(project):
    checked = {
        "sample_id": "a",
        "prompt": "p",
        "rubric": "good",
        "assertions": [{"type": "contains", "value": "x"}],
    }
    project.write("eval-samples.json", [checked])
    words = ("--target", "command:echo x", "-o", "out.json")
    with Terminal(project.path, *words) as terminal:
        terminal.see("No judge is configured")
        assert terminal.exit_code() == 0
    outcomes = [check["outcome"] for check in project.document()["cases"][0]["attempts"][0]["turns"][0]["results"]]
    assert sorted(outcomes) == ["passed", "skipped"]
    with Terminal(project.path, *words, CI="true", TERM="dumb") as terminal:
        terminal.see("none is configured")
        assert terminal.exit_code() == 2
