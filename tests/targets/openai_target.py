"""The openai target of a chat server, and what to ask it."""

from __future__ import annotations

from runevals.models.chat.chat import Chat, Endpoint
from runevals.models.http.throttle import Throttle
from runevals.records import Conversation
from runevals.targets.openai import OpenAITarget


def target(server, *, system=None, timeout_s=5.0, attempts=5, **parameters):
    endpoint = Endpoint(model="tiny", api_key="key-1", base_url=server.base_url, timeout_s=timeout_s)
    chat = Chat(endpoint, Throttle(max_attempts=attempts, first_delay_s=0.01))
    return OpenAITarget(chat, system_prompt=system, parameters=parameters)


def asking(prompt="Hello?", history=()):
    return Conversation(suite="s", case="c", attempt=1, turn=1, prompt=prompt, history=history)
