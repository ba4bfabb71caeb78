"""What the command line says of itself: `--help`, and what a shell completes."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest

from runevals.cli import COMMANDS, coloured
from runevals.cli.help import GROUPS, REST
from runevals.cli.run import command as run_command

WORDS = [(), *((name,) for name in COMMANDS), ("judge", "calibrate"), ("judge", "check")]


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_command_explains_itself_at_eighty_columns(runevals, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = runevals(*words, "--help")
    assert code == 0
    assert all(len(line) <= 80 for line in out.splitlines()), out
    if words and words != ("action",):
        assert "Example:\n    runevals " in out or "Examples:\n    runevals" in out


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_the_short_help_of_every_command_has_at_most_thirty_lines(runevals, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = runevals(*words, "-h")
    assert code == 0
    assert len(out.splitlines()) <= 30, out
    assert all(len(line) <= 80 for line in out.splitlines()), out


@pytest.mark.parametrize("words", [(), ("run",), ("blame",)], ids=" ".join)
def test_the_short_help_names_the_way_to_all_of_it(runevals, words):
    _, short, _ = runevals(*words, "-h")
    _, full, _ = runevals(*words, "--help")
    assert short.splitlines()[-1] == f"All of them: {' '.join(('runevals', *words))} --help"
    assert len(full) > len(short)


def test_every_option_of_a_run_stands_with_its_like(runevals):
    _, out, _ = runevals("run", "--help")
    titles = [line.rstrip(":") for line in out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles == [*GROUPS, REST]
    names = {option.name for option in run_command.params if isinstance(option, click.Option)}
    assert names <= {name for group in GROUPS.values() for name in group}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_of_a_shell_is_printed(runevals, shell):
    code, out, _ = runevals("completion", shell)
    assert code == 0
    assert f"_RUNEVALS_COMPLETE={shell}_complete" in out


def test_colours_can_be_asked_for_in_a_pipe(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "dumb")
    assert coloured() is False
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert coloured() is True
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured() is False


def completed(project, *words):
    """What a shell offers for the last of `words`."""
    done = subprocess.run(
        [sys.executable, "-m", "runevals"],
        cwd=project.path,
        env={
            **os.environ,
            "_RUNEVALS_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["runevals", *words]),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        pytest.param(["hist"], ["plain,history"], id="a command"),
        pytest.param(["evaluators", "Partial"], ["plain,PartialMatch"], id="an evaluator"),
        pytest.param(["schema", "eval-d"], ["plain,eval-document"], id="a schema"),
        pytest.param(["--max-t"], ["plain,--max-tokens"], id="an option of run without its name"),
        pytest.param(["run", "--max-t"], ["plain,--max-tokens"], id="and with it"),
        pytest.param(["--repeat", "3", "--max-t"], ["plain,--max-tokens"], id="after others"),
        pytest.param(["--verify", "o"], ["plain,off"], id="a value that an option takes"),
        pytest.param(["evals/e"], ["file,evals/e"], id="a file, where it is no command"),
        pytest.param(["run", "evals/e"], ["file,evals/e"], id="a file"),
        pytest.param(["history", "--la"], ["plain,--last"], id="an option of another command"),
        pytest.param(["judge", "cal"], ["plain,calibrate"], id="a command of a command"),
    ],
)
def test_a_shell_completes(project, words, offered):
    assert completed(project, *words) == offered
