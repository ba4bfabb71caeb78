"""`--open` and `view`: a browser is started where it was asked for, with the right page."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.sample_suites import ANSWERS, SUITE

RUN = ("--target", "recorded:answers.jsonl")


@pytest.fixture
def runevals(project):
    """The command line in a process of its own, with a browser that writes down what it was given."""
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    browser = project.write("browser", '#!/bin/sh\nprintf %s "$1" > opened\n')
    browser.chmod(0o755)

    def run(*arguments, **more):
        environment = {**os.environ, "BROWSER": f"{browser} %s", **more}
        command = [sys.executable, "-m", "runevals", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=project.path, env=environment, capture_output=True, text=True, check=False
        )
        opened = project.path / "opened"
        return done, opened.read_text(encoding="utf-8") if opened.exists() else None

    return run


def test_a_run_opens_its_page_only_where_it_is_asked_to(runevals, project):
    assert runevals(*RUN)[1] is None
    done, opened = runevals(*RUN, "--open", "-o", "out/page.html")
    assert done.returncode == 0
    assert opened == (project.path / "out" / "page.html").as_uri()


def test_a_page_that_nobody_writes_cannot_be_opened(runevals, project):
    done, opened = runevals(*RUN, "--open", "-o", "out.json")
    assert (done.returncode, opened) == (2, None)
    assert "add --output report.html" in done.stderr
    assert "out.json" not in project.files()


def test_a_report_of_a_document_is_opened(runevals, project):
    runevals(*RUN, "-o", "head.json")
    done, opened = runevals("report", "head.json", "-o", "page.html", "--open")
    assert done.returncode == 0
    assert opened == (project.path / "page.html").as_uri()


def test_view_opens_the_newest_page(runevals, project):
    assert runevals("view")[0].returncode == 2
    for number, name in enumerate(("b", "a")):
        page = project.write(f".evals/results/{name}.html", name)
        os.utime(page, (1_000_000 + number, 1_000_000 + number))
    done, opened = runevals("view")
    assert done.returncode == 0
    assert opened == (project.path / ".evals" / "results" / "a.html").as_uri()


def test_view_opens_the_page_of_a_document(runevals, project):
    runevals(*RUN, "-o", "head.json")
    done, opened = runevals("view", "head.json")
    assert done.returncode == 0
    assert opened == (project.path / "head.html").as_uri()
    assert (project.path / "head.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert runevals("view", "nothing.html")[0].returncode == 2
    assert runevals("view", "head.json")[1] == opened, "its own page is written again"
    project.write("head.html", "my own notes")
    assert runevals("view", "head.json")[1] == (project.path / "head-2.html").as_uri()
    assert (project.path / "head.html").read_text(encoding="utf-8") == "my own notes"


def test_without_a_browser_the_page_is_named(runevals, project):
    project.write(".evals/results/a.html", "a")
    done, _ = runevals("view", BROWSER="/nowhere/browser %s", PATH=str(project.path))
    assert done.returncode == 0
    assert "open .evals/results/a.html yourself" in done.stderr


def test_the_history_is_opened_as_a_page(runevals, project):
    assert runevals(*RUN)[0].returncode == 0
    done, opened = runevals("history", "--open")
    assert (done.returncode, done.stdout) == (0, "Written: .evals/history.html\n")
    assert opened == (project.path / ".evals" / "history.html").as_uri()
