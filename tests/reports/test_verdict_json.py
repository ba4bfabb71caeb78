"""`--format json`: one object that names the verdict, the cases to look at, and what to do next."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from runevals.reports import verdict_json
from runevals.reports.next_steps import Where
from tests.reports.conclusions import all_passed, everything_broken, regressions, renames

MADE = [all_passed, regressions, renames, everything_broken]


@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_every_object_is_valid_by_the_published_schema(make):
    text = verdict_json.render(make(), Where(), [Path("results.json")], 1)
    assert text.count("\n") == 1
    document = json.loads(text)
    jsonschema.validate(document, verdict_json.schema())
    assert (document["exit_code"], document["reports"]) == (1, ["results.json"])


def test_the_published_schema_is_that_of_the_types():
    """Renew it by `runevals schema verdict`."""
    published = files("runevals.reports").joinpath("schemas", "verdict-1.schema.json")
    assert json.loads(published.read_text(encoding="utf-8")) == json.loads(json.dumps(verdict_json.schema()))


@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_two_cases_of_each_row_have_their_place_and_their_failures(make):
    document = json.loads(verdict_json.render(make(), Where(), [], 0))
    rows = [row for cause in document["causes"] for group in cause["groups"] for row in group["rows"]]
    in_rows = {(name["suite"], name["key"]) for row in rows for name in row["examples"][:2]}
    assert {(case["suite"], case["key"]) for case in document["examples"]} == in_rows
    assert len(document["examples"]) == len(in_rows)
