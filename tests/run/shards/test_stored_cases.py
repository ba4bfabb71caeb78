"""Cases on disk are the cases."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

from runevals.run.shards.stored_cases import StoredCases
from tests.sample_reports import report

ROOT = Path(__file__).parents[3]
CASES = report({"a": "pf", "b": "e", "c": "s", "d": "pp"}).cases


def test_they_are_read_in_any_order_and_as_often_as_needed():
    stored = StoredCases()
    stored.extend(CASES[:1])
    stored.extend(CASES[1:])
    assert tuple(stored) == tuple(stored) == CASES
    stored.put_in_order([2, 0, 3, 1])
    assert [case.key for case in stored] == ["c", "a", "d", "b"]
    assert (len(stored), stored[0], stored[-1], stored[1:3]) == (4, CASES[2], CASES[1], (CASES[0], CASES[3]))
    assert pickle.loads(pickle.dumps(stored)) == tuple(stored)
    assert CASES[3] in stored


def test_if_the_disk_is_full_a_merge_keeps_the_cases_in_memory():
    program = """
import resource
from dataclasses import replace
from runevals.records import ShardInfo
from runevals.run.shards import merge
from tests.run.shards.test_stored_cases import CASES, report

merge.IN_MEMORY = 2
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
made = report({"a": "p"})
documents = []
for part, case in enumerate(CASES, start=1):
    shard = ShardInfo(part=part, of=4, plan_cases=4, positions=(4 - part,))
    documents.append((f"{part}.json", replace(made, run=replace(made.run, shard=shard), cases=(case,))))
assert tuple(merge.merged(documents).cases) == CASES[::-1]
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
