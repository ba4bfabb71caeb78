"""The tokens a host has left for its caller, as the headers of its answers announce them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress

from msgspec import Struct

LONGEST_WAIT_S = 60.0  # for tokens, after the newest answer: a host that takes longer has to refuse
HEADROOM = 4.0  # times the average cost that must be left, as calls cost different numbers of tokens
MEMORY = 0.9  # weight of the earlier calls in the average cost, at each answer
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|)")
_SECONDS = {"ms": 0.001, "": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Allowance(Struct, frozen=True, kw_only=True):
    """The tokens in the headers of one answer."""

    left: float
    most: float  # of a full bucket
    full_in_s: float  # seconds until the bucket is full, if nothing is sent; 0: it is full

    def left_after(self, seconds: float) -> float:
        """The tokens at that time, if nothing is sent."""
        filled = min(1.0, seconds / self.full_in_s) if self.full_in_s else 1.0
        return self.left + (self.most - self.left) * filled

    def seconds_for(self, more: float) -> float:
        """Until so many more tokens are there than now."""
        missing = self.most - self.left
        return self.full_in_s * more / missing if missing and more > 0 else 0.0


def allowance_of(headers: Mapping[str, str]) -> Allowance | None:
    """`x-ratelimit-…-tokens`, as of OpenAI, Azure and Groq; None if one is missing or unreadable."""
    left = headers.get("x-ratelimit-remaining-tokens")
    if left is None:  # as of most hosts
        return None
    most = finite(headers.get("x-ratelimit-limit-tokens"))
    full_in_s = duration_s(headers.get("x-ratelimit-reset-tokens", ""))
    number = finite(left)
    if number is None or most is None or full_in_s is None or not 0 <= number <= most:
        return None
    return Allowance(left=number, most=most, full_in_s=full_in_s)


def duration_s(text: str) -> float | None:
    """Seconds of `6m0s`, `120ms`, `1.5s` or `60`; None for anything else."""
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    return None


def finite(text: str | None) -> float | None:
    """A finite number; None for anything else."""
    with suppress(ValueError):
        number = float(text or "")
        return number if math.isfinite(number) else None
    return None


class TokenBucket:
    """Tokens that come back at a steady rate. What a call costs is learned from answer to answer.

    A number that never changes delays nothing: some gateways always say 0.
    """

    def __init__(self) -> None:
        self._newest: Allowance | None = None
        self._number = 0  # of the call that the newest allowance is of
        self._at = 0.0  # when that call was sent
        self._tokens = self._calls = 0.0  # that the average cost is of
        self._moves = False  # whether the number of tokens left has ever changed

    def see(self, allowance: Allowance, number: int, at: float, *, refused: bool) -> None:
        """The allowance in the answer to the call with this number, sent at this time."""
        if number <= self._number:
            return
        before, self._newest = self._newest, allowance
        self._moves |= before is not None and allowance.left != before.left
        if before is not None and not refused:
            self._tokens = MEMORY * self._tokens + max(0.0, before.left_after(at - self._at) - allowance.left)
            self._calls = MEMORY * self._calls + number - self._number
        self._number, self._at = number, at

    def free_at(self, sent: int) -> float:
        """The earliest time at which the tokens for one more call are there, if so many calls were sent before."""
        newest = self._newest
        if newest is None or not self._moves or not self._calls:
            return 0.0
        cost = self._tokens / self._calls
        needed = cost * (sent - self._number) + min(HEADROOM * cost, newest.most)
        return self._at + min(LONGEST_WAIT_S, newest.seconds_for(needed - newest.left))
