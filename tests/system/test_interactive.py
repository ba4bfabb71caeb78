"""`--interactive`: prompts typed at a terminal, and cases made of them."""

from __future__ import annotations

import json

import pytest

from runevals.suites.dialects import LoadOptions, load
from tests.chat_server import Reply, chat_server
from tests.sample_suites import AGENT, SUITE
from tests.terminal import Terminal

ARGUMENTS = ("--interactive", "--target", "python:agent.py:answer")
FRANCE = "Capital of France?"


def ask(terminal, prompt, expected=""):
    terminal.see("Prompt: ")
    terminal.type(prompt)
    terminal.see("Expected response (may be empty): ")
    terminal.type(expected)


def leave(terminal):
    terminal.see("Prompt: ")
    terminal.type("")
    assert terminal.exit_code() == 0


def test_an_answer_is_shown_with_its_scores(project):
    project.write("agent.py", AGENT)
    with Terminal(project.path, *ARGUMENTS) as terminal:
        ask(terminal, FRANCE, "Paris")
        terminal.see("\nParis\n")
        terminal.see("✓ PartialMatch  1, needs 0.5")
        terminal.see("[y/N]: ")
        terminal.type("n")
        ask(terminal, "Capital of Peru?", "Lima")
        terminal.see("✗ PartialMatch  0, needs 0.5")
        terminal.see("[y/N]: ")
        terminal.type("")
        leave(terminal)
    assert project.files() == ["agent.py"]


def test_an_exchange_becomes_a_case_of_a_new_suite(project, runevals):
    project.write("agent.py", AGENT)
    with Terminal(project.path, *ARGUMENTS) as terminal:
        ask(terminal, FRANCE)
        terminal.see("Save it as a case of ./evals/evals.json, the answer as its expected response? [y/N]: ")
        terminal.type("y")
        terminal.see("Saved as case 1 of evals/evals.json")
        leave(terminal)
    assert project.document("evals/evals.json")["items"] == [{"prompt": FRANCE, "expected_response": "Paris"}]
    assert runevals(*ARGUMENTS[1:])[0] == 0


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_suite_that_is_there_grows_and_keeps_what_it_has(project, by_hand):
    project.write("agent.py", AGENT)
    before = {"metadata": {"äö": 1}, **SUITE}
    text = json.dumps(before, ensure_ascii=False, indent=2) + "\n"
    if by_hand:
        items = ",\n\t".join(json.dumps(item, separators=(" , ", ": ")) for item in SUITE["items"])
        text = json.dumps({**before, "items": []}, ensure_ascii=False).replace("[]", f"[\n\t{items}\n]")
    project.write("evals/evals.json", text)
    with Terminal(project.path, *ARGUMENTS) as terminal:
        ask(terminal, "Capital of Chile?", "Quito")
        terminal.see("✓ ExactMatch")  # the file's own default
        terminal.see("./evals/evals.json? [y/N]: ")
        terminal.type("y")
        terminal.see("Saved as case 3 of evals/evals.json")
        leave(terminal)
    item = {"prompt": "Capital of Chile?", "expected_response": "Quito"}
    after = json.dumps({**before, "items": [*before["items"], item]}, ensure_ascii=False, indent=2) + "\n"
    if by_hand:
        after = text.replace("\n]", f",\n\t{json.dumps(item)}\n]")
    assert (project.path / "evals/evals.json").read_text(encoding="utf-8") == after


def test_an_older_suite_is_upgraded_with_a_backup(project):
    project.write("agent.py", AGENT)
    older = project.write("evals/evals.json", '[{"prompt": "a", "expected_response": "b"}]')
    with Terminal(project.path, *ARGUMENTS, "--no-judge") as terminal:
        ask(terminal, FRANCE, "Paris")
        terminal.see("– Relevance")
        terminal.see("[y/N]: ")
        terminal.type("y")
        terminal.see("Saved as case 2 of evals/evals.json")
        leave(terminal)
    assert len(list(older.parent.glob("evals.json.bak.*"))) == 1
    assert not load(older, "evals.json", LoadOptions()).errors


def test_what_would_break_the_suite_is_not_saved(project):
    project.write("agent.py", AGENT)
    path = project.write("evals/evals.json", '{"schemaVersion": "1.2.0", "items": [')
    with Terminal(project.path, *ARGUMENTS) as terminal:
        for _ in range(2):
            ask(terminal, FRANCE, "Paris")
            terminal.see("[y/N]: ")
            terminal.type("y")
            terminal.see("Not saved:")
        terminal.see("is not JSON")
        leave(terminal)
    assert path.read_text() == '{"schemaVersion": "1.2.0", "items": ['


def test_the_same_prompt_is_not_saved_twice(project):
    project.write("agent.py", AGENT)
    with Terminal(project.path, *ARGUMENTS) as terminal:
        for told in ("Saved as case 1", "Not saved:"):
            ask(terminal, FRANCE, "Paris")
            terminal.see("[y/N]: ")
            terminal.type("y")
            terminal.see(told)
        leave(terminal)
    assert len(project.document("evals/evals.json")["items"]) == 1


def test_the_end_of_input_ends_it_and_ctrl_c_interrupts(project):
    project.write("agent.py", AGENT)
    with Terminal(project.path, *ARGUMENTS) as terminal:
        terminal.see("Prompt: ")
        terminal.end_input()
        assert terminal.exit_code() == 0
    with Terminal(project.path, *ARGUMENTS) as terminal:
        terminal.see("Prompt: ")
        terminal.interrupt()
        assert terminal.exit_code() == 130


def test_a_judge_scores_and_hostile_answers_stay_text(project):
    def answer(body, number):
        return Reply("\x1b]0;owned\x07Paris") if number == 0 else Reply("no score")

    with chat_server(answer) as server:
        env = {"OPENAI_BASE_URL": server.base_url}
        arguments = ("-i", "--target", "openai:m", "--judge", "j")
        with Terminal(project.path, *arguments, **env) as terminal:
            ask(terminal, FRANCE)
            terminal.see("\\x1b]0;owned\\x07Paris")
            terminal.see("! Relevance")
            terminal.see("! Coherence")
            terminal.see("[y/N]: ")
            terminal.type("n")
            leave(terminal)


def test_a_target_that_fails_is_told_and_the_next_prompt_asked_for(project):
    project.write("agent.py", "def answer(prompt): raise ValueError('no idea')\n")
    with Terminal(project.path, *ARGUMENTS) as terminal:
        ask(terminal, FRANCE)
        terminal.see("! not answered: ")
        leave(terminal)


def test_without_a_terminal_it_says_so_at_once(project, runevals):
    project.write("agent.py", AGENT)
    code, _, err = runevals(*ARGUMENTS)
    assert code == 2
    assert "--interactive needs a terminal" in err
    assert runevals(*ARGUMENTS, "-o", "x.json")[0] == 2
