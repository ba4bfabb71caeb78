"""The node's side: the target, built there with the environment of that machine."""

from __future__ import annotations

import os
import pickle
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from runevals.models.chat.prices import Prices
from runevals.models.http.throttle import Throttles
from runevals.records import Conversation, ModelIdentity, Response
from runevals.records.errors import RunevalsError
from runevals.run.cluster.repository_archive import PathMap, unpack
from runevals.targets import Target
from runevals.targets.conversation_ids import ConversationIds
from runevals.targets.kind import Making, TargetSettings
from runevals.version import __version__


class NodeSpec(Struct, frozen=True, kw_only=True):
    """What every node is sent. `keys` are names of variables, whose values each node has of its own."""

    target: TargetSettings
    prices: Prices
    not_from: Path | None = None  # the checkout whose code must not run as this one's
    keys: tuple[str, ...]
    repository: tuple[Path, ...]  # where it lies on the machine that sends: as named, and resolved


class NodeReady(Struct, frozen=True, kw_only=True):
    """Whether a node can call the target: `identity`, or the reason why not."""

    identity: ModelIdentity | None = None
    problem: str = ""


class NodeAnswer(Struct, frozen=True, kw_only=True):
    """One answer, with the state of its conversation. `refused`: the target accepts no calls."""

    response: Response
    identity: ModelIdentity
    conversation_id: object = None
    refused: str | None = None


class Node:
    """The actor on each node: one process that calls in several threads, with its own throttle."""

    def __init__(self) -> None:
        self._threads = ConversationIds()
        self._opened = ExitStack()
        self._target: Target | None = None
        self._moved: PathMap | None = None
        self._stopped = False

    def prepare(self, version: str, shipped: bytes, parcel: bytes | None) -> NodeReady:
        """Builds the target of a NodeSpec, which only the same version can read; `parcel` has its files."""
        if version != __version__:
            return NodeReady(problem=f"runevals {__version__} is installed there, and {version} here")
        shipment: NodeSpec = pickle.loads(shipped)  # noqa: S301 - of the driver, whose code runs here anyway
        missing = [name for name in shipment.keys if not os.environ.get(name)]
        if missing:
            reason = f"the environment variable {missing[0]} is not set there"
            return NodeReady(problem=f"{reason}; set it where `ray start` is called: keys are not sent to nodes")
        try:
            self._target = self._build(shipment, parcel)
        except RunevalsError as error:
            return NodeReady(problem=str(error))
        self._opened.callback(self._target.close)
        return NodeReady(identity=self._target.identity())

    def answer(self, conversation: Conversation, conversation_id: object) -> NodeAnswer:
        """The target's answer."""
        assert self._target is not None  # noqa: S101 - asked only once it is ready
        if conversation_id is not None:  # this turn's conversation may have begun on another node
            self._threads.keep(conversation, conversation_id)
        if self._moved is not None and conversation.cwd is not None:
            conversation = replace(conversation, cwd=self._moved.path(conversation.cwd))
        refused = None
        try:
            response = self._target.answer(conversation)
        except RunevalsError as error:
            response, refused = Response(), str(error)
        return NodeAnswer(
            response=response,
            identity=self._target.identity(),
            conversation_id=self._threads.id_of(replace(conversation, turn=conversation.turn + 1)),
            refused=refused,
        )

    def stop(self) -> None:
        """Nothing more is sent."""
        self._stopped = True

    def close(self) -> None:
        """Ends what the target started, and forgets the files."""
        self.stop()
        self._opened.close()

    def _build(self, shipment: NodeSpec, parcel: bytes | None) -> Target:
        target = shipment.target
        if parcel is not None:
            folder = TemporaryDirectory(prefix="runevals-", ignore_cleanup_errors=True)
            now = Path(self._opened.enter_context(folder)).resolve()
            unpack(parcel, now)
            self._moved = PathMap(before=shipment.repository, now=now)
            target = replace(target, base=self._moved.path(target.base))
        making = Making(
            environment=os.environ,
            throttles=Throttles(stopped=lambda: self._stopped),
            conversations=self._threads,
            prices=shipment.prices,
            not_from=shipment.not_from,
        )
        return target.build(making)
