"""One of n parts of a run: which cases fall into it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from runevals.records.errors import InvalidSettings

MOST_SHARDS = 256  # jobs of a matrix on GitHub


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Part `part` of `of`, counted from 1."""

    part: int
    of: int

    def __str__(self) -> str:
        return f"{self.part}/{self.of}"

    def holds(self, suite: str, key: str) -> bool:
        """Whether this case falls into this part: by its own name alone, whatever other cases there are."""
        digest = hashlib.sha256(f"{suite}\0{key}".encode(errors="surrogatepass")).digest()
        return int.from_bytes(digest[:8]) % self.of == self.part - 1


def shards_of(cases: int, size: int) -> tuple[Shard, ...]:
    """The shards that `cases` are spread over, about `size` in each: at least one, at most a matrix full."""
    of = min(max(-(-cases // size), 1), MOST_SHARDS)
    return tuple(Shard(part=part, of=of) for part in range(1, of + 1))


def read_shard(text: str, origin: str) -> Shard:
    """`2/4` → the second of four parts. Raises InvalidSettings."""
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip())
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise InvalidSettings(f"shard ({origin}) is '{text[:40]}'; write i/n, where i is 1 to n, such as 2/4")
    return Shard(part=int(found[1]), of=int(found[2]))
