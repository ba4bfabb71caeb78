"""`--watch`: what is saved is run again."""

from __future__ import annotations

import json

import pytest

from tests.sample_suites import AGENT, SUITE
from tests.terminal import Terminal

CASE = {"prompt": "Capital of Ecuador?", "assertions": [{"type": "contains", "value": "Quito"}]}


@pytest.fixture
def watched(project):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    project.write("runevals.yaml", "target: {type: python, function: 'agent.py:answer'}\n")
    with Terminal(project.path, "--watch") as terminal:
        terminal.see("1 of 2 cases pass")
        terminal.see("Watching 3 files; Ctrl-C ends it.")
        yield project, terminal


def ended(terminal):
    terminal.see("Ctrl-C ends it.")
    terminal.interrupt()
    return terminal.exit_code()


def test_an_edited_case_is_run_again_alone(watched):
    project, terminal = watched
    project.write("evals.json", json.loads(json.dumps(SUITE).replace("Lima", "Quito")))
    terminal.see("1 of 2 cases\n")
    terminal.see("✓ 1 of 1 case passes")
    assert ended(terminal) == 130
    assert ".evals" not in [path.name for path in project.path.iterdir()]


def test_an_edited_program_runs_every_case_again(watched):
    project, terminal = watched
    project.write("agent.py", AGENT.replace("Quito", "Lima"))
    terminal.see("2 of 2 cases\n")
    terminal.see("✓ 2 of 2 cases pass")
    assert ended(terminal) == 130


@pytest.mark.parametrize("file", ["prompts/geo.md", "SKILL.md"])
def test_a_prompt_that_the_program_reads_and_the_skill_of_the_suite_are_watched(repository, file):
    reads = f"import pathlib\ndef answer(prompt):\n return pathlib.Path('{file}').read_text()\n"
    repository.write(file, "---\nname: geo\ndescription: Knows capitals.\n---\nLima\n")
    repository.write("evals/evals.json", {"skill_name": "geo", "evals": [{**CASE, "id": n} for n in (1, 2)]})
    repository.write("agent.py", reads if file != "SKILL.md" else reads.replace(f"'{file}'", "'SKILL' + '.md'"))
    repository.write("SKILL.md", "---\nname: geo\ndescription: Knows capitals.\n---\nLima\n")
    repository.write("runevals.yaml", "target: {type: python, function: 'agent.py:answer'}\n")
    with Terminal(repository.path, "evals/evals.json", "--watch", "--no-judge") as terminal:
        terminal.see("0 of 2 cases pass")
        terminal.see("Ctrl-C ends it.")
        repository.write(file, "---\nname: geo\ndescription: Knows capitals.\n---\nQuito\n")
        terminal.see("2 of 2 cases\n")
        terminal.see("✓ 2 of 2 cases pass")
        assert ended(terminal) == 130


def test_a_suite_that_is_broken_for_a_moment_does_not_end_it(watched):
    project, terminal = watched
    project.write("evals.json", "{")
    terminal.see("Error: evals.json:")
    terminal.see("Ctrl-C ends it.")
    added = {"testId": "c", "prompt": "Capital of France?", "expected_response": "Paris"}
    project.write("evals.json", {**SUITE, "items": [*SUITE["items"], added]})
    terminal.see("1 of 3 cases\n")
    terminal.see("✓ 1 of 1 case passes")
    assert ended(terminal) == 130


@pytest.mark.parametrize("other", [["-o", "x.json"], ["--base", "main"], ["--prompts", "a"], ["--dry-run"]])
def test_what_does_not_go_together_is_refused(project, runevals, other):
    project.write("evals.json", SUITE)
    code, _, err = runevals("--watch", *other)
    assert code == 2
    assert "--watch" in err


def test_ci_is_never_watched(project, runevals, monkeypatch):
    project.write("evals.json", SUITE)
    monkeypatch.setenv("CI", "true")
    assert runevals("--watch")[0] == 2
