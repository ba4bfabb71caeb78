"""Cached answers of a target, for repeated work on checks with an unchanged model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from runevals.lib.parsing.record_json import from_json, json_text
from runevals.lib.storage.cache import Cache, SignedCache
from runevals.lib.text.secrets import redacted
from runevals.records import Conversation, ModelIdentity, Response
from runevals.targets import Target, TargetAround
from runevals.version import __version__


class Cacheable(Target, Protocol):
    """A target that can list everything its answers depend on."""

    @property
    def secret(self) -> bytes:
        """The API key, which signs cached answers."""

    def sent_for(self, conversation: Conversation) -> object:
        """Everything an answer depends on, as JSON."""


class CachedTarget(TargetAround):
    """Looks an answer up by everything it depends on, including its case, attempt and turn, before it asks.

    Each attempt has its own entry: a cached answer is never reused for another attempt. It is returned with its
    original cost and time, marked as cached.
    """

    _target: Cacheable

    def __init__(self, target: Cacheable, cache: Cache, *, redact: Callable[[str], str]) -> None:
        """An answer that `redact` would change is not cached: without its secrets it would be another answer."""
        super().__init__(target)
        self._cache = SignedCache(cache, target.secret)
        self._redact = redact
        self._models: set[str] = set()

    def answer(self, conversation: Conversation) -> Response:
        """The cached answer, or a new one, which is cached unless it is a problem. Raises TargetRefused."""
        position = [conversation.suite, conversation.case, conversation.attempt, conversation.turn]
        key = ["target", __version__, self._target.sent_for(conversation), position]
        text = self._cache.get(key)
        if text is not None:
            cached = replace(from_json(text, Response), cached=True)
            if cached.model is not None:
                self._models.add(cached.model)
            return cached
        response = self._target.answer(conversation)
        if response.problem is None and redacted(response, self._redact) is response:
            self._cache.put(key, json_text(response))
        return response

    def identity(self) -> ModelIdentity:
        """The target's identity, with the models of the cached answers."""
        identity = self._target.identity()
        return replace(identity, reported=tuple(sorted({*identity.reported, *self._models})))
