"""A target with a prompt template."""

from __future__ import annotations

from msgspec.structs import replace

from runevals.lib.parsing.canonical import fingerprint
from runevals.records import Conversation, ModelIdentity, PromptTemplate, Response
from runevals.targets import Target


class PromptedTarget:
    """The target, with the prompt template as part of its identity."""

    def __init__(self, target: Target, template: PromptTemplate) -> None:
        self._target = target
        self._messages = [[message.role, message.content] for message in template.messages]

    def answer(self, conversation: Conversation) -> Response:
        """The target's answer to a prompt that was filled in before. Raises TargetRefused."""
        return self._target.answer(conversation)

    def identity(self) -> ModelIdentity:
        """The target's; its prompt is the system prompt and the template."""
        identity = self._target.identity()
        return replace(identity, prompt_hash=fingerprint([identity.prompt_hash, self._messages]))

    def close(self) -> None:
        """Ends the target."""
        self._target.close()
