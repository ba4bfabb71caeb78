"""The conversation ids of endpoints, passed from turn to turn."""

from __future__ import annotations

import threading
from collections import OrderedDict

from runevals.records import Conversation

MOST = 10_000  # running conversations; the least recently used are dropped first


class ConversationIds:
    """The id of each thread. The first turn always starts a new one."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, object] = OrderedDict()
        self._lock = threading.Lock()

    def id_of(self, conversation: Conversation) -> object:
        """The id from an earlier turn, or None."""
        with self._lock:
            return None if conversation.turn == 1 else self._ids.get(conversation.thread)

    def keep(self, conversation: Conversation, id_: object) -> None:
        """Stores the id of this turn; if it is None, the earlier one stays."""
        with self._lock:
            if id_ is None and conversation.turn == 1:
                self._ids.pop(conversation.thread, None)
            elif id_ is not None:
                self._ids[conversation.thread] = id_
                self._ids.move_to_end(conversation.thread)
            if len(self._ids) > MOST:
                self._ids.popitem(last=False)
