"""What targets are built with in tests."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from runevals.models.chat.prices import Prices
from runevals.models.http.throttle import Throttle
from runevals.targets.conversation_ids import ConversationIds
from runevals.targets.kind import Making, Section, TargetSettings
from runevals.targets.kinds import kind_of


def settings_of(kind: str, environment: dict[str, str] | None = None, **written: object) -> TargetSettings:
    """The settings of a target with these values of its own kind."""
    values = {"type": kind, **written}
    section = Section(values=values, base=Path(), repository=Path(), environment=environment or {})
    return kind_of(kind)(type=kind, base=Path(), **kind_of(kind).own_fields(section))


def making(throttle: Throttle, environment: dict[str, str] | None = None, **more: Any) -> Making:
    """With one throttle for all hosts."""
    throttles: Any = defaultdict(lambda: throttle)
    own = {"conversations": ConversationIds(), "prices": Prices({}), **more}
    return Making(environment=environment or {}, throttles=throttles, **own)
