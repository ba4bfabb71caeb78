"""Target, judge and simulated user that send nothing once a run is to stop, and count what is spent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TypeVar

from msgspec.structs import replace

from runevals.judge.model import Judge
from runevals.judge.user import User, UserMessage
from runevals.lib.parsing.canonical import fingerprint
from runevals.records import Conversation, Message, ModelIdentity, Problem, PromptTemplate, Response, SimulatedUser
from runevals.records.errors import JudgeRefused, TargetRefused
from runevals.records.judgement import Judgement, Question
from runevals.run.world.budget import Budget
from runevals.targets import Target, TargetAround

T = TypeVar("T")


class _Bounds:
    """The budget of calls, and how many run at once; None: what is called enforces that itself."""

    def __init__(self, budget: Budget, at_once: int | None, *, reported: bool) -> None:
        """With `reported`, a refusal after something was paid for ends the run as a spent budget does."""
        self.budget = budget
        self._reported = reported
        self._places = nullcontext() if at_once is None else threading.BoundedSemaphore(at_once)

    @property
    def problem(self) -> Problem | None:
        """Why nothing more is sent."""
        return self.budget.stop.problem

    def call(self, call: Callable[[], T], unanswered: Callable[[Problem], T]) -> T:
        """What it returns; after a stop, `unanswered` with its problem. Raises TargetRefused, JudgeRefused."""
        try:
            with self._places:
                return call() if self.problem is None else unanswered(self.problem)
        except (TargetRefused, JudgeRefused) as refusal:
            if not self._reported or not self.budget.answers:
                raise
            return unanswered(self.budget.stop.refused(str(refusal)))


class BoundedTarget(TargetAround):
    """A target within a budget."""

    def __init__(
        self,
        target: Target,
        budget: Budget,
        *,
        template: PromptTemplate | None = None,
        at_once: int | None = None,
        reported: bool = False,
    ) -> None:
        """`template`: what its prompts are filled into before it is asked, a part of its identity."""
        super().__init__(target)
        self._template = template
        self._bounds = _Bounds(budget, at_once, reported=reported)
        self._is_free = target.identity().type == "recorded"

    def answer(self, conversation: Conversation) -> Response:
        """The target's answer; after a stop, the problem that made it. Raises TargetRefused."""
        bounds = self._bounds
        response = bounds.call(
            lambda: self._target.answer(conversation), lambda problem: Response(problem=problem)
        )
        answered = response.problem is None or response.model is not None  # what came back was paid for
        if answered and not response.cached and not self._is_free:
            bounds.budget.spend(response)
        return response if answered or bounds.problem is None else Response(problem=bounds.problem)

    def identity(self) -> ModelIdentity:
        """The target's; its prompt is the system prompt and the template."""
        identity, template = self._target.identity(), self._template
        if template is None:
            return identity
        messages = [[message.role, message.content] for message in template.messages]
        return replace(identity, prompt_hash=fingerprint([identity.prompt_hash, messages]))


class BoundedJudge:
    """A judge within the same budget, asked at most `at_once` questions at a time."""

    def __init__(self, judge: Judge, budget: Budget, *, at_once: int, reported: bool = False) -> None:
        self._judge = judge
        self._bounds = _Bounds(budget, at_once, reported=reported)
        self._is_free = judge.identity().type == "recorded"

    def ask(self, question: Question, *, case: str, turn: int, attempt: int) -> Judgement:
        """The judge's answer; after a stop, the problem that made it. Raises JudgeRefused."""
        bounds = self._bounds
        judgement = bounds.call(
            lambda: self._judge.ask(question, case=case, turn=turn, attempt=attempt),
            lambda problem: Judgement(score=None, problem=problem),
        )
        if judgement.model is not None and not self._is_free:
            bounds.budget.spend(judgement)
        lacking = judgement.score is None or any(vote.score is None for vote in judgement.votes)
        if lacking and bounds.problem is not None:
            return replace(judgement, score=None, votes=(), problem=bounds.problem)
        return judgement

    def identity(self) -> ModelIdentity:
        """The judge's."""
        return self._judge.identity()


class BoundedUser:
    """A simulated user within the same budget."""

    def __init__(self, user: User, budget: Budget, *, at_once: int, reported: bool = False) -> None:
        self._user = user
        self._bounds = _Bounds(budget, at_once, reported=reported)

    def next_message(self, user: SimulatedUser, conversation: Sequence[Message]) -> UserMessage:
        """What the user says; after a stop, the problem that made it. Raises JudgeRefused."""
        bounds = self._bounds
        message = bounds.call(
            lambda: self._user.next_message(user, conversation), lambda problem: UserMessage(problem=problem)
        )
        if message.model is not None:
            bounds.budget.spend(message)
        if message.problem is not None and bounds.problem is not None:
            return replace(message, problem=bounds.problem)
        return message

    def identity(self) -> dict[str, object]:
        """The model's."""
        return self._user.identity()
