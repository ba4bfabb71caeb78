"""What a run looks like at a terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest

from runevals.lib.terminal import broken
from tests.chat_server import Reply, chat_server
from tests.sample_suites import SUITE
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
        assert "– 0 of 15 cases pass; no gate looked at this (no base, no min_pass_rate)" in last_screen


def test_a_large_screen_shows_the_verdict_once(project):
    project.write("evals.json", suite_of(8))
    project.write("agent.py", "def answer(prompt): return 'no'\n")
    with Terminal(project.path, *ARGUMENTS, rows=50, columns=200) as terminal:
        assert terminal.exit_code() == 0
        assert terminal.shown.count("0 of 8 cases pass") == 1


def test_progress_counts_what_passed_and_failed(project):
    project.write("evals.json", suite_of(2))
    project.write("agent.py", "def answer(prompt): return {'output': 'Paris', 'costUSD': 0.25}\n")
    with Terminal(project.path, *ARGUMENTS) as terminal:
        terminal.see("2/2 2 passed, 0 failed, $0.50")
        assert terminal.exit_code() == 0


@pytest.fixture
def limited(project):
    """A suite of 60 questions to a model whose host asks for a pause after fifty."""
    pause = Reply(status=429, headers={"Retry-After": "3"})

    def answer(body, number):
        time.sleep(0.05)
        return pause if number == 50 else Reply("Paris" if number % 5 else "Rome")

    with chat_server(answer) as server:
        project.host = urlsplit(server.base_url).netloc
        project.write("evals.json", suite_of(60))
        project.write(
            "runevals.yaml",
            f"target: {{type: openai, model: gpt-5-mini, base_url: '{server.base_url}', api_key_env: SOME_KEY}}\n"
            "concurrency: 2\n",
        )
        yield project


def test_progress_says_whom_it_waits_for(limited):
    with Terminal(limited.path, "run", "--no-judge", SOME_KEY="x" * 20) as terminal:
        terminal.see("throttled: waits ")
        terminal.see(f" s for {limited.host}")
        terminal.see("60/60 ")
        assert terminal.exit_code() == 0


@pytest.mark.needs("tmux")
def test_lines_on_the_way_stand_above_the_bar(limited, tmp_path):
    with Tmux(tmp_path, 80, 24) as tmux:
        line = f"SOME_KEY={'x' * 20} {sys.executable} -m runevals run --no-judge --verbose"
        tmux("send-keys", "-l", line)
        tmux("send-keys", "Enter")
        shown = tmux.see(r"throttled: waits \d s")
        assert re.fullmatch(r"[━╸╺ ]+ \d+/60 .* left", shown[-2]), shown
        assert all(re.fullmatch(r"✓ KB-\d\d|✗ KB-\d\d  ExactMatch", line) for line in shown[:-3]), shown
        assert shown[-3] == "evals.json · gpt-5-mini (openai)"


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_can_nothing_is_sent_nothing_but_text(project, term):
    project.write("evals.json", suite_of(2))
    project.write("agent.py", "def answer(prompt): return 'Paris'\n")
    with Terminal(project.path, *ARGUMENTS, TERM=term) as terminal:
        assert terminal.exit_code() == 0
        assert "2 of 2 cases pass" in terminal.raw
        assert terminal.raw.replace("\r\n", "").isprintable()


def test_colours_are_left_out_where_nobody_wants_them(project):
    project.write("evals.json", suite_of(2))
    project.write("agent.py", "def answer(prompt): return 'Paris'\n")
    colour = re.compile(r"\x1b\[[0-9;]*3[0-9]")
    with Terminal(project.path, *ARGUMENTS) as terminal:
        assert terminal.exit_code() == 0
        assert colour.search(terminal.raw)
    with Terminal(project.path, *ARGUMENTS, NO_COLOR="1") as terminal:
        assert terminal.exit_code() == 0
        assert not colour.search(terminal.raw)


class Tmux:
    """A terminal multiplexer of its own, with one window. Use it as a context manager."""

    def __init__(self, folder, columns, rows):
        self._tmux = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
        self("new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(folder), "sh")

    def __call__(self, *words):
        told = {name: value for name, value in os.environ.items() if name not in ("LINES", "COLUMNS")}
        done = subprocess.run([*self._tmux, *words], check=True, capture_output=True, text=True, env=told)
        return done.stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self("kill-server")

    def see(self, pattern):
        """Waits until the screen has it → the screen's lines."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            screen = self("capture-pane", "-p")
            if re.search(pattern, screen):
                return screen.rstrip().splitlines()
            time.sleep(0.05)
        raise AssertionError(f"{pattern!r} was not seen in:\n{screen}")


@pytest.mark.needs("tmux")
def test_the_bar_stands_in_tmux_whatever_its_size(limited, tmp_path):
    with Tmux(tmp_path, 80, 24) as tmux:
        line = f"SOME_KEY={'x' * 20} PS1='$ ' {sys.executable} -m runevals run --no-judge; echo ended: $?"
        tmux("send-keys", "-l", line)
        tmux("send-keys", "Enter")
        shown = tmux.see(r"throttled: waits \d s")
        assert re.fullmatch(r"[━╸╺ ]+ \d+/60 \d+ passed, \d+ failed, \$[\d.]+  \d:\d\d left", shown[-2]), shown
        assert shown[-1].endswith(f" s for {limited.host}")
        tmux("resize-window", "-x", "200", "-y", "50")
        shown = tmux.see("[━╸╺]{40} ")
        tmux("resize-window", "-x", "80", "-y", "24")
        shown = tmux.see("ended: 0")
        assert "✓ 48 of 60 cases pass – nothing to compare with yet" in shown
        assert all(len(line) <= 80 for line in shown)
