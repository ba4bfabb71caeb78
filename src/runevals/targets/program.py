"""The settings of targets that are programs, started here."""

from __future__ import annotations

from typing import Any, Literal

from runevals.targets import Target
from runevals.targets.kind import NOT_TAKEN, Making, Section, TargetSettings


class ProgramSettings(TargetSettings, frozen=True, kw_only=True):
    """A target whose program is started here, and may export what it does."""

    variables: tuple[str, ...] | None = None  # that it is given, besides the harmless ones; None: all but tokens
    trace: Literal["otlp"] | None = None  # how it exports what it does

    alone = False
    refuses = dict.fromkeys(("mcp",), NOT_TAKEN)

    @classmethod
    def own_fields(cls, section: Section) -> dict[str, Any]:
        """Its variables."""
        return {"variables": section.variables}

    def build(self, making: Making) -> Target:
        """The target, with the evidence of its trace."""
        target = self.start(making)
        if self.trace is None:
            return target
        from runevals.targets.traced import TracedTarget

        return TracedTarget(target, making.prices, making.environment)

    def start(self, making: Making) -> Target:
        """The target without its trace. Raises InvalidSettings for what the environment lacks."""
        raise NotImplementedError

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables that it is given, too."""
        return (self.api_key_env, *(self.variables or ()))

    def stays_here_for(self) -> str | None:
        """Its trace is received here."""
        return "target.trace: traces are received on this machine" if self.trace is not None else None
