"""What was asked of the target and what came back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runevals.records.lazy_fields import large
from runevals.records.problem import Problem
from runevals.records.workspace import Probe, Workspace, WorkspaceChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call the target made; `ok` is None where the target does not say."""

    name: str
    input: object = None
    output: str | None = None
    ok: bool | None = None
    mock: str | None = None  # the mock that answered it, as `Tool:N`, N from 1 over the mocks of that tool
    duration_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A source the target named beside its text."""

    text: str
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What came with an answer that tells whether it was made now, or given again by a cache on the way to it."""

    response_id: str | None = None  # the provider's
    made_at: float | None = None  # seconds since 1970, as the provider says it
    cached_tokens: int | None = None  # of the prompt, that the provider had kept
    from_cache: bool = False  # the cache itself says so


@large("text", "tool_calls", "citations", "value", "raised", "workspace")
@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One answer of the target. None always means that the target did not report it."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] | None = None
    skills: tuple[str, ...] | None = None  # that it could load, whether it did or not
    citations: tuple[Citation, ...] | None = None
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_s: float | None = None
    turns: int | None = None
    model: str | None = None  # as the provider reports it back
    cached: bool = False
    value: object = None  # the JSON value behind `text`, of a target that returns values
    raised: str | None = None  # the error that the call ended with, where ending so is an answer
    delivery: Delivery | None = None
    reasoning_tokens: int | None = None  # of the output
    session: str | None = None  # by which an agent goes on with the conversation
    refused: tuple[str, ...] = ()  # tools that were called and not permitted
    workspace: WorkspaceChanges | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation, `role` as in chat completions."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What a target is asked: the prompt of one turn, after the messages before it."""

    suite: str
    case: str
    attempt: int
    turn: int  # from 1
    prompt: str
    history: tuple[Message, ...] = ()
    model: str | None = None  # what the suite asks for; a target's own goes before it
    parameters: Mapping[str, object] = field(default_factory=dict)
    metadata: Mapping[str, object] = field(default_factory=dict)
    cwd: Path | None = None
    timeout_s: float | None = None
    thread: str = ""  # the same for all turns of one trial
    turns: int = 1  # of the case
    workspace: Workspace | None = None
    files: Mapping[str, Path] = field(default_factory=dict)  # of the case, for the workspace
    probes: tuple[Probe, ...] = ()  # what the checks of this turn look at in the workspace

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history and the prompt, in order."""
        return (*self.history, Message(role="user", content=self.prompt))


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTrace:
    """One turn as it went."""

    response: Response
    history: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """All turns of one trial, as many as the case has."""

    position: int  # of the trial in the plan
    turns: tuple[TurnTrace, ...]


def same_tool(called: str, wanted: str) -> bool:
    """Whether a call is of the tool that a suite names; capitals do not count, nor does a server's prefix.

    `mcp__docs__fetch` and `docs.fetch` are found by those names and by `fetch`.
    """
    called, wanted = called.casefold(), wanted.casefold()
    return called == wanted or any(called.rpartition(mark)[2] == wanted for mark in ("__", ".", "/"))


def leaves(value: object) -> Iterator[object]:
    """What a JSON value holds at any depth, but for lists and objects; names of fields are none of it."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)
    else:
        yield value
