"""The nodes of a cluster that answer: which are ready, least busy or lost."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from runevals.lib.nullable import if_known
from runevals.records import Conversation, ModelIdentity
from runevals.records.errors import InvalidSettings, TargetRefused
from runevals.run.cluster.node import Node, NodeAnswer, NodeReady, NodeSpec
from runevals.version import __version__

CPUS = 0.1  # of each node: a run that verifies a failing verdict has several sides, each with its own processes
START_S = 3.0  # after the first, for the others that are free
PATIENCE_S = 60.0  # until the first has a CPU for us
GROW_S = 900.0  # the same if attempts book resources: an autoscaler may have to start machines
LOOK_EVERY_S = 0.1
MOST_TRIES = 5  # of one answer, on nodes that are lost meanwhile
SHUTDOWN_TIMEOUT_S = 0.5


class RayOptions(Struct, frozen=True, kw_only=True):
    """What each call books on the cluster, and the environment of its process; None: Ray's own.

    With resources there is a process a call, which Ray places; those that wait are what its autoscaler sees.
    """

    num_cpus: float | None = None
    num_gpus: float | None = None
    runtime_env: Mapping[str, Any] | None = None

    @property
    def per_call(self) -> bool:
        """Whether each call has a process and resources of its own."""
        return self.num_cpus is not None or self.num_gpus is not None

    def __str__(self) -> str:
        amounts = ((self.num_cpus, "CPU"), (self.num_gpus, "GPU"))
        return " and ".join(f"{number:g} {name}" for number, name in amounts if number) or "a place"


class NodesLost(Exception):
    """An answer whose nodes were lost, one after the other."""


class _Member(Struct, kw_only=True, eq=False):
    id: str
    display_name: str
    actor: Any
    under_way: int = 0
    identity: ModelIdentity = field(default_factory=lambda: ModelIdentity(type=""))


class Nodes:
    """One process on every node with a free CPU, or one a call; calls go to the least busy one."""

    def __init__(
        self,
        shipment: NodeSpec,
        parcel: bytes | None,
        options: RayOptions,
        *,
        at_once: int,
        say: Callable[[str], None],
    ) -> None:
        """`parcel` has the files that the target needs. Raises TargetRefused if no node can answer."""
        import ray

        self._ray: Any = ray
        self._options = options
        self._at_once = at_once
        self._room = 1 if options.per_call else at_once  # calls of one process
        self._say = say
        self._lock = threading.Condition()
        self._members: dict[str, _Member] = {}
        self._joining: dict[Any, _Member] = {}
        self._gone: list[ModelIdentity] = []
        self._complaint = "none has a CPU that is free"
        self._closed = False
        self._shipped = pickle.dumps(shipment)
        self._parcel = if_known(ray.put, parcel)
        try:
            self._gather()
        except BaseException:
            self.close()
            raise

    def ask(self, conversation: Conversation, conversation_id: object, home: str) -> tuple[NodeAnswer, str]:
        """(the answer, the node that gave it); `home` is the one that gave the conversation's turn before.

        What a lost node had under way is asked again of another. Raises TargetRefused without any, NodesLost.
        """
        for _ in range(MOST_TRIES):
            member = self._least_busy(home)
            try:
                answered: NodeAnswer = self._ray.get(member.actor.answer.remote(conversation, conversation_id))
            except self._ray.exceptions.RayTaskError:
                raise  # an internal error, which another node would have as well
            except self._ray.exceptions.RayError:
                self._lost(member)
            else:
                member.identity = answered.identity
                return answered, member.id
            finally:
                with self._lock:
                    member.under_way -= 1
                    self._lock.notify()
            if self._closed:
                break
        raise NodesLost

    def identities(self) -> Sequence[ModelIdentity]:
        """The models that answered, as each node reports them."""
        with self._lock:
            return (*self._gone, *(member.identity for member in self._members.values()))

    def stop(self) -> None:
        """Stops further calls on the nodes."""
        if not self._closed:
            self._tell("stop")

    def close(self) -> None:
        """Ends the processes on the nodes and their children."""
        self._closed = True
        closing = self._tell("close")
        if closing:
            self._ray.wait(closing, num_returns=len(closing), timeout=SHUTDOWN_TIMEOUT_S)
        for member in (*self._members.values(), *self._joining.values()):
            self._ray.kill(member.actor)

    def _gather(self) -> None:
        """Starts all processes at once; at least one must become ready."""
        if self._options.per_call:
            for number in range(1, self._at_once + 1):
                self._invite(f"process {number}", f"of process {number}")
            with self._lock:
                self._welcome(START_S, at_least=1)
                if not self._members and self._joining:
                    self._say(f"Ray: waiting for a node with {self._options} that is free")
                    self._complaint = f"none has {self._options} that is free"
                    self._welcome(GROW_S, at_least=1)
        else:
            for node in self._ray.nodes():
                if node["Alive"] and node["Resources"].get("CPU", 0) >= 1:
                    self._invite(node["NodeID"], node["NodeManagerHostname"])
            with self._lock:
                self._welcome(PATIENCE_S, at_least=1)
                self._welcome(START_S)
        self._least_busy("").under_way -= 1

    def _tell(self, method: str) -> list[Any]:
        with self._lock:
            return [getattr(member.actor, method).remote() for member in self._members.values()]

    def _invite(self, node_id: str, display_name: str) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        place: Any = "SPREAD" if self._options.per_call else NodeAffinitySchedulingStrategy(node_id, soft=False)
        try:
            actor = self._ray.remote(Node).options(
                num_cpus=(self._options.num_cpus or 0) if self._options.per_call else CPUS,
                num_gpus=self._options.num_gpus or 0,
                runtime_env=self._options.runtime_env,
                max_concurrency=self._room + 1,  # one for what ends it
                scheduling_strategy=place,
            )
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidSettings(
                f"Ray cannot run a call with these resources or this environment: {error}"
            ) from None
        member = _Member(id=node_id, display_name=display_name, actor=actor.remote())
        self._joining[member.actor.prepare.remote(__version__, self._shipped, self._parcel)] = member

    def _welcome(self, timeout_s: float, *, at_least: int | None = None) -> None:
        """Admits the nodes that have become ready; waits for at least `at_least`, else for all.

        Raises TargetRefused if one lacks what it needs.
        """
        done: list[Any] = []
        if self._joining:
            most = len(self._joining)
            self._ray.wait([*self._joining], num_returns=at_least or most, timeout=timeout_s)
            done, _ = self._ray.wait([*self._joining], num_returns=most, timeout=0)
        for ref in done:
            member = self._joining.pop(ref)
            try:
                ready: NodeReady = self._ray.get(ref)
            except self._ray.exceptions.RuntimeEnvSetupError as error:
                raise TargetRefused(f"Ray cannot make the environment of --ray-runtime-env: {error}") from None
            except self._ray.exceptions.RayError as error:
                reason = str(error).strip().splitlines()[-1]
                self._complaint = (
                    f"runevals cannot be loaded on the node {member.display_name} ({reason}); in the Python "
                    f"`ray start` on every node: pip install 'runevals[ray]=={__version__}'"
                )
                continue
            if ready.identity is None:
                raise TargetRefused(f"on the node {member.display_name} of the Ray cluster: {ready.problem}")
            member.identity = ready.identity
            self._members[member.id] = member

    def _least_busy(self, home: str) -> _Member:
        """Reserves a node for a call: `home` if it is still there."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            with self._lock:
                if self._closed:
                    raise NodesLost
                self._welcome(0)
                if self._members:
                    member = self._members.get(home) or min(
                        self._members.values(), key=lambda member: member.under_way
                    )
                    if member.under_way < self._room:
                        member.under_way += 1
                        return member
                elif not self._joining or time.monotonic() > deadline:
                    raise TargetRefused(f"no node of the Ray cluster can ask the target: {self._complaint}")
                self._lock.wait(LOOK_EVERY_S)

    def _lost(self, member: _Member) -> None:
        """Moves its calls elsewhere; if only the process died, it is started again."""
        with self._lock:
            if self._closed or self._members.get(member.id) is not member:
                return
            del self._members[member.id]
            self._gone.append(member.identity)
            self._complaint = f"the last one, {member.display_name}, was lost"
            self._ray.kill(member.actor)
            still_there = any(node["NodeID"] == member.id and node["Alive"] for node in self._ray.nodes())
            if still_there or self._options.per_call:
                self._invite(member.id, member.display_name)
        self._say(f"Ray: the node {member.display_name} was lost; its calls are repeated on another")
