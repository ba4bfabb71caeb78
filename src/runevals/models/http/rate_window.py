"""The rate limit of a host, learned from its refusals."""

from __future__ import annotations

from msgspec import Struct

SHORT, LONG = 0.5, 1.5  # times the known length of a window: a refusal before or after does not fit it
MOST_PATIENT = 32  # windows, until a wider one is tried again


class RateWindow(Struct):
    """A time window, and the number of calls a host accepts in it, learned from a refusal."""

    began_at: float = 0.0
    lasts_s: float = 0.0
    ends_at: float = 0.0
    most: int = 0  # 0: not known
    usual: int = 0  # calls that earlier windows took
    first: int = 0  # number of its first call; 0 before
    calls: int = 0  # sent and not refused
    full: int = 0  # windows in a row that were used up and not refused
    paused_until: float = 0.0
    since_pause: int = 0  # calls since then, sent and not refused
    doubted: bool = False  # a refusal ended too early, since the last full window
    widen_after: int = 2  # full windows: doubles each time a wider window was refused

    def take(self, number: int, now: float) -> None:
        """Counts a call that starts."""
        if not self.calls and not self.most:
            self.began_at = now
        self.first = self.first or number
        self.calls += 1
        self.since_pause += 1

    def give_back(self, number: int) -> None:
        """Does not count a refused call: of this window, or of the one from which its limit was learned."""
        self.since_pause -= 1
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
        self.doubted = self.doubted and not self.full
        self.usual = self.most
        if self.full >= self.widen_after:
            self.most += max(1, self.most // 2)
            self.full = 0
        self.began_at, self.ends_at, self.first, self.calls = now, now + self.lasts_s, 0, 0

    def after_refusal(self, resume_at: float) -> RateWindow:
        """The next window, after a pause; its limit is the number of accepted calls (0: unknown).

        If a limit is known and the refusal ends too early for it, only the second such refusal changes the limit.
        """
        share = (resume_at - self.began_at) / self.lasts_s if self.most else 1.0
        if share < SHORT and not self.doubted:
            self._wait(resume_at)
            return self
        began_at, calls = self.began_at, self.calls
        if not SHORT <= share <= LONG:
            began_at, calls = self.paused_until, self.since_pause
        if self.most and calls <= 0:  # a longer window has the calls of the one before
            began_at, calls = began_at - self.lasts_s, self.most
        return RateWindow(
            began_at=resume_at,
            lasts_s=resume_at - began_at,
            ends_at=2 * resume_at - began_at,
            most=calls,
            paused_until=resume_at,
            widen_after=2 if not self.most else min(MOST_PATIENT, 2 * self.widen_after),
        )

    def _wait(self, resume_at: float) -> None:
        """A pause in a window; at its begin, the host's own window begins later."""
        is_begin = resume_at - self.began_at < self.lasts_s * SHORT / 2
        self.ends_at = resume_at + self.lasts_s if is_begin else max(self.ends_at, resume_at)
        self.paused_until, self.since_pause, self.doubted = resume_at, 0, True
