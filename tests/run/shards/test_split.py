"""Shards of a run with a base: balanced, the same on each machine, and complete when merged."""

from __future__ import annotations

import re

import pytest

from tests.ending import ended


@pytest.fixture
def shards(zoo, runevals):
    """Four documents of four shards that know the base's document, whose answers took 0 to 170 ms."""
    runevals("-o", "base.json")
    for part in range(1, 5):
        code, _, err = runevals("--shard", f"{part}/4", "--baseline", "base.json", "-o", f"{part}.json")
        assert code == 0, err
    return [f"{part}.json" for part in range(1, 5)]


def test_shards_with_a_base_are_balanced_by_its_durations_and_merge_to_the_whole_run(zoo, runevals, shards):
    documents = [zoo.document(name) for name in shards]
    loads = [
        sum(turn["latency_s"] or 0 for case in document["cases"] for turn in case["attempts"][0]["turns"])
        for document in documents
    ]
    assert max(loads) < 1.1 * sum(loads) / 4
    assert {document["run"]["shard"]["split"][:13] for document in documents} == {"by durations "}
    assert all(document["comparison"] is None for document in documents)
    cases = len(documents[0]["cases"])
    for command in ("plan", "run"):
        flags = ["--dry-run"] if command == "run" else []
        out = runevals(command, *flags, "--shard", "1/4", "--baseline", "base.json")[1]
        assert re.search(rf"cases +{cases} \(shard 1 of 4\)", out)
    told = "compares with the base of the shards only if it is named there, too: --baseline FILE"
    assert told in "".join(runevals("merge", *shards, "-o", "merged.json")[1:])
    assert zoo.document("merged.json")["cases"] == zoo.document("base.json")["cases"]
    assert told not in "".join(runevals("merge", *shards, "--baseline", "base.json")[1:])


def test_shards_that_were_split_differently_are_refused(zoo, runevals, shards):
    split = zoo.document("3.json")["run"]["shard"]["split"]
    runevals("--shard", "3/4", "-o", "3.json")
    code, _, err = runevals("merge", *shards)
    what = "1.json and 3.json are not of one run: their splits of the cases differ"
    ended(code, 2, err, f"{what} ({split} and by hash)")
