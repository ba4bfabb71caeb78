"""What a shell completes in a project: its cases, tags and targets, and the names that runevals knows."""

from __future__ import annotations

import json

import click
import pytest

from runevals.cli.completed_words import completing, of_setting
from tests.sample_suites import SUITE

ROWS = [
    {"id": "refund-1", "input": "a", "expected": "b", "tags": ["slow", "eu"]},
    {"id": "refund-2", "input": "c", "expected": "d", "tags": ["slow"], "category": "redteam"},
    {"id": "refund-\u202e", "input": "e", "expected": "f"},
]
SETTINGS = """\
suites: [{path: rows.jsonl, evaluators: [contains]}]
targets: {large: openai:l, small: openai:s}
"""


def offered(what, begun, *choices):
    command = click.Command("run")
    return completing(of_setting(what, choices))(click.Context(command), click.Argument([what]), begun)


@pytest.mark.parametrize(
    ("what", "begun", "words"),
    [
        pytest.param("filter", "ref", ["refund-1", "refund-2"], id="keys"),
        pytest.param("tag", "", ["slow", "eu"], id="tags, each once"),
        pytest.param("category", "re", ["redteam"], id="categories"),
        pytest.param("evaluators", "Partial", ["PartialMatch"], id="evaluators"),
        pytest.param("target", "l", ["large"], id="targets of the settings"),
        pytest.param("target", "openr", ["openrouter"], id="providers"),
        pytest.param("target", "py", ["python:"], id="kinds of targets"),
        pytest.param("max_cost", "", [], id="a number"),
    ],
)
def test_words_of_the_project_are_offered(project, what, begun, words):
    project.write("rows.jsonl", "\n".join(map(json.dumps, ROWS)))
    project.write("runevals.yaml", SETTINGS)
    assert offered(what, begun) == words


def test_an_unreadable_suite_completes_nothing(project):
    project.write("evals.json", "{")
    assert offered("filter", "") == []


def test_fixed_choices_need_no_project(project):
    project.write("evals.json", SUITE)
    assert offered("verify", "o", "auto", "off") == ["off"]
