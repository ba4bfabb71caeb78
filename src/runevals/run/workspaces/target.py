"""A target whose attempts each work in a fresh folder."""

from __future__ import annotations

from msgspec.structs import replace

from runevals.programs.processes import end_those_in, in_attempt
from runevals.records import WORKSPACE_BROKEN, Conversation, Problem, Response
from runevals.repository.fresh_copy import OF_CONTENT, CannotCopy
from runevals.run.workspaces.changes import Attempt
from runevals.run.workspaces.folders import NotMade, Workspaces
from runevals.targets import Target, TargetAround


class WorkspaceTarget(TargetAround):
    """A target whose attempts each work in a fresh folder."""

    def __init__(self, target: Target, workspaces: Workspaces) -> None:
        super().__init__(target)
        self._workspaces = workspaces

    def answer(self, conversation: Conversation) -> Response:
        """The answer, with what it changed in its workspace. Raises TargetRefused."""
        with in_attempt():
            return self._answer(conversation)

    def _answer(self, conversation: Conversation) -> Response:
        if conversation.workspace is None:
            return self._target.answer(conversation)
        try:
            attempt = self._workspaces.open(conversation)
        except NotMade as error:
            return Response(
                problem=Problem(code="workspace_failed", message=f"its workspace cannot be made: {error}")
            )
        over = True
        try:
            try:
                response = self._target.answer(replace(conversation, cwd=attempt.work, home=attempt.home))
            finally:
                end_those_in(attempt.root)  # a shell of an agent leads a session of its own
            response = self._with_changes(response, attempt, conversation)
            over = response.problem is not None or conversation.turn >= conversation.turns
        finally:
            if over:
                self._workspaces.end(conversation.thread)
        return response

    def _with_changes(self, response: Response, attempt: Attempt, conversation: Conversation) -> Response:
        probed = conversation if response.problem is None else replace(conversation, probes=())
        try:
            return replace(response, workspace=self._workspaces.looked_at(attempt, probed))
        except (OSError, CannotCopy) as error:
            broken = isinstance(error, CannotCopy) or error.errno in OF_CONTENT
            code = WORKSPACE_BROKEN if broken else "workspace_failed"
            reason = error.strerror if isinstance(error, OSError) and broken else error
            problem = Problem(code=code, message=f"it left a workspace that cannot be read: {reason}")
            return replace(response, problem=response.problem or problem)

    def close(self) -> None:
        """Ends the target, and removes all folders."""
        super().close()
        self._workspaces.close()
