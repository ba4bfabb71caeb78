"""The conversation ids that endpoints gave, from turn to turn."""

from __future__ import annotations

import threading
from collections import OrderedDict

from runevals.records import Conversation

MOST = 10_000  # conversations under way at once; those longest silent are forgotten first


class Threads:
    """Which id each thread has. Its first turn always begins anew."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, object] = OrderedDict()
        self._lock = threading.Lock()

    def id_of(self, conversation: Conversation) -> object:
        """The id that an earlier turn was given, None before there is one."""
        with self._lock:
            return None if conversation.turn == 1 else self._ids.get(conversation.thread)

    def keep(self, conversation: Conversation, given: object) -> None:
        """Remembers what this turn was given; without an id of its own, the earlier one stays."""
        with self._lock:
            if given is None and conversation.turn == 1:
                self._ids.pop(conversation.thread, None)
            elif given is not None:
                self._ids[conversation.thread] = given
                self._ids.move_to_end(conversation.thread)
            if len(self._ids) > MOST:
                self._ids.popitem(last=False)
