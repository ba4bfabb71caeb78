"""What a run looks like at a terminal."""

from __future__ import annotations

from runevals.commands.telling import broken
from tests.commands.test_run import SUITE
from tests.terminal import Terminal

ARGUMENTS = ("run", "--target", "python:agent.py:answer", "--no-judge")


def suite_of(count):
    items = [
        {"testId": f"KB-{n:02}", "prompt": f"Question {n}", "expected_response": "Paris"} for n in range(count)
    ]
    return {**SUITE, "default_evaluators": {"ExactMatch": {}, "Relevance": {}}, "items": items}


def test_long_lines_are_broken_between_words_and_stand_further_in():
    assert broken("  one two-three\n\n" + "  " + "word " * 10, 40) == [
        "  one two-three",
        "",
        "  word word word word word word word",
        "    word word word",
    ]
    assert broken(f"x {'y' * 50} z", 40) == ["x", f"  {'y' * 50}", "  z"]


def test_a_small_screen_shows_whole_words_and_the_verdict_last(project):
    project.write("evals.json", suite_of(15))
    project.write("agent.py", "def answer(prompt): return 'a long answer that has nothing to say ' * 5\n")
    with Terminal(project.path, *ARGUMENTS) as terminal:
        assert terminal.exit_code() == 0
        lines = terminal.shown.splitlines()
        assert all(len(line) <= 80 for line in lines if "━" not in line)
        last_screen = lines[-24:]
        assert "✓ 0 of 15 cases pass – nothing to compare with yet" in last_screen


def test_a_large_screen_shows_the_verdict_once(project):
    project.write("evals.json", suite_of(15))
    project.write("agent.py", "def answer(prompt): return 'no'\n")
    with Terminal(project.path, *ARGUMENTS, rows=50, columns=200) as terminal:
        assert terminal.exit_code() == 0
        assert terminal.shown.count("0 of 15 cases pass") == 1


def test_progress_counts_what_passed_and_failed(project):
    project.write("evals.json", suite_of(2))
    project.write("agent.py", "def answer(prompt): return {'output': 'Paris', 'costUSD': 0.25}\n")
    with Terminal(project.path, *ARGUMENTS) as terminal:
        terminal.see("2/2 2 passed, 0 failed, $0.50")
        assert terminal.exit_code() == 0
