"""Target, judge and simulated user that send nothing once a run is to stop, and count what is spent."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import nullcontext

from msgspec.structs import replace

from runevals.judge.model import Judge
from runevals.judge.user import User, UserMessage
from runevals.records import Conversation, Message, ModelIdentity, Response, SimulatedUser
from runevals.records.errors import JudgeRefused, TargetRefused
from runevals.records.judgement import Judgement, Question
from runevals.run.world.budget import Budget
from runevals.targets import Target


class BoundedTarget:
    """A target within a budget."""

    def __init__(
        self, target: Target, budget: Budget, *, at_once: int | None = None, reported: bool = False
    ) -> None:
        """At most `at_once` calls run at once; None: the target enforces that itself.

        With `reported`, a refusal after something was paid for ends the run as a spent budget does.
        """
        self._target = target
        self._budget = budget
        self._reported = reported
        self._places = nullcontext() if at_once is None else threading.BoundedSemaphore(at_once)
        self._is_free = target.identity().type == "recorded"

    def answer(self, conversation: Conversation) -> Response:
        """The target's answer; after a stop, the problem that made it. Raises TargetRefused."""
        try:
            with self._places:
                if self._budget.stop.problem is not None:
                    return Response(problem=self._budget.stop.problem)
                response = self._target.answer(conversation)
        except TargetRefused as refusal:
            if not self._reported or not self._budget.was_spent:
                raise
            return Response(problem=self._budget.stop.refused(str(refusal)))
        answered = response.problem is None or response.model is not None  # what came back was paid for
        if answered and not response.cached and not self._is_free:
            self._budget.spend(response)
        if not answered and self._budget.stop.problem is not None:
            return Response(problem=self._budget.stop.problem)
        return response

    def identity(self) -> ModelIdentity:
        """The target's."""
        return self._target.identity()

    def close(self) -> None:
        """Ends the target."""
        self._target.close()


class BoundedJudge:
    """A judge within the same budget, asked at most `at_once` questions at a time."""

    def __init__(self, judge: Judge, budget: Budget, *, at_once: int, reported: bool = False) -> None:
        """`reported` as for the target."""
        self._judge = judge
        self._budget = budget
        self._reported = reported
        self._places = threading.BoundedSemaphore(at_once)
        self._is_free = judge.identity().type == "recorded"

    def ask(self, question: Question, *, case: str, turn: int, attempt: int) -> Judgement:
        """The judge's answer; after a stop, the problem that made it. Raises JudgeRefused."""
        with self._places:
            if self._budget.stop.problem is not None:
                return Judgement(score=None, problem=self._budget.stop.problem)
            try:
                judgement = self._judge.ask(question, case=case, turn=turn, attempt=attempt)
            except JudgeRefused as refusal:
                if not self._reported or not self._budget.was_spent:
                    raise
                return Judgement(score=None, problem=self._budget.stop.refused(str(refusal)))
        if judgement.model is not None and not self._is_free:
            self._budget.spend(judgement)
        lacking = judgement.score is None or any(vote.score is None for vote in judgement.votes)
        if lacking and self._budget.stop.problem is not None:
            return replace(judgement, score=None, votes=(), problem=self._budget.stop.problem)
        return judgement

    def identity(self) -> ModelIdentity:
        """The judge's."""
        return self._judge.identity()


class BoundedUser:
    """A simulated user within the same budget."""

    def __init__(self, user: User, budget: Budget, *, at_once: int, reported: bool = False) -> None:
        """`at_once` and `reported` as for the judge."""
        self._user = user
        self._budget = budget
        self._reported = reported
        self._places = threading.BoundedSemaphore(at_once)

    def next_message(self, user: SimulatedUser, conversation: Sequence[Message]) -> UserMessage:
        """What the user says; after a stop, the problem that made it. Raises JudgeRefused."""
        with self._places:
            if self._budget.stop.problem is not None:
                return UserMessage(problem=self._budget.stop.problem)
            try:
                message = self._user.next_message(user, conversation)
            except JudgeRefused as refusal:
                if not self._reported or not self._budget.was_spent:
                    raise
                return UserMessage(problem=self._budget.stop.refused(str(refusal)))
        if message.model is not None:
            self._budget.spend(message)
        if message.problem is not None and self._budget.stop.problem is not None:
            return replace(message, problem=self._budget.stop.problem)
        return message

    def identity(self) -> dict[str, object]:
        """The model's."""
        return self._user.identity()
