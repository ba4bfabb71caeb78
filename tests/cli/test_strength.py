"""`runevals strength` on the command line: its words and its exit codes. What it finds: `tests/run/strength`."""

from __future__ import annotations

import json

import pytest

from runevals.reports.badge import of_strength
from tests.ending import ended
from tests.sample_suites import AGENT, ANSWERS, SUITE


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--min", "2"], 2, "is not in the range 0<=x<=1"),
        (["--results", "missing.json"], 2, "does not exist"),
        (["--filter", "nobody"], 2, "no cases match"),
        (["missing.json"], 2, "missing.json"),
    ],
)
def test_usage_errors(project, runevals, words, code, told):
    project.write("evals.json", SUITE)
    ended(*[runevals("strength", *words)[n] for n in (0,)], code, runevals("strength", *words)[2], told)


def test_neither_the_target_nor_anything_else_is_called(project, runevals):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    code, out, err = runevals("strength", "--target", "command:false", "--filter", "a")
    assert (code, err) == (0, "")
    assert "of 4 wrong answers are noticed, in 1 case" in out or "Strength: " in out


@pytest.mark.parametrize(
    ("noticed", "message", "colour"),
    [
        (1.0, "100 %", "brightgreen"),
        (0.8, "80 %", "green"),
        (0.79, "79 %", "yellow"),
        (0.0, "0 %", "red"),
        (None, "unknown", "lightgrey"),
    ],
)
def test_a_badge_is_coloured_by_the_share(noticed, message, colour):
    badge = json.loads(of_strength(noticed))
    assert badge == {"schemaVersion": 1, "label": "eval strength", "message": message, "color": colour}


def test_the_badge_a_run_and_its_page_have_the_share_that_is_printed(project, runevals):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    assert runevals("run", "--target", "python:agent.py:answer", "-o", "out.json", "-o", "out.html")[0] == 0
    code, out, err = runevals("strength", "--results", "out.json", "--badge", "badge.json")
    assert (code, err) == (0, "")
    share = json.loads((project.path / "badge.json").read_text())["message"]
    assert f"Strength: {share} (95 % interval" in out
    strength = json.loads((project.path / "out.json").read_text())["strength"]
    assert f"Strength: {strength}" in out
    assert strength in (project.path / "out.html").read_text()
