"""A target that talks to simulated users: one turn of a case is a whole conversation."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from runevals.judge.user import User, UserMessage
from runevals.lib.nullable import known, total, whole_total
from runevals.records import Conversation, Message, ModelIdentity, Response, SimulatedConversation
from runevals.targets import Target, TargetAround


class UserTarget(TargetAround):
    """The target; turns of a simulated user are played until the user stops, or after `max_turns` prompts."""

    def __init__(self, target: Target, user: User) -> None:
        super().__init__(target)
        self._user = user

    def answer(self, conversation: Conversation) -> Response:
        """The answer; of a simulated user's turn, all answers as one. Raises TargetRefused, JudgeRefused."""
        user = conversation.user
        if user is None:
            return self._target.answer(conversation)
        messages: list[Message] = []
        written: list[UserMessage] = []
        answers: list[Response] = []
        ended = False
        for number in range(user.max_turns):
            history = (*conversation.history, *messages)
            dialogue = [message for message in history if message.role in ("user", "assistant")]
            message = self._user.next_message(user, dialogue)
            written.append(message)
            if message.problem is not None:
                answers.append(Response(problem=message.problem))
            if message.text is None:
                ended = message.problem is None
                break
            turn = conversation.turn + number  # the first one alone begins a conversation
            response = self._target.answer(
                replace(conversation, prompt=message.text, history=history, turn=turn, user=None)
            )
            answers.append(response)
            messages += [Message(role="user", content=message.text)]
            if response.problem is not None:
                break
            messages += [Message(role="assistant", content=response.text)]
        return _together(answers, _talk(messages, written, ended=ended))

    def identity(self) -> ModelIdentity:
        """The target's, with the model that plays users."""
        identity = self._target.identity()
        return replace(identity, detail={**identity.detail, "simulated_user": self._user.identity()})


def _talk(messages: Sequence[Message], written: Sequence[UserMessage], *, ended: bool) -> SimulatedConversation:
    sent = [message for message in written if message.model is not None]
    return SimulatedConversation(
        messages=tuple(messages),
        ended=ended,
        model=sent[-1].model if sent else None,
        cost_usd=total(message.cost_usd for message in sent),
        input_tokens=whole_total(message.input_tokens for message in sent),
        output_tokens=whole_total(message.output_tokens for message in sent),
    )


def _together(answers: Sequence[Response], talk: SimulatedConversation) -> Response:
    """The last answer, with the texts, tool calls and amounts of all of them."""
    last = answers[-1]
    paid = [answer for answer in answers if answer.problem is None or answer.model is not None]
    calls = [answer.tool_calls for answer in paid]  # None: an answer does not report them
    every = tuple(call for some in known(calls) for call in some)
    return replace(
        last,
        text="\n\n".join(answer.text for answer in answers if answer.text),
        tool_calls=every if calls and None not in calls else None,
        citations=tuple(cited for answer in paid for cited in answer.citations or ()) or last.citations,
        cost_usd=total(answer.cost_usd for answer in paid),
        input_tokens=whole_total(answer.input_tokens for answer in paid),
        output_tokens=whole_total(answer.output_tokens for answer in paid),
        reasoning_tokens=whole_total(answer.reasoning_tokens for answer in paid),
        latency_s=total(answer.latency_s for answer in paid),
        turns=whole_total(answer.turns for answer in paid),
        refused=tuple(tool for answer in paid for tool in answer.refused),
        cached=any(answer.cached for answer in paid),
        value=None,
        conversation=talk,
    )
