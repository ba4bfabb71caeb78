"""A gate, as settings write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which cases a gate looks at; None is any. `suite` and `case` are patterns."""

    category: str | None = None
    tag: str | None = None
    suite: str | None = None
    case: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """`metric` over the cases in `scope` must stand in relation `op` to `limit`."""

    name: str
    metric: str
    op: Literal[">=", ">", "<=", "<", "=="]
    limit: float
    scope: Scope = Scope()
    on_missing: Literal["fail", "pass"] = "fail"
    level: Literal["block", "warn"] = "block"
