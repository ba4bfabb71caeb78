"""The parts of a run: how many there are, and which cases fall into each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from heapq import heapify, heapreplace
from statistics import median_low

from msgspec.structs import replace

from runevals.records.rules import Shard

CaseName = tuple[str, str]  # suite and key

MOST_SHARDS = 256  # jobs of a matrix on GitHub


def shards_of(cases: int, size: int) -> tuple[Shard, ...]:
    """The shards that `cases` are spread over, about `size` in each: at least one, at most a matrix full."""
    of = min(max(-(-cases // size), 1), MOST_SHARDS)
    return tuple(Shard(part=part, of=of) for part in range(1, of + 1))


def balanced(shard: Shard, cases: Sequence[CaseName], durations_ms: Mapping[CaseName, int]) -> Shard:
    """The shard with all these cases split by past durations; as it is if none of the cases has one.

    The longest case first, each to the part with the least to do. A case without a past duration counts as the
    median. All shards of a run must split alike: nothing else decides than the arguments.
    """
    past = [durations_ms[case] for case in cases if case in durations_ms]
    if not any(past):
        return shard
    median_ms = median_low(past)
    weights = {case: durations_ms.get(case, median_ms) for case in cases}
    rows = sorted([*case, weight] for case, weight in weights.items())
    fingerprint = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:12]
    return replace(shard, parts=_parts(weights, shard.of), split=f"by durations {fingerprint}")


def _parts(weights: Mapping[CaseName, int], of: int) -> dict[CaseName, int]:
    """The part of each case, from 1."""
    loads = [(0, 0, part) for part in range(1, of + 1)]  # milliseconds, cases, part
    heapify(loads)
    parts = {}
    for case in sorted(weights, key=lambda case: (-weights[case], case)):
        load, count, part = loads[0]
        heapreplace(loads, (load + weights[case], count + 1, part))
        parts[case] = part
    return parts
