"""Comments and artifacts of legs, steps and called workflows stay apart."""

from __future__ import annotations

import json

import pytest

from runevals.github.job_id import CALLED, MATRIX, automatic_id
from runevals.records.errors import InvalidSettings

JOB = {"GITHUB_WORKFLOW": "evals", "GITHUB_JOB": "test"}


def id_of(matrix: object = None, *, shard: str | None = None, action: str = "__runevals_runevals") -> str:
    return automatic_id({**JOB, MATRIX: json.dumps(matrix), "GITHUB_ACTION": action}, shard)


@pytest.mark.parametrize(
    ("matrix", "named"),
    [
        (None, "evals test"),
        ({}, "evals test"),
        ({"model": "gpt-5", "python": "3.12"}, "evals test (model=gpt-5, python=3.12)"),
        ({"model": "a, python=b"}, 'evals test (model="a, python=b")'),
        (
            {"big": True, "size": 3, "of": {"b": 1, "a": [2]}},
            'evals test (big=true, size=3, of={"a": [2], "b": 1})',
        ),
    ],
)
def test_each_leg_of_a_matrix_has_its_own(matrix, named):
    assert id_of(matrix) == named


def test_without_an_action_yml_there_is_no_leg():
    assert automatic_id(JOB, None) == "evals test"


def test_all_shards_are_one_run():
    assert id_of({"shard": "2/4"}, shard="2/4") == id_of({"shard": "1/4"}, shard="1/4") == id_of()
    one, two = ({"shard": "1/4", "model": model} for model in "ab")
    assert id_of(one, shard="1/4") == id_of({"model": "a"}) != id_of(two, shard="1/4")


@pytest.mark.parametrize(
    ("action", "named"),
    [
        ("__runevals_runevals", "evals test"),
        ("__runevals_runevals_2", "evals test 2"),
        ("__self", "evals test"),
        ("__self_3", "evals test 3"),
        ("nightly", "evals test nightly"),
        ("__run_4", "evals test"),  # a step more before it must not rename it
        ("3", "evals test"),
        ("", "evals test"),
    ],
)
def test_each_step_of_a_job_has_its_own(action, named):
    assert id_of(action=action) == named


def test_a_called_workflow_needs_one():
    called = {**JOB, CALLED: "o/r/.github/workflows/evals.yml@refs/heads/main"}
    with pytest.raises(
        InvalidSettings, match=r"^comment_id is missing: this job is of o/r/\.github/workflows/evals\.yml,"
    ):
        automatic_id(called, None)


def test_what_is_not_json_is_refused():
    with pytest.raises(
        InvalidSettings, match=r"^RUNEVALS_MATRIX is not JSON; it is \$\{\{ toJSON\(matrix\) \}\}$"
    ):
        automatic_id({**JOB, MATRIX: "model=a"}, None)
