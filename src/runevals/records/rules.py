"""A gate, as settings write it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from runevals.records.quiet import Quiet

# Categories with a gate of their own, and the share of their runs that must pass.
REPLAY, REDTEAM = "replay", "redteam"
CATEGORY_GATES = ((REPLAY, 1.0), ("regression", 0.99), (REDTEAM, 1.0))
LIFTED = frozenset({"no_regression", *dict(CATEGORY_GATES)})  # preset gates, which look past accepted losses
CRITICAL_CATEGORIES = frozenset({REPLAY, REDTEAM})  # whose cases are all critical


class Scope(Struct, frozen=True, kw_only=True, gc=False):
    """Which cases a gate looks at; None is any. `suite` and `case` are patterns."""

    category: str | None = None
    tag: str | None = None
    suite: str | None = None
    case: str | None = None

    def __str__(self) -> str:
        fields = (("category", self.category), ("tag", self.tag), ("suite", self.suite), ("case", self.case))
        return ", ".join(f"{what} {name}" for what, name in fields if name is not None) or "all"


class RegressionRule(Struct, frozen=True, kw_only=True, gc=False):
    """When a loss is a regression: p at most `alpha`, and a drop of at least `min_effect` of the range."""

    alpha: float = 0.01
    min_effect: float = 0.02
    max_base_age_days: float = 7.0  # a notice is given if the base is older
    max_fresh_runs: int | None = None  # of single cases that look lost; None: 96, or two a case if that is more
    max_errors: float = 0.0  # the share of cases that may stay unmeasured; above 0 they are run again
    accepts_edits: bool = (
        True  # a case that passes only in its edited form warns; False: it is a loss to be accepted
    )


class Mark(Struct, frozen=True, kw_only=True, gc=False):
    """The earlier run to compare with besides the base: one of that age, of a tag, or the best."""

    days: int | None = None
    tag: str | None = None

    def __str__(self) -> str:
        return self.tag or ("best" if self.days is None else f"{self.days}d")


class Gate(Struct, frozen=True, kw_only=True, gc=False):
    """`metric` over the cases in `scope` must satisfy `op` `limit`."""

    name: str
    metric: str
    op: Literal[">=", ">", "<=", "<", "=="]
    limit: float
    scope: Scope = Scope()
    on_missing: Literal["fail", "pass", "not_applicable"] = "fail"  # the last: only of ours
    bound: Literal["point", "wilson"] = "point"  # wilson: fails only below the 99 % Wilson bound
    level: Literal["block", "warn"] = "block"


class GateRules(Struct, frozen=True, kw_only=True, gc=False):
    """What decides over a run: its gates, and what a result that is not clear means."""

    regression: RegressionRule = RegressionRule()
    gates: tuple[Gate, ...] = ()
    fail_on: tuple[str, ...] | None = None  # the gates that may fail the run; None: all of them
    min_pass_rate: float | None = None
    errors_limit: float = 0.0  # the share of cases that may stay unmeasured
    baseline_required: bool = False
    on_unknown: Literal["pass", "unmeasured", "fail"] = "unmeasured"  # fail: what line one warns of does not pass
    labels_of_base: bool = False  # of a change: gates select cases by the labels of the base


BY_HASH = "by hash"  # of suite and key


class Shard(Quiet, frozen=True, kw_only=True, gc=False):
    """Part `part` of `of`, counted from 1."""

    hidden = frozenset({"parts"})
    ignored = frozenset({"parts", "split"})

    part: int
    of: int
    parts: Mapping[tuple[str, str], int] | None = None  # None: by hash
    split: str = BY_HASH  # what decides the part of a case; equal for all parts

    def __str__(self) -> str:
        return f"{self.part}/{self.of}"

    def holds(self, suite: str, key: str) -> bool:
        """Whether this case is in this part; by hash, its own name alone decides."""
        if self.parts is not None:
            return self.parts[suite, key] == self.part
        digest = hashlib.sha256(f"{suite}\0{key}".encode(errors="surrogatepass")).digest()
        return int.from_bytes(digest[:8]) % self.of == self.part - 1


class Selection(Struct, frozen=True, kw_only=True, gc=False):
    """Which of the cases run; empty: all of them."""

    category: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()  # patterns of keys
    shard: Shard | None = None

    @property
    def has_filters(self) -> bool:
        """Whether it leaves cases out by what they are."""
        return any((self.category, self.tag, self.filter))


class Reading(Struct, frozen=True, kw_only=True):
    """How results of another tool are read, as far as they do not say it themselves."""

    of_tool: bool = False  # another tool wrote what is compared with the base
    columns: tuple[str, ...] = ()  # of plain rows
    parameters_are_attempts: bool = False  # of JUnit XML: `test_x[1]` and `test_x[2]` are one test
    other_side: Path | None = None  # what is not read though it lies in a folder of results: the baseline


AS_IT_SAYS = Reading()


class SuiteEntry(Struct, frozen=True, kw_only=True, gc=False):
    """A suite as the settings or the command line name it; relative to `base`."""

    path: str
    base: Path
    evaluators: Mapping[str, Mapping[str, object]] = {}  # for rows, with their options
    columns: Mapping[str, str] = {}  # of rows, by what they are
    from_file: bool = False  # the settings file names it, which a change may have brought


class Limits(Struct, frozen=True, kw_only=True, gc=False):
    """What a run may spend; None: without limit."""

    cost_usd: float | None = None
    tokens: int | None = None
    calls: int | None = None  # that are planned
    duration_s: float | None = None


class BlameLimits(Struct, frozen=True, kw_only=True, gc=False):
    """What a job may spend to find the lines that lost cases; None: a fifth of what the run itself spent."""

    runs: int | None = None  # of all cases together
    cost_usd: float | None = None


class Fetching(Struct, frozen=True, kw_only=True, gc=False):
    """Whether addresses are fetched: yes, no (they stay plain text), or unset; and the allowed private hosts."""

    enabled: bool | None = None
    allow_hosts: tuple[str, ...] = ()


Content = Literal["full", "hashes", "none"]
