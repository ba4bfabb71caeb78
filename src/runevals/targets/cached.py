"""A target's answers, kept: for those who try their checks, not their model, again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from runevals import __version__
from runevals.lib.storage.cache import Cache, SignedCache
from runevals.lib.text.secrets import redacted
from runevals.records import Conversation, ModelIdentity, Response
from runevals.targets import Target
from runevals.targets.answer_codec import read_response, response_text


class Cacheable(Target, Protocol):
    """A target that knows all that its answers depend on."""

    @property
    def secret(self) -> bytes:
        """What only those have who may ask it."""

    def sent_for(self, conversation: Conversation) -> object:
        """All that an answer depends on, as JSON."""


class CachedTarget:
    """Looks an answer up by all that it depends on, its case, attempt and turn included, before it asks.

    Each attempt thus keeps its own answer: a kept one never passes for another attempt. It comes back as it was,
    with the cost and the time that it took then, marked as cached.
    """

    def __init__(self, target: Cacheable, cache: Cache, *, redact: Callable[[str], str]) -> None:
        """An answer that `redact` would change is not kept: without its secrets it is another answer."""
        self._target = target
        self._cache = SignedCache(cache, target.secret)
        self._redact = redact
        self._reported: set[str] = set()

    def answer(self, conversation: Conversation) -> Response:
        """The kept answer, else a new one, which is kept unless it is a problem. Raises TargetRefused."""
        place = [conversation.suite, conversation.case, conversation.attempt, conversation.turn]
        asked = ["target", __version__, self._target.sent_for(conversation), place]
        kept = self._cache.get(asked)
        if kept is not None:
            return self._read(kept)
        found = self._target.answer(conversation)
        if found.problem is None and redacted(found, self._redact) is found:
            self._cache.put(asked, response_text(found))
        return found

    def identity(self) -> ModelIdentity:
        """The target's, with the models that gave the kept answers."""
        known = self._target.identity()
        return replace(known, reported=tuple(sorted({*known.reported, *self._reported})))

    def close(self) -> None:
        """Ends the target."""
        self._target.close()

    def _read(self, kept: str) -> Response:
        found = read_response(kept, cached=True)
        if found.model is not None:
            self._reported.add(found.model)
        return found
