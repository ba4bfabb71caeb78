"""The rate limit of a host, learned from its refusals."""

from __future__ import annotations

from dataclasses import dataclass

MOST_PATIENT = 32  # windows, until a wider one is tried again


@dataclass(slots=True)
class RateWindow:
    """A time window, and the number of calls a host accepts in it, learned from a refusal."""

    began_at: float = 0.0
    lasts_s: float = 0.0
    most: int = 0  # 0: not known
    calls: int = 0
    answers: int = 0
    full: int = 0  # windows in a row that were used up and not refused
    widen_after: int = 2  # of those: doubles each time a wider window was refused

    def take(self, now: float) -> None:
        """Counts a call that starts."""
        if not self.calls and not self.most:
            self.began_at = now
        self.calls += 1

    @property
    def free_at(self) -> float:
        """The earliest time of the next call."""
        return self._ends_at if self.most and self.calls >= self.most else self.began_at

    def renew(self, now: float) -> None:
        """Starts a new window after the end of this one, wider if it was full often enough."""
        if not self.most or now < self._ends_at:
            return
        self.full = self.full + 1 if self.calls >= self.most else 0
        if self.full >= self.widen_after:
            self.most += max(1, self.most // 2)
            self.full = 0
        self.began_at, self.calls, self.answers = now, 0, 0

    @property
    def _ends_at(self) -> float:
        return self.began_at + self.lasts_s

    def count(self, entered_at: float) -> None:
        """Counts an answer to a call that started then: in this window, or in the one before."""
        if entered_at >= self.began_at:
            self.answers += 1
        elif self.lasts_s and not self.calls:
            self.most += 1

    def after_refusal(self, now: float, delay: float) -> RateWindow:
        """The next window after a refusal, with the number of answers as its limit (0: unknown)."""
        return RateWindow(
            began_at=now + delay,
            lasts_s=now + delay - self.began_at,
            most=self.answers,
            widen_after=2 if not self.most else min(MOST_PATIENT, 2 * self.widen_after),
        )
