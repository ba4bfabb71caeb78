"""A program under test that crashes: the report names the innermost line inside the repository, and what to do."""

from __future__ import annotations

import pytest

from runevals.lib.text.numbers import phrase
from tests.against_base import commit
from tests.ending import ended
from tests.sample_suites import AGENT, SUITE

ANSWER = "def answer(prompt): ...\n"
RUN = ("run", "../evals.json", "-q", "--target")


@pytest.fixture
def bot(repository, monkeypatch):
    """Writes files of the program in `bots`, and runs it from a folder beside it."""
    repository.write("evals.json", SUITE)
    repository.write("jobs/readme.md", "")
    monkeypatch.chdir(repository.path / "jobs")

    def write(**files):
        for name, text in files.items():
            repository.write(f"bots/{name}.py", text)

    return write


@pytest.mark.parametrize(
    ("files", "place", "error"),
    [
        pytest.param({"bot": "{}return 1 / 0\n"}, "bots/bot.py:2", "ZeroDivisionError", id="a crash"),
        pytest.param(
            {"bot": "import json\n{}return json.loads(prompt)\n"},
            "bots/bot.py:3",
            "JSONDecodeError",
            id="in the standard library",
        ),
        pytest.param(
            {"bot": "{}import parts\n return parts.read()\n", "parts": "def read():\n\n raise OSError('x')\n"},
            "bots/parts.py:3",
            "OSError: x",
            id="in another file",
        ),
        pytest.param(
            {"bot": "{}import not_installed\n"}, "bots/bot.py:2", "No module named 'not_installed'", id="a module"
        ),
        pytest.param(
            {"bot": "{}import parts\n", "parts": "def read(:\n"}, "bots/parts.py:1", "SyntaxError", id="a typo"
        ),
    ],
)
@pytest.mark.parametrize(
    "target", ["python:../bots/bot.py:answer", "command:python ../bots/bot.py"], ids=["python", "command"]
)
def test_the_line_to_fix_is_of_the_repository(bot, runevals, target, files, place, error):
    is_function = target.startswith("python")
    begins = "def answer(prompt):\n " if is_function else "prompt = ''\nif True:\n "
    bot(**{name: text.format(begins).replace("return ", "return " * is_function) for name, text in files.items()})
    if not is_function and place.startswith("bots/bot.py"):
        file, _, line = place.partition(":")
        place = f"{file}:{int(line) + 1}"
    code, out, err = runevals(*RUN, target)
    ended(code, 3, out + err, f"Fix {place}, or run it again if", error, without=["Continue this run"])


@pytest.mark.parametrize(
    ("files", "error", "place"),
    [
        ({"bot": "import not_installed\n" + ANSWER}, "No module named 'not_installed'", "bots/bot.py:1"),
        (
            {"bot": "import parts\n" + ANSWER, "parts": "\nimport gone\n"},
            "No module named 'gone'",
            "bots/parts.py:2",
        ),
        ({"bot": "def answer(:\n"}, "SyntaxError: invalid syntax", "bots/bot.py:1"),
        ({"bot": "answer = 5\n"}, "is not a function", ""),
    ],
    ids=["a module", "in another file", "a typo", "no line"],
)
def test_what_cannot_be_loaded_names_its_line_too(repository, bot, runevals, files, error, place):
    bot(bot=AGENT)
    commit(repository, {})
    bot(**files)
    code, out, err = runevals(*RUN, "python:../bots/bot.py:answer", "--base", "HEAD")
    told = f"{error}{phrase(place, ' ({})')}", f"Fix {place or 'that'}, or run it again"
    ended(code, 3, out + err, *told, without=["Continue this run"])  # the base's answers alone are no beginning


@pytest.mark.parametrize("crash", ["1 / 0", "__import__('os')._exit(1)"])
def test_a_run_of_which_a_part_was_measured_can_be_continued(bot, runevals, crash):
    bot(bot=f"def answer(prompt):\n return 'Paris' if 'France' in prompt else {crash}\n")
    code, out, err = runevals(*RUN, "python:../bots/bot.py:answer")
    ended(code, 3, out + err, "Continue this run, if no file changes: runevals run --resume ")


def test_a_crash_outside_the_repository_is_no_line_to_fix(bot, runevals):
    code, out, err = runevals(*RUN, "command:python -c 'import json; json.loads(str())'")
    ended(code, 3, out + err, "JSONDecodeError", without=["Fix ", "decoder.py"])


def test_a_variable_of_the_job_that_a_changes_program_is_not_given_is_named_with_its_setting(
    repository, bot, runevals, monkeypatch
):
    bot(bot="import os\n\ndef answer(prompt):\n    return os.environ['BOT_KEY']\n")
    commit(repository, {})
    monkeypatch.setenv("BOT_KEY", "sk-abc123456789")
    monkeypatch.setenv("CI", "true")
    target = "python:../bots/bot.py:answer"
    told = "BOT_KEY is withheld from it: put it into target.env, on the default branch first, or"
    code, out, err = runevals(*RUN, target)
    ended(code, 3, out + err, told, "Check the key", without=["Fix "])
    monkeypatch.setenv("RUNEVALS_API_KEY_ENV", "BOT_KEY")
    code, out, err = runevals(*RUN, target)
    assert "is withheld" not in out + err
