"""Any OpenAI-compatible chat API, by the `openai` SDK."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import replace

from runevals.chat import Chat, ChatFailed, ParameterRefused
from runevals.errors import TargetRefused
from runevals.records import Conversation, ModelIdentity, Response, ToolCall
from runevals.targets.reported import failed


class OpenAITarget:
    """Sends the system prompt, the conversation so far and the prompt."""

    def __init__(self, chat: Chat, *, system_prompt: str | None, parameters: Mapping[str, object]) -> None:
        self._chat = chat
        self._system_prompt = system_prompt
        self._parameters = dict(parameters)
        self._reported: set[str] = set()
        self._lock = threading.Lock()

    def warm_up(self) -> None:
        """Loads the SDK beside other work."""
        self._chat.warm_up()

    def answer(self, conversation: Conversation) -> Response:
        """One completion, with what the API reports of it."""
        messages = [{"role": m.role, "content": m.content} for m in conversation.messages]
        if self._system_prompt is not None:
            messages.insert(0, {"role": "system", "content": self._system_prompt})
        try:
            reply = self._chat.ask(messages, self._parameters)
        except ParameterRefused as error:
            message = f"the endpoint refuses the parameter '{error.parameter}': {error}"
            return failed("target_failed", message)
        except ChatFailed as error:
            if error.refused:
                raise TargetRefused(f"the target refuses every call: {error}") from error
            return failed(f"target_{error.kind}", str(error))
        if reply.model is not None:
            with self._lock:
                self._reported.add(reply.model)
        calls = tuple(ToolCall(name=name, input=_arguments(text)) for name, text in reply.tool_calls)
        if reply.text is None and not calls:
            message = reply.refusal or f"the model gave no text (finish_reason: {reply.finish_reason})"
            return replace(failed("empty_response", message), model=reply.model)
        return Response(
            text=reply.text or "",
            tool_calls=calls,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            latency_s=reply.latency_s,
            turns=1,
            model=reply.model,
        )

    def identity(self) -> ModelIdentity:
        """The model asked for, and those that answered."""
        prompt = None if self._system_prompt is None else self._system_prompt.encode()
        return ModelIdentity(
            type="openai",
            model=self._chat.endpoint.model,
            reported=tuple(sorted(self._reported)),
            prompt_hash=None if prompt is None else hashlib.sha256(prompt).hexdigest(),
            detail={"parameters": self._parameters} if self._parameters else {},
        )

    def close(self) -> None:
        """Nothing to end."""


def _arguments(text: str) -> object:
    """A call's arguments as JSON, as the text they are where they are none."""
    try:
        return json.loads(text)
    except ValueError:
        return text
