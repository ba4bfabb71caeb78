"""A command that starts an agent by itself, and prints the agent's events."""

from __future__ import annotations

from runevals.programs.exchange import Exchange
from runevals.records import Response
from runevals.targets.agents import AGENTS
from runevals.targets.agents.stream import read_whole
from runevals.targets.command import CommandTarget


class WrapperTarget(CommandTarget):
    """A command target whose answer is in the events of `agent`."""

    agent = ""

    def read(self, talk: Exchange, latency_s: float) -> Response:
        """The answer; a problem if the agent's final event is missing."""
        return read_whole(AGENTS[self.agent].reader(), bytes(talk.out), latency_s, exit_code=talk.exit_code)


def wrapper_of(agent: str) -> type[CommandTarget]:
    """The target class for a wrapper of this agent, or of none."""
    return CommandTarget if not agent else type("WrapperTarget", (WrapperTarget,), {"agent": agent})
