"""The journal of a run: every answer is stored when it arrives, so that a resumed run does not ask again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from runevals.judge.model import Judge
from runevals.lib.parsing.record_json import from_json, json_text
from runevals.lib.storage.cache import SignedCache
from runevals.lib.text.secrets import without_secrets
from runevals.records import WORKSPACE_BROKEN, Conversation, ModelIdentity, Response
from runevals.records.judgement import Judgement, Question
from runevals.run.world.budget import Budget
from runevals.targets import Target

T = TypeVar("T")
Inner = TypeVar("Inner", bound=Target | Judge)


class Journal(Struct, frozen=True, kw_only=True):
    """Where the answers of one measured side are written; `side` tells it from the others of its run.

    An answer that holds a secret is not written, and a run that goes on asks for it again. Answers are signed: one
    that a bad disk or a stranger changed is none.
    """

    cache: SignedCache
    side: str
    redact: Callable[[str], str]
    target: str = ""  # its name, if there are several

    def of(self, side: str) -> Journal:
        """The journal for another side."""
        return replace(self, side=f"{self.target}: {side}" if self.target else side)

    def of_target(self, name: str) -> Journal:
        """The journal for one of several targets."""
        return replace(self, target=name)

    def key(self, request: object) -> str:
        """The key of the answer to this request."""
        return hashlib.sha256(json_text([self.side, request]).encode()).hexdigest()

    def read(self, key: str, kind: type[T]) -> T | None:
        """The stored answer; None if there is none, or it cannot be read."""
        cache = self.cache.get(key)
        if cache is not None:
            with suppress(ValueError):
                return from_json(cache, kind)
        return None

    def write(self, key: str, answer: object) -> None:
        """Stores `answer`."""
        if without_secrets(answer, self.redact) is answer:
            self.cache.put(key, json_text(answer))


class _Journalled(Generic[Inner]):
    """The journal of a target or a judge, and the models that answered according to it."""

    def __init__(self, inner: Inner, journal: Journal, budget: Budget) -> None:
        self._inner = inner
        self._journal = journal
        self._budget = budget
        self._reported: set[str] = set()
        who = inner.identity()  # what is known of a model before it has answered
        detail = {name: value for name, value in who.detail.items() if name != "dropped_parameters"}
        self._who = [who.type, who.model, who.prompt_hash, detail]

    def identity(self) -> ModelIdentity:
        """Its own, with the models that answered before."""
        identity = self._inner.identity()
        return replace(identity, reported=tuple(sorted({*identity.reported, *self._reported})))


class JournalledTarget(_Journalled[Target]):
    """Answers from the journal if possible; otherwise calls the target and stores the answer."""

    def __init__(self, target: Target, journal: Journal, budget: Budget) -> None:
        super().__init__(target, journal, budget)
        self._unwritten: dict[str, list[tuple[str, Response]]] = {}

    def answer(self, conversation: Conversation) -> Response:
        """The answer. Raises TargetRefused."""
        content = {name: getattr(conversation, name) for name in _FIELDS}  # a checkout's folders differ each time
        content["history"] = [[message.role, message.content] for message in conversation.history]
        key = self._journal.key(["target", self._who, content])
        response = self._journal.read(key, Response)
        if response is None:
            response = self._inner.answer(conversation)
            self._keep(key, response, conversation)
        else:
            self._reported.update(filter(None, [response.model]))
            self._budget.require_known(response)
        return response

    def _keep(self, key: str, response: Response, conversation: Conversation) -> None:
        """Writes an answer. Turns in a workspace, which is gone after the run, are written together."""
        turns = [*self._unwritten.pop(conversation.thread, ()), (key, response)]
        is_broken = response.problem is not None and response.problem.code == WORKSPACE_BROKEN
        if response.problem is not None and not is_broken:
            return
        if conversation.workspace is not None and conversation.turn < conversation.turns and not is_broken:
            self._unwritten[conversation.thread] = turns
            return
        for one, answer in reversed(turns):  # the first turn last: if it is there, so are the others
            self._journal.write(one, answer)

    def close(self) -> None:
        """Ends the target."""
        self._inner.close()


class JournalledJudge(_Journalled[Judge]):
    """A judge whose judgements are written to the journal."""

    def ask(self, question: Question, *, case: str, turn: int, attempt: int) -> Judgement:
        """The judgement. Raises JudgeRefused."""
        key = self._journal.key(["judge", self._who, to_builtins(question), case, turn, attempt])
        judgement = self._journal.read(key, Judgement)
        if judgement is None:
            judgement = self._inner.ask(question, case=case, turn=turn, attempt=attempt)
            if judgement.problem is None:
                self._journal.write(key, judgement)
        else:
            self._reported.update(filter(None, (judgement.model or "").split(", ")))
            self._budget.require_known(judgement)
        return judgement


# The content of a workspace is in the fingerprints of the suites.
_NOT_ASKED = ("cwd", "home", "workspace", "files", "probes", "restorable", "history")
_FIELDS = tuple(name for name in Conversation.__struct_fields__ if name not in _NOT_ASKED)
