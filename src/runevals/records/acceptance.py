"""A loss that is wanted: which cases, why, and who agreed."""

from __future__ import annotations

from msgspec import Struct

ADDED = "added"  # instead of the base's fingerprint, if only the change has the case
REMOVED = "removed"  # instead of the head's fingerprint, if the case is not in the change any more


class AcceptedLoss(Struct, frozen=True, kw_only=True, gc=False):
    """A lost case by the fingerprints of both sides: of its content, and of the target that answered."""

    suite: str
    case: str  # its key
    base: str
    head: str
    reason: str = ""

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What must be equal for an entry to be about a loss."""
        return self.suite, self.case, self.base, self.head


class Acceptance(Struct, frozen=True, kw_only=True, gc=False):
    """Losses that do not block, because a reviewer agreed to them."""

    by: str  # the name on GitHub of who agreed
    losses: tuple[AcceptedLoss, ...]
