"""What the shards of one run say of it, merged."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import ShardInfo
from runevals.run.measurement import SAME_WORDS
from runevals.run.shards.merge import merged
from tests.sample_reports import report


@pytest.mark.parametrize(
    ("notices", "whole"),
    [([(SAME_WORDS, "x"), ("x",)], ("x",)), ([(SAME_WORDS,), ("x", SAME_WORDS)], (SAME_WORDS, "x"))],
    ids=["one shard", "all shards"],
)
def test_same_answers_in_one_shard_are_not_said_of_the_whole_run(notices, whole):
    documents = []
    for part, of_shard in enumerate(notices, start=1):
        made = report({f"k{part}": "p"})
        shard = ShardInfo(part=part, of=2, plan_cases=2, positions=(part - 1,))
        documents.append((f"{part}.json", replace(made, run=replace(made.run, shard=shard, notices=of_shard))))
    assert merged(documents).run.notices == whole
