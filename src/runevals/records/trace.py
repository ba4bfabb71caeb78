"""Calls to the target and its responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from msgspec import Struct

from runevals.records.problem import Problem
from runevals.records.values import Number, Whole
from runevals.records.workspace import Probe, Workspace, WorkspaceChanges


class ToolCall(Struct, frozen=True, kw_only=True, gc=False):
    """One tool call of the target; `ok` is None if the target does not report it."""

    name: str
    input: object = None
    output: str | None = None
    ok: bool | None = None
    mock: str | None = None  # the mock that answered it, as `Tool:N`, N from 1 over the mocks of that tool
    duration_s: Number | None = None


class Citation(Struct, frozen=True, kw_only=True, gc=False):
    """A source that the target reports beside its text."""

    text: str
    source: str | None = None


class Delivery(Struct, frozen=True, kw_only=True, gc=False):
    """How an answer came: whether it is whole, and new or repeated by an intermediate cache."""

    response_id: str | None = None  # the provider's
    made_at: Number | None = None  # seconds since 1970, from the provider
    cached_tokens: Whole | None = None  # of the prompt, from the provider's cache
    from_cache: bool = False  # the cache reports it
    cut: str | None = None  # "length" or "filter": the provider ended the answer before the model did


class Message(Struct, frozen=True, kw_only=True, gc=False):
    """One message of a conversation, `role` as in chat completions."""

    role: str
    content: str


class PromptTemplate(Struct, frozen=True, kw_only=True, gc=False):
    """Messages with `{{name}}` in them, the last one of the user; `display_path` is that of their file."""

    display_path: str
    messages: tuple[Message, ...]
    lent: Mapping[tuple[str, str], Mapping[str, object]] = {}  # by suite and key: of a case in another form


MOST_PROMPTS = 10  # of a simulated user whose suite does not say


class SimulatedUser(Struct, frozen=True, kw_only=True, gc=False):
    """A turn whose prompts a model writes, in the role of a user."""

    persona: str
    goal: str
    facts: tuple[str, ...] = ()
    max_turns: int = MOST_PROMPTS
    stop_when: str | None = None  # None: when the goal is reached

    def __str__(self) -> str:
        lines = [
            f"Simulated user: {self.persona}",
            f"Goal: {self.goal}",
            *(f"Fact: {fact}" for fact in self.facts),
        ]
        return "\n".join([*lines, *([f"Stops when: {self.stop_when}"] if self.stop_when else [])])


class SimulatedConversation(Struct, frozen=True, kw_only=True, gc=False):
    """What a simulated user and the target said to each other in one turn, and what the user's model took."""

    messages: tuple[Message, ...] = ()
    ended: bool = False  # by the user; False: by max_turns, or by a problem
    model: str | None = None
    cost_usd: Number | None = None
    input_tokens: Whole | None = None
    output_tokens: Whole | None = None


class Response(Struct, frozen=True, kw_only=True, gc=False):
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
    raised: str | None = None  # the error of the call, if an error is a valid answer
    delivery: Delivery | None = None
    reasoning_tokens: int | None = None  # of the output
    session: str | None = None  # by which an agent goes on with the conversation
    refused: tuple[str, ...] = ()  # tools that were called and not permitted
    workspace: WorkspaceChanges | None = None
    conversation: SimulatedConversation | None = None  # of a turn with a simulated user; `text` has all answers
    problem: Problem | None = None


class Conversation(Struct, frozen=True, kw_only=True, gc=False):
    """A call to a target: the prompt of one turn, after the messages before it."""

    suite: str
    case: str
    attempt: int
    turn: int  # from 1
    prompt: str
    history: tuple[Message, ...] = ()
    model: str | None = None  # of the suite; a model of the target has precedence
    parameters: Mapping[str, object] = {}
    metadata: Mapping[str, object] = {}
    cwd: Path | None = None
    home: Path | None = None  # a HOME of the attempt's own
    timeout_s: float | None = None
    thread: str = ""  # the same for all turns of one trial
    turns: int = 1  # of the case
    workspace: Workspace | None = None
    files: Mapping[str, Path] = {}  # of the case, for the workspace
    probes: tuple[Probe, ...] = ()  # what the checks of this turn look at in the workspace
    restorable: tuple[str, ...] = ()  # paths in the workspace that checks of any turn may restore
    user: SimulatedUser | None = None  # who writes the prompts of this turn; `prompt` describes it
    env: Mapping[str, str] = {}  # more variables for a program under test

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history and the prompt, in order."""
        return (*self.history, Message(role="user", content=self.prompt))


class TurnTrace(Struct, frozen=True, kw_only=True, gc=False):
    """One turn with its response."""

    response: Response
    history: tuple[Message, ...] = ()


class Trace(Struct, frozen=True, kw_only=True, gc=False):
    """All turns of one trial, as many as the case has."""

    position: int  # of the trial in the plan
    turns: tuple[TurnTrace, ...]


def same_tool(name: str, tool: str) -> bool:
    """Whether a call is of the tool that a suite names; case and a server's prefix are ignored.

    `mcp__docs__fetch` and `docs.fetch` match those names and `fetch`.
    """
    name, tool = name.casefold(), tool.casefold()
    return tool in (name, *(name.rpartition(mark)[2] for mark in ("__", ".", "/")))


def leaves(value: object) -> Iterator[object]:
    """The scalars in a JSON value at any depth, without the names of fields."""
    match value:
        case dict():
            yield from chain.from_iterable(map(leaves, value.values()))
        case list():
            yield from chain.from_iterable(map(leaves, value))
        case _:
            yield value
