"""Which base can be run again."""

from __future__ import annotations

import json
import os
import sys

import pytest
from msgspec.structs import replace

from runevals.run.sides import can_run_again, rerunnable
from runevals.settings.resolve import RawSettings, resolve
from runevals.verdict.outcome import Baseline
from tests.against_base import AGAINST, on_main
from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_reports import report
from tests.sample_suites import EXACT, SETTINGS, SUITE, WORSE, numbered

TARGET = "command:python agent.py"


def of_commit(commit):
    known = report({"a": "p"})
    return Baseline(report=replace(known, run=replace(known.run, commit=commit)), source="base.json")


@pytest.fixture
def settings(repository):
    return resolve(RawSettings(cwd=repository.path, environment={}, flags={"target": TARGET}))


def test_a_base_is_run_again_at_the_commit_of_its_result(repository, settings):
    commit = repository.git("rev-parse", "main")
    assert rerunnable(settings, of_commit(commit)) == (commit, "")


@pytest.mark.parametrize(
    ("baseline", "why"),
    [
        (None, "there is no base"),
        (of_commit(None), "the base's result does not say its commit (`--base REF` does)"),
        (of_commit("d" * 40), "the base's commit is not here"),
    ],
)
def test_else_it_is_said_why_not(settings, baseline, why):
    assert rerunnable(settings, baseline) == (None, why)


def test_a_run_of_the_commit_does_not_excuse_a_loss_against_a_result_made_with_edits(
    repository, runevals, monkeypatch
):
    """The answers got worse, and the base's commit is as bad: a run of it says nothing about the stored result."""
    repository.write("evals.json", {**EXACT, "items": numbered(20, "right")})
    repository.write("agent.py", "def answer(prompt):\n return 'wrong'\n")
    repository.write("runevals.yaml", SETTINGS.replace(", deterministic: true", ""))
    repository.git("add", "-A")
    repository.git("commit", "-qm", "worse")
    repository.write("agent.py", "def answer(prompt):\n return 'right'\n")
    assert runevals("-q", "-o", "base.json")[0] == 0
    repository.git("checkout", "agent.py")
    code, out, err = runevals("--baseline", "base.json", "-q", "-o", "out.json")
    assert code == 3, out + err
    told = "the base's result was made with changes that are in no commit; commit them, and run the base again"
    assert f"may be lost: {told}" in out
    monkeypatch.setenv("CI", "true")  # a step of the job changes the file, on every commit
    repository.write("agent.py", "def answer(prompt):\n return 'right'\n")
    runevals("-q", "--base", "HEAD", "-o", "base.json")
    assert repository.document("base.json")["run"]["uncommitted"] is None


def test_a_changed_file_that_the_run_does_not_read_is_no_edit_of_it(repository, runevals, monkeypatch):
    repository.write("README.md", "Hello.")
    repository.write("runevals.yaml", "suites: [evals.json]\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "of a model")
    repository.write("README.md", "Hello, world.")
    with chat_server(lambda body, n: Reply("Paris")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key-1")
        flags = ("--target", "openai:m", "-q", "-o", "out.json")
        runevals(*flags)
        of_another_file = repository.document("out.json")["run"]["uncommitted"]
        repository.write("evals.json", {**SUITE, "items": SUITE["items"][:1]})
        runevals(*flags)
    assert of_another_file is None
    assert len(repository.document("out.json")["run"]["uncommitted"]) == 12


def test_recorded_answers_cannot_be_asked_again(repository):
    repository.write("answers.jsonl", "")
    recorded = resolve(
        RawSettings(cwd=repository.path, environment={}, flags={"target": "recorded:answers.jsonl"})
    )
    assert not can_run_again(recorded)
    assert rerunnable(recorded, of_commit("d" * 40)) == (None, "recorded answers cannot be asked again")


def test_an_agent_works_in_a_folder_of_its_own_in_any_suite(project, runevals, monkeypatch):
    """Although the suite names no workspace."""
    end = '{"type": "result", "subtype": "success", "result": "Paris, Lima"}'
    project.write("bin/claude", f"#!/bin/sh\ntouch made\necho '{end}'\n").chmod(0o755)
    project.write("evals.json", {**SUITE, "default_evaluators": {"PartialMatch": {}}})
    monkeypatch.setenv("PATH", f"{project.path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    code, out, err = runevals("run", "-q", "-o", "out.json", "--target", "claude-code")
    assert code == 0, out + err
    changes = project.document()["cases"][0]["attempts"][0]["turns"][0]["workspace"]["changes"]
    assert [change["path"] for change in changes] == ["made"]


WORD = """import pathlib, sys
print('no' if pathlib.Path('lost').read_text() in sys.stdin.read() else 'yes')"""
IN_FOLDER = {
    "samples": [
        {
            "sample_id": f"k{n}",
            "prompt": f"Question {n}?",
            "cwd": "app",
            "assertions": [{"type": "contains", "value": "yes"}],
        }
        for n in range(10)
    ]
}
OF_COMMIT = {
    **EXACT,
    "extensions": {"runevals": {"workspace": {"git": "HEAD"}}},
    "items": numbered(10, "yes"),
}


@pytest.mark.parametrize("of", ["cwd", "git"])
@pytest.mark.parametrize(
    ("lost", "edited", "headline"),
    [("?", 10, "10 cases lost: k0, k1, k2 and 7 more"), (" 0?", 1, "1 case lost: k0")],
)
def test_the_base_s_cases_are_run_in_the_folder_and_on_the_commit_of_the_head(
    repository, runevals, of, lost, edited, headline
):
    """What is there is under test: run in the base's folder, an edited case that was lost passed."""
    name, suite = ("eval-samples.json", IN_FOLDER) if of == "cwd" else ("evals.json", OF_COMMIT)
    file = "app/lost" if of == "cwd" else "lost"
    target = {"type": "command", "command": [sys.executable, "-c", WORD], "deterministic": True}
    repository.write("runevals.yaml", {"suites": [name], "target": target})
    on_main(repository, file, "none is")
    on_main(repository, name, suite)
    repository.write(file, lost)
    repository.write(name, json.loads(json.dumps(suite).replace("Question", "Which question", edited)))
    repository.git("commit", "-qam", "change")
    code, out, err = runevals(*AGAINST)
    assert (code, headline in out) == (1, True), out + err


def test_a_folder_that_only_the_base_has_leaves_what_cannot_be_compared_open(repository, runevals):
    target = {"type": "command", "command": [sys.executable, "-c", "print('yes')"], "deterministic": True}
    repository.write("runevals.yaml", {"suites": ["eval-samples.json"], "target": target})
    on_main(repository, "app/lost", "")
    on_main(repository, "eval-samples.json", IN_FOLDER)
    repository.git("mv", "app", "new")
    renamed = json.dumps(IN_FOLDER).replace("app", "new").replace("Question", "Which")
    repository.write("eval-samples.json", json.loads(renamed))
    repository.git("commit", "-qam", "change")
    code, out, err = runevals(*AGAINST)
    assert (code, "only 0 of the base's 10 cases can be compared" in out) == (3, True), out + err
    assert "! missing requirements: " in out


@pytest.mark.parametrize(
    ("change", "chosen", "code", "line"),
    [
        ({"testId": "paris"}, "--filter=paris", 1, "1 of 1 case regressed: paris"),
        ({"category": "asia"}, "--category=asia", 1, "1 of 1 case regressed: a"),
        ({"testId": "new", "prompt": "Capital of Spain?"}, "--filter=new", 0, "0 of 1 case passes"),
    ],
)
def test_what_filters_choose_is_compared_whatever_the_base_calls_it(
    repository, runevals, change, chosen, code, line
):
    on_main(repository, "runevals.yaml", SETTINGS)
    repository.write("evals.json", {**SUITE, "items": [SUITE["items"][0] | change, SUITE["items"][1]]})
    repository.write("agent.py", WORSE)
    ending, out, err = runevals("--base", "main", "-q", chosen)
    ended(ending, code, out + err, line)
