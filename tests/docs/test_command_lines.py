"""Every command line that the pages and `--help` show can be typed; every flag and exit code is one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache

import click
import pytest

from runevals.cli import COMMANDS, commands, rewritten
from tests.docs.pages import PAGES, blocks, prose, spans

EXIT_CODES = {"0", "1", "2", "3", "4", "130"}


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that these words name, and what is said to it."""
    command: click.Command = commands
    assert not words or words[0] in COMMANDS or not re.fullmatch(r"[a-z][a-z-]+", words[0]), words
    rest = rewritten(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        found = command.get_command(click.Context(command), rest[0])
        if found is None:
            raise click.UsageError(f"there is no command {rest[0]}")
        command, rest = found, rest[1:]
    return command, rest


def parse(words: list[str], *, whole: bool) -> None:
    """Reads a command line as `runevals` would, and runs nothing. With `whole`, its arguments must be there."""
    command, rest = command_of([word for word in words if word != "…"])
    try:
        command.make_context("runevals", rest)
    except click.MissingParameter:
        assert not whole, words
    except click.BadParameter as error:
        if "does not exist" not in error.message:  # the files of an example are not there
            raise
    except click.exceptions.Exit:  # --help
        pass


def told_to_runevals(line: str) -> Iterator[list[str]]:
    """The words behind each `runevals` of a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in lexer:
        if set(word) <= set("&|;()<>"):
            parts.append([])
        else:
            parts[-1].append(word)
    for words in parts:
        while words and re.match(r"\w+=", words[0]):
            words.pop(0)
        if words and words[0].rpartition("/")[2] == "runevals":
            yield words[1:]


@cache
def flags() -> frozenset[str]:
    """Every flag of every command."""
    return frozenset(
        opt for command in everything() for param in command.params for opt in (*param.opts, *param.secondary_opts)
    ) | {"-h", "--help"}


def everything(command: click.Command = commands) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from everything(found)


@pytest.mark.parametrize("page", PAGES)
def test_command_lines_can_be_typed(page):
    for block in blocks(page, "sh"):
        for line in block.text.replace("\\\n", " ").splitlines():
            for words in told_to_runevals(line):
                parse(words, whole=True)
    for span in spans(page):
        for words in told_to_runevals(span) if "runevals" in span and "'" not in span else ():
            parse(words, whole=False)


@pytest.mark.parametrize("page", PAGES)
def test_flags_exist(page):
    named = {span.split()[0].partition("=")[0] for span in spans(page) if span.startswith("-") and span.strip("-")}
    assert {name for name in named if name.startswith("--") or len(name) == 2} <= flags()
    assert set(re.findall(r"(?<![\w-])--[a-z][\w-]+", prose(page))) <= flags()


def test_the_readme_names_every_command():
    named = {" ".join(span.split()[:2]) for span in spans("README.md")}
    missing = [name for name in COMMANDS if name != "action" and f"runevals {name}" not in named]
    assert [name for name in missing if name not in spans("README.md")] == []


@pytest.mark.parametrize(
    "command", [one for one in everything() if one.name != "action"], ids=lambda one: one.name
)
def test_help_names_only_what_exists(command):
    shown = command.get_help(click.Context(command, info_name="runevals"))
    assert set(re.findall(r"(?<![\w-])--[a-z][\w-]+", shown)) <= flags()
    for example in re.findall(r"^ +(runevals.*)$", command.help or "", re.M):
        for words in told_to_runevals(example):
            parse(words, whole=True)
    for span in re.findall(r"`(runevals .*?)`", shown.replace("\n", " ")):
        for words in told_to_runevals(span):
            parse(words, whole=False)


@pytest.mark.parametrize("page", PAGES)
def test_exit_codes_are_ours(page):
    told = " ".join(prose(page).split())
    assert set(re.findall(r"(?i)\bexit(?:s|ed)?(?: code)?(?: with)? (\d+)\b", told)) <= EXIT_CODES
