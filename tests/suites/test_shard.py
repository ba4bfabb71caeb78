"""One part of a run, as a user meets it."""

from __future__ import annotations

import re

import pytest

from runevals.records.rules import Shard
from runevals.suites.shard import balanced
from tests.ending import ended


def test_a_case_is_always_in_the_same_shard():
    parts = [
        next(part for part in range(1, 5) if Shard(part=part, of=4).holds("evals/a.json", f"a-{number}"))
        for number in range(12)
    ]
    assert parts == [2, 3, 2, 3, 4, 1, 1, 4, 3, 3, 1, 3]


def test_shards_are_balanced_by_past_durations():
    """The expected loads are those of longest processing time first; by hash, one part has most of the work."""
    cases = [("evals.json", f"case-{number:03}") for number in range(100)]
    durations = {case: 30_000 if number % 20 == 0 else 500 for number, case in enumerate(cases)}
    parts = [balanced(Shard(part=part, of=4), cases, durations) for part in range(1, 5)]
    loads = [sum(durations[case] for case in cases if part.holds(*case)) for part in parts]
    by_hash = [sum(durations[case] for case in cases if Shard(part=p, of=4).holds(*case)) for p in range(1, 5)]
    assert max(loads) <= 60_000 < max(by_hash)
    assert [sum(part.holds(*case) for part in parts) for case in cases] == [1] * 100
    assert len({part.split for part in parts}) == 1


def test_the_split_depends_on_the_cases_and_their_durations_alone():
    cases = [("b.json", "x"), ("a.json", "y"), ("a.json", "x"), ("a.json", "new")]
    durations = {("a.json", "x"): 20, ("a.json", "y"): 10, ("b.json", "x"): 10, ("gone.json", "x"): 99}
    shard = balanced(Shard(part=1, of=2), cases, durations)
    assert shard.parts == {
        ("a.json", "x"): 1,
        ("a.json", "new"): 2,  # the median of 10, 10 and 20, then by name
        ("a.json", "y"): 2,
        ("b.json", "x"): 1,
    }
    again = balanced(Shard(part=2, of=2), cases[::-1], dict(reversed(durations.items())))
    assert (again.parts, again.split) == (shard.parts, shard.split)
    assert balanced(shard, cases, {**durations, ("a.json", "x"): 21}).split != shard.split


@pytest.mark.parametrize("durations", [{}, {("gone.json", "x"): 9}, {("a.json", "x"): 0}], ids=str)
def test_shards_without_past_durations_are_split_by_hash(durations):
    shard = balanced(Shard(part=1, of=2), [("a.json", "x"), ("a.json", "y")], durations)
    assert (shard.parts, shard.split) == (None, "by hash")


def test_a_shard_does_not_run_a_base(repository, runevals):
    code, _, err = runevals("--shard", "1/4", "--base", "main")
    ended(code, 2, err, "a shard is compared with nothing")


@pytest.mark.parametrize("shard", ["0/4", "5/4", "1", "1/0", "a/b", "1/2/3", "-1/2", "١/٤"])
def test_an_invalid_shard_is_refused(zoo, runevals, shard):
    code, _, err = runevals(f"--shard={shard}")
    ended(code, 2, err, "write i/n")


def test_a_shard_whose_every_answer_is_an_error_could_not_measure(zoo, runevals):
    zoo.write("answers.jsonl", "")
    code, out, _ = runevals("--shard", "1/2", "-o", "1.json")
    assert code == 3
    assert out.startswith("! Shard 1 of 2: not measured")


def test_a_shard_with_errors_leaves_the_decision_to_the_merge(zoo, runevals):
    outcomes = [runevals("--shard", f"{part}/2", "-o", f"{part}.json", "-o", f"{part}.md") for part in (1, 2)]
    assert [code for code, _, _ in outcomes] == [0, 0]
    totals = [zoo.document(f"{part}.json")["totals"] for part in (1, 2)]
    assert sum(total["errored"] for total in totals) == 1
    assert sum(total["failed"] for total in totals) > 0
    assert zoo.document("1.json")["verdict"]["outcome"] == "skipped"
    assert zoo.document("1.json")["gates"] == []
    assert "Gates" not in outcomes[0][1] + (zoo.path / "1.md").read_text()


def test_a_plan_shows_the_shard(zoo, runevals):
    assert re.search(r"cases +\d+ \(shard 2 of 4\)", runevals("plan", "--shard", "2/4")[1])
    assert re.search(r"cases +\d+ \(shard 2 of 4\)", runevals("--dry-run", "--shard", "2/4")[1])


def test_the_settings_show_the_shard(zoo, runevals, monkeypatch):
    monkeypatch.setenv("RUNEVALS_SHARD", "2/4")
    assert re.search(r"shard +2/4 +\(RUNEVALS_SHARD\)", runevals("settings")[1])
