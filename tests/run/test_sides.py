"""Which base can be run again."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from runevals.run.sides import can_run_again, rerunnable
from runevals.settings.resolve import RawSettings, resolve
from runevals.verdict.decide import Baseline
from tests.sample_reports import report
from tests.sample_suites import SUITE

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
        (of_commit(None), "the base's result does not say its commit"),
        (of_commit("d" * 40), "the base's commit is not here"),
    ],
)
def test_else_it_is_said_why_not(settings, baseline, why):
    assert rerunnable(settings, baseline) == (None, why)


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
