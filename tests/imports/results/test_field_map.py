"""Paths, words and limits: what a table of a tool's results can say."""

from __future__ import annotations

import pytest

from runevals.imports.results.field_map import MEASURED, FieldMap, Limit, Words
from runevals.imports.results.fields import Json
from runevals.imports.results.opened import OpenedResults
from runevals.records import Outcome
from runevals.records.errors import InvalidDocument

ROW = Json({"a": {"b": 1}, "c.d": 2, "null": None, "e": [{"content": "x"}, {"content": "y"}]}, "r.jsonl:1")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param("a.b", 1, id="keys of keys"),
        pytest.param("c.d", 2, id="a key with a dot"),
        pytest.param("null|a.b", 1, id="the first that is not null"),
        pytest.param("a.b.c", None, id="through what is no object"),
        pytest.param("e.-1.content|a", "y", id="the last entry of a list"),
        pytest.param("e.2.content", None, id="an entry that is not there"),
        pytest.param("", None, id="nowhere"),
        pytest.param(".", ROW.value, id="itself"),
    ],
)
def test_a_path_leads_to_a_value(path, value):
    assert ROW.at(path).value == value


def test_a_duration_may_be_in_milliseconds():
    assert (ROW.seconds_at("a.b"), ROW.seconds_at("a.b ms")) == (1.0, 0.001)


WORDS = Words("state", {"ok": MEASURED, "failed": Outcome.FAILED})


@pytest.mark.parametrize(
    ("value", "end"), [("OK", MEASURED), (" failed ", Outcome.FAILED), (None, MEASURED)], ids=str
)
def test_a_word_says_how_an_attempt_ended(value, end):
    assert WORDS.end(Json({"state": value}, "r")) is end


def test_a_word_that_is_not_known_is_refused_unless_the_table_has_all_others():
    with pytest.raises(InvalidDocument, match='/state is "odd", not one of ok, failed'):
        WORDS.end(Json({"state": "odd"}, "r"))
    every = Words("state", {**WORDS.ends, "*": Outcome.ERRORED})
    assert every.end(Json({"state": "odd"}, "r")) is Outcome.ERRORED


@pytest.mark.parametrize("lower", [False, True], ids=["higher is better", "lower is better"])
@pytest.mark.parametrize("at", [0.2, 1.0, 3.0, 250.0])
def test_a_better_score_has_a_larger_share_and_those_on_one_side_of_the_limit_pass(lower, at):
    limit = Limit(at, lower)
    scores = [at * part for part in (0.0, 0.5, 1.0, 1.5, 4.0)]
    shares = [limit.share(score) for score in (reversed(scores) if lower else scores)]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    assert [limit.passes(score) for score in scores] == [lower, lower, True, not lower, not lower]


def test_results_with_fewer_attempts_than_they_say_are_not_whole():
    table = FieldMap(NAME="t", marks=("k",), lines=True, case={"key": "k"}, passed="p", planned="of")
    rows = tuple(Json({"k": "a", "p": True, "of": of}, f"r:{at}") for at, of in enumerate((3, 3)))
    run = table.read(OpenedResults(path=None, display_path="r", rows=rows))
    assert run.stopped == "a has 2 of 3 attempts in the results"
