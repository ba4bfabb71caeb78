"""The rate limit of a host, learned from its refusals."""

from __future__ import annotations

from dataclasses import dataclass

MOST_PATIENT = 32  # windows, until a wider one is tried again


@dataclass(slots=True)
class RateWindow:
    """A time window, and the number of calls a host accepts in it, learned from a refusal."""

    began_at: float = 0.0
    lasts_s: float = 0.0
    ends_at: float = 0.0
    most: int = 0  # 0: not known
    usual: int = 0  # calls that earlier windows took
    first: int = 0  # number of its first call; 0 before
    calls: int = 0  # sent and not refused
    full: int = 0  # windows in a row that were used up and not refused
    widen_after: int = 2  # of those: doubles each time a wider window was refused

    def take(self, number: int, now: float) -> None:
        """Counts a call that starts."""
        if not self.calls and not self.most:
            self.began_at = now
        self.first = self.first or number
        self.calls += 1

    def give_back(self, number: int) -> None:
        """Does not count a refused call: of this window, or of the one from which its limit was learned."""
        if self.first and number >= self.first:
            self.calls -= 1
        elif not self.usual:
            self.most = max(0, self.most - 1)

    @property
    def free_at(self) -> float:
        """The earliest time of the next call."""
        return self.ends_at if self.most and self.calls >= self.most else self.began_at

    @property
    def tries_more(self) -> bool:
        """Whether the next call is more than earlier windows took."""
        return bool(self.usual) and self.calls >= self.usual

    def renew(self, now: float) -> None:
        """Starts a new window after the end of this one, wider if it was full often enough."""
        if not self.most or now < self.ends_at:
            return
        self.full = self.full + 1 if self.calls >= self.most else 0
        self.usual = self.most
        if self.full >= self.widen_after:
            self.most += max(1, self.most // 2)
            self.full = 0
        self.began_at, self.ends_at, self.first, self.calls = now, now + self.lasts_s, 0, 0

    def after_refusal(self, now: float, delay: float) -> RateWindow:
        """The next window after a refusal, with the number of accepted calls as its limit (0: unknown).

        A refusal that ends in the first half of a window says that the host's window began later.
        """
        resume_at = now + delay
        lasts_s = resume_at - self.began_at
        if self.most and lasts_s < self.lasts_s / 2:
            self.ends_at = resume_at + self.lasts_s
            return self
        return RateWindow(
            began_at=resume_at,
            lasts_s=lasts_s,
            ends_at=resume_at + lasts_s,
            most=self.calls,
            widen_after=2 if not self.most else min(MOST_PATIENT, 2 * self.widen_after),
        )
