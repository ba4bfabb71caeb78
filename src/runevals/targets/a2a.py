"""An Agent2Agent endpoint, by the official SDK: one message a turn, tasks waited for until they end."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from runevals.models.http.throttle import CallFailed, final_failure
from runevals.records import Conversation, ModelIdentity, Problem, Response
from runevals.records.errors import InvalidSettings, TargetRefused
from runevals.records.traits import Traits
from runevals.targets import Target
from runevals.targets.chat_settings import host_of, unanswered
from runevals.targets.kind import NOT_SENT, Making, refusing
from runevals.targets.web import WebTargetSettings

if TYPE_CHECKING:
    from runevals.targets.a2a_client import AgentClient, AgentReply

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
_AT_WORK = ("submitted", "working")
_ENDED_BADLY: Mapping[str, tuple[str, str]] = {
    "failed": ("target_failed", "the agent failed"),
    "rejected": ("target_failed", "the agent rejected the task"),
    "canceled": ("target_failed", "the agent cancelled the task"),
    "auth_required": ("target_auth", "the agent waits for a user to sign in"),
}


class A2ATarget:
    """Sends each prompt as a message; the agent's context id is passed from turn to turn."""

    def __init__(self, settings: A2ASettings, making: Making) -> None:
        """Raises InvalidSettings if the SDK is not installed, or a header lacks its variable."""
        try:
            from runevals.targets.a2a_client import AgentClient
        except ImportError as error:
            raise InvalidSettings(
                f"the a2a target needs the A2A SDK ({error}); install it with: pip install 'runevals[a2a]'"
            ) from None
        self._settings, self._web, self._timeout_s = settings, settings.web, settings.timeout_s
        self._throttle = making.throttles[host_of(settings.web.url)]
        self._threads = making.conversations
        self._lock = threading.Lock()
        self._refused: str | None = None
        self._client: AgentClient = AgentClient(
            self._web, self._web.header_values(making.environment), self._timeout_s
        )

    def answer(self, conversation: Conversation) -> Response:
        """The agent's answer; a task that is not completed has none."""
        self._know_the_agent()
        conversation_id = self._threads.id_of(conversation)
        context_id, task_id = conversation_id if isinstance(conversation_id, tuple) else (None, None)
        start = time.monotonic()
        try:
            # A repeated message keeps its id, so that the agent can recognise it.
            ids = {"message_id": str(uuid.uuid4()), "context_id": context_id, "task_id": task_id}
            reply = self._throttle.call(partial(self._client.send, conversation.prompt, ids), final_failure)
            reply = self._await_end(reply, start + self._timeout_s)
        except CallFailed as error:
            return unanswered(error)
        problem = _problem(reply, self._timeout_s)
        if problem is not None:
            return Response(problem=problem)
        waiting_task = reply.task_id if reply.state == "input_required" else None
        self._threads.keep(conversation, (reply.context_id or context_id, waiting_task))
        return Response(
            text=reply.text, value=reply.value, citations=reply.citations, latency_s=time.monotonic() - start
        )

    def identity(self) -> ModelIdentity:
        """The agent as its card names it, once that was read."""
        return ModelIdentity(
            type="a2a",
            deterministic=self._settings.deterministic,
            detail={"url": self._web.display_url, **self._client.card},
        )

    def close(self) -> None:
        """Ends running calls and their thread."""
        self._client.close()

    def _know_the_agent(self) -> None:
        """Reads the card, once for all threads. Raises TargetRefused: without it, no call can be sent."""
        with self._lock:
            if self._refused is None and not self._client.card:
                try:
                    self._throttle.call(self._client.read_card, final_failure)
                except CallFailed as error:
                    self._refused = str(error)
        if self._refused is not None:
            raise TargetRefused(f"the agent card of {self._web.display_url} cannot be read: {self._refused}")

    def _await_end(self, reply: AgentReply, deadline: float) -> AgentReply:
        """The final reply: polls while the task is working and there is time."""
        pause = FIRST_PAUSE_S
        while reply.state in _AT_WORK and time.monotonic() + pause < deadline:
            time.sleep(pause)
            pause = min(LONGEST_PAUSE_S, 1.5 * pause)
            reply = self._throttle.call(partial(self._client.task, reply.task_id or ""), final_failure)
        return reply


def _problem(reply: AgentReply, timeout_s: float) -> Problem | None:
    """Why this reply is not an answer; None if it is one."""
    if reply.state in _AT_WORK:
        return Problem(code="target_timeout", message=f"the task is still {reply.state} after {timeout_s:g} s")
    if reply.state in _ENDED_BADLY:
        code, message = _ENDED_BADLY[reply.state]
        return Problem(code=code, message=f"{message}: {reply.text}" if reply.text else message)
    if reply.state not in ("completed", "input_required"):
        return Problem(code="target_unparseable", message=f"the task is in an unknown state: {reply.state}")
    if not reply.text and reply.value is None:
        return Problem(code="empty_response", message=f"the task is {reply.state}, but has no text")
    return None


class A2ASettings(WebTargetSettings, frozen=True, kw_only=True):
    """An Agent2Agent endpoint."""

    has_template = False
    one_message = "an a2a agent is sent one text"
    traits = Traits(is_paid=True, takes_model=False)
    refuses = refusing(**NOT_SENT)

    def build(self, making: Making) -> Target:
        """Raises InvalidSettings for a header without its variable, and without the SDK."""
        return A2ATarget(self, making)
