"""The page of past runs: what came from outside stays data."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from runevals.records import ModelIdentity, ShardInfo
from runevals.reports import badge
from runevals.reports.history import PastRun, render
from tests.reports.conclusions import all_passed, conclusion
from tests.reports.hostile import NASTY
from tests.reports.parsed_page import Page
from tests.sample_reports import report


def past(number, cases=None, *, suite="evals.json", link=None, **more):
    """A run on the day with this number."""
    made = report(cases or {"a": "p", "b": "f"}, deterministic=True)
    suites = tuple(replace(each, path=suite) for each in made.run.suites)
    started = datetime(2026, 10, 1, 9, 30, tzinfo=UTC) + timedelta(days=number)
    made = replace(made, run=replace(made.run, suites=suites, started_at=started, **more))
    return PastRun(name=f"{number}.json", conclusion=conclusion(made, None), link=link)


def groups(*runs):
    return Page(render(runs)).data("group")


def test_runs_of_other_suites_or_another_target_stand_apart():
    other = ModelIdentity(type="openai", model="gpt-5")
    small = {"settings": {"target": "small"}, "target": ModelIdentity(type="python")}
    one, another = past(5, **small), past(6, settings={"target": "python:a.py:b"}, target=small["target"])
    found = groups(past(1), past(2, suite="b.json"), past(3, target=other), past(4), one, another)
    assert [(group["name"], [run["file"] for run in group["runs"]]) for group in found] == [
        ("evals.json · openai gpt-6.1-terra", ["1.json", "4.json"]),
        ("evals.json · openai gpt-5", ["3.json"]),
        ("evals.json · small (python)", ["5.json"]),
        ("evals.json · python", ["6.json"]),
        ("b.json", ["2.json"]),
    ]


def test_a_row_says_what_came_of_a_run_and_what_is_unknown_is_no_number():
    known = past(0, commit="0123456789abcdef")
    measured = known.report
    totals = replace(measured.totals, cost_usd=None, pass_rate=None, composite=None)
    free = replace(measured, totals=totals, cases=())
    (group,) = groups(known, replace(past(1), conclusion=conclusion(free, None)))
    rows = [[run[name] for name in ("moment", "commit", "passRate", "score", "cost")] for run in group["runs"]]
    assert rows[0] == ["2026-10-01 09:30 UTC", "0123456", "50.0 %", "3.00", "$0.0020"]
    assert rows[1][2:] == ["–", "–", "–"]
    assert [[point["value"] for point in trend["points"]] for trend in group["trends"]] == [
        [0.5, None],
        [3.0, None],
    ]


def test_runs_of_some_cases_are_listed_and_are_no_part_of_the_trend():
    some = [
        past(2, {"a": "p"}, settings={"filter": ["a"]}),
        past(3, {"a": "p"}, shard=ShardInfo(part=1, of=2, plan_cases=2, positions=(0,))),
    ]
    (group,) = groups(past(1), *some)
    assert [run["cases"] for run in group["runs"]] == ["2", "1", "1"]
    assert [[point["value"] for point in trend["points"]] for trend in group["trends"]] == [[0.5], [3.0]]
    assert json.loads(badge.render([past(1), *some]))["message"] == "1 of 2 cases pass"
    assert len(groups(*some)[0]["trends"][0]["points"]) == 2


@pytest.mark.parametrize("text", NASTY)
def test_text_from_outside_adds_no_element_and_no_script(text):
    run = past(1, suite=text, commit=text, ref=text, target=ModelIdentity(type=text, model=text))
    made = replace(run.conclusion, verdict=replace(run.conclusion.verdict, headline=text))
    page = Page(render([replace(run, name=text, conclusion=made)]))
    harmless = Page(render([replace(past(1), conclusion=all_passed())]))
    assert page.names == harmless.names
    assert page.attributes == harmless.attributes
    assert page.raw["script"] == harmless.raw["script"]
    assert page.raw["group-data"].isascii()
