"""A target that is called from the nodes of a cluster."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from runevals.records import Conversation, ModelIdentity, Response
from runevals.records.errors import TargetRefused
from runevals.run.cluster.node_pool import MOST_TRIES, Nodes, NodesLost
from runevals.targets.conversation_ids import ConversationIds
from runevals.targets.program_report import failed


class _Before(Struct, frozen=True, kw_only=True):
    """The state of a conversation: the node of its last turn, and the endpoint's id."""

    node: str
    conversation_id: object


class ClusterTarget:
    """Hands each conversation to a node. Its turns stay on one node while that is available."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._threads = ConversationIds()

    def answer(self, conversation: Conversation) -> Response:
        """A node's answer. Raises TargetRefused."""
        before = self._threads.id_of(conversation)
        node, conversation_id = (
            (before.node, before.conversation_id) if isinstance(before, _Before) else ("", None)
        )
        try:
            answered, node = self._nodes.ask(conversation, conversation_id, node)
        except NodesLost:
            return failed("target_failed", f"the nodes that were asked for it were lost, {MOST_TRIES} in a row")
        if answered.refused is not None:
            raise TargetRefused(answered.refused)
        self._threads.keep(conversation, _Before(node=node, conversation_id=answered.conversation_id))
        return answered.response

    def identity(self) -> ModelIdentity:
        """The models that answered on all nodes."""
        return _together(self._nodes.identities())

    def close(self) -> None:
        """Ends our processes on the nodes."""
        self._nodes.close()


def _together(identities: Sequence[ModelIdentity]) -> ModelIdentity:
    """The identities of all nodes combined."""
    models = sorted({model for one in identities for model in (one.model or "").split(" + ") if model})
    knows_most = max(identities, key=lambda one: len(one.detail))
    reported = sorted({model for one in identities for model in one.reported})
    return replace(knows_most, model=" + ".join(models) or None, reported=tuple(reported))
