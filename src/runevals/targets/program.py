"""The settings of targets that are programs, started here."""

from __future__ import annotations

from typing import Any, Literal

from runevals.records.traits import Traits
from runevals.targets import Target
from runevals.targets.environment import cleaned
from runevals.targets.kind import NOT_TAKEN, Making, Section, TargetSettings


class ProgramSettings(TargetSettings, frozen=True, kw_only=True):
    """A target whose program is started here, and may export what it does."""

    trace: Literal["otlp"] | None = None  # how it does

    refuses = dict.fromkeys(("mcp",), NOT_TAKEN)

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

    def stays_here_for(self) -> str | None:
        """Its trace is received here."""
        return "target.trace: traces are received on this machine" if self.trace is not None else None


class UserProgramSettings(ProgramSettings, frozen=True, kw_only=True):
    """A program of the user."""

    variables: tuple[str, ...] | None = None  # besides the harmless ones; None: all but tokens

    alone = False
    traits = Traits(takes_files=True, is_program=True, needs_files=True)

    @classmethod
    def own_fields(cls, section: Section) -> dict[str, Any]:
        """Its variables and trace."""
        return {**section.taken("trace"), "variables": section.variables}

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables that it is given, too."""
        return (self.api_key_env, *(self.variables or ()))

    def variables_in(self, making: Making) -> dict[str, str]:
        """Its environment."""
        return cleaned(making.environment, self.variables)
