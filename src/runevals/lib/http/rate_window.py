"""How many calls a host takes in which time, as far as it has taught us."""

from __future__ import annotations

from dataclasses import dataclass

MOST_PATIENT = 32  # windows, until a wider one is tried again


@dataclass(slots=True)
class RateWindow:
    """A stretch of time, and how many calls a host takes in it, as far as a refusal has taught it."""

    began_at: float = 0.0
    lasts_s: float = 0.0
    most: int = 0  # 0: not known
    calls: int = 0
    answers: int = 0
    full: int = 0  # windows in a row that were used up and not refused
    widen_after: int = 2  # of those: the more often widening was refused, the rarer it is tried

    def take(self, now: float) -> None:
        """One more call begins."""
        if not self.calls and not self.most:
            self.began_at = now
        self.calls += 1

    @property
    def free_at(self) -> float:
        """When the next call may begin."""
        return self._ends_at if self.most and self.calls >= self.most else self.began_at

    def renew(self, now: float) -> None:
        """A window that is over is followed by a new one, wider if it was full often enough."""
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
        """A call that began then was answered: in this window, or late in the one that taught it its size."""
        if entered_at >= self.began_at:
            self.answers += 1
        elif self.lasts_s and not self.calls:
            self.most += 1

    def after_refusal(self, now: float, delay: float) -> RateWindow:
        """The window that begins when the host takes calls again; where none was answered, it tells nothing."""
        return RateWindow(
            began_at=now + delay,
            lasts_s=now + delay - self.began_at,
            most=self.answers,
            widen_after=2 if not self.most else min(MOST_PATIENT, 2 * self.widen_after),
        )
