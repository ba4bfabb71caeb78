"""What a host is sent to know its caller: a key, or tokens that are renewed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from runevals.records.quiet import Quiet


class Key(Protocol):
    """Asked before each call, from several threads."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers that go with the key."""

    def value(self) -> str:
        """The key to send now. Raises CallFailed if there is none."""

    def renew(self, refused: str) -> bool:
        """Whether there is another one in place of this value, which the host refused."""


class FixedKey(Quiet, frozen=True):
    """A key that lasts. It stays out of `repr`."""

    hidden = frozenset({"text"})

    text: str
    headers: Mapping[str, str] = {}

    def value(self) -> str:
        """The key."""
        return self.text

    def renew(self, refused: str) -> bool:  # noqa: ARG002 - there is no other one
        """Never."""
        return False
