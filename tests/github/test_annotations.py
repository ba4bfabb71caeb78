"""Marks in files, as the runner reads them, whatever the cases are called."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from runevals.github.annotations import Mark, annotation_commands, marks, warning_command
from tests.reports.conclusions import all_passed, conclusion, everything_broken, regressions, thousand_cases
from tests.reports.hostile import TEXTS
from tests.sample_reports import case, report


def github_shape_errors(line):
    """(command, properties, message) as actions/runner parses a line."""
    found = re.fullmatch(r"::(\w+)(?: ([^:]*(?::(?!:)[^:]*)*))?::(.*)", line)
    assert found, line[:200]
    properties = dict(pair.split("=", 1) for pair in (found[2] or "").split(",") if pair)
    return found[1], {name: unescaped(value) for name, value in properties.items()}, unescaped(found[3])


def unescaped(text):
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, character)
    return text


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_mark_is_one_command_whatever_it_says(text):
    for line in (*annotation_commands([Mark(file=text, line=7, title=text, message=text)]), warning_command(text)):
        assert not re.search(r"[\r\n\x00]", line)
        assert "##[" not in line
        assert len(line.encode()) < 16_000
        command, properties, _ = github_shape_errors(line)
        assert command in ("error", "warning")
        assert set(properties) <= {"file", "line", "title"}
        assert properties.get("line", "7") == "7"


def test_what_is_said_arrives():
    [line] = annotation_commands([Mark(file="a,b: c.json", line=3, title="100 % : x", message="50 %, 1: 2")])
    assert github_shape_errors(line) == (
        "error",
        {"file": "a,b: c.json", "line": "3", "title": "100 % : x"},
        "50 %, 1: 2",
    )


def test_nine_and_one_for_the_rest():
    lines = annotation_commands(marks(thousand_cases()))
    assert len(lines) == 10
    assert github_shape_errors(lines[-1])[2] == "91 more in the summary of the run"
    assert len(annotation_commands([Mark(file="a", line=1, title="t", message="m")] * 9)) == 9


def test_the_worst_comes_first():
    base = [case("a", "pppp"), case("b", "pppp"), case("c", "pppp", critical=True), *filler()]
    head = [case("a", "pfff"), case("b", "ffff"), case("c", "pfff", critical=True), *filler()]
    made = conclusion(report(head, deterministic=True), report(base, deterministic=True))
    assert [mark.title for mark in marks(made)] == ["c regressed", "b regressed", "a regressed"]


def filler():
    return [case(f"z{n}", "pppp") for n in range(9)]


def test_what_only_fails_is_marked_where_nothing_was_compared_and_a_green_run_marks_nothing():
    red = conclusion(report({"a": "f", "b": "p"}), None, min_pass_rate=1.0)
    assert [mark.title for mark in marks(red)] == ["a fails"]
    for made in (all_passed(), everything_broken()):
        assert marks(made) == []
    assert marks(replace(regressions(), verdict=replace(regressions().verdict, outcome="unmeasured"))) == []
