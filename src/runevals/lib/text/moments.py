"""Times in documents that any program may have written."""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, datetime


def parse_moment(text: str) -> datetime:
    """An ISO 8601 time, perhaps without a time zone. Raises ValueError, also if other zones may not have it."""
    moment = datetime.fromisoformat(text)
    if moment.year in (MINYEAR, MAXYEAR):
        raise ValueError(f"{text[:40]} is not a time that can be computed with")
    return moment
