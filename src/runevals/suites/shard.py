"""One of n parts of a run: which cases fall into it."""

from __future__ import annotations

from runevals.records.rules import Shard

MOST_SHARDS = 256  # jobs of a matrix on GitHub


def shards_of(cases: int, size: int) -> tuple[Shard, ...]:
    """The shards that `cases` are spread over, about `size` in each: at least one, at most a matrix full."""
    of = min(max(-(-cases // size), 1), MOST_SHARDS)
    return tuple(Shard(part=part, of=of) for part in range(1, of + 1))
