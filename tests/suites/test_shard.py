"""One part of a run, as a user meets it."""

from __future__ import annotations

import re

import pytest

from runevals.records.rules import Shard
from tests.ending import ended


def test_a_case_is_always_in_the_same_shard():
    parts = [
        next(part for part in range(1, 5) if Shard(part=part, of=4).holds("evals/a.json", f"a-{number}"))
        for number in range(12)
    ]
    assert parts == [2, 3, 2, 3, 4, 1, 1, 4, 3, 3, 1, 3]


@pytest.mark.parametrize("flags", [["--baseline", "base.json"], ["--base", "main"]], ids=str)
def test_a_shard_is_not_compared_with_a_base(repository, runevals, flags):
    repository.write("base.json", "")
    code, _, err = runevals("--shard", "1/4", *flags)
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
