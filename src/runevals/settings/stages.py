"""The settings of a run, by the stage that needs them. A field has the name of its setting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from runevals.models.chat.prices import Prices
from runevals.records.rules import BlameLimits, Content, Fetching, Limits, Mark, Reading, SuiteEntry

if TYPE_CHECKING:
    from runevals.settings.evaluators import Definitions
    from runevals.targets.kind import TargetSettings


class LoadSettings(Struct, frozen=True, kw_only=True):
    """Where suites are, and how they are read."""

    suites: tuple[SuiteEntry, ...]
    everything: bool
    evaluators: tuple[str, ...]
    definitions: Definitions
    fetching: Fetching
    mcp_config: str | None
    plugins: tuple[str, ...]  # the packages that may add some; empty: all
    quarantine: Path
    side_by_side: tuple[TargetSettings, ...]  # several targets, for which the suites are read once


class MeasureSettings(Struct, frozen=True, kw_only=True):
    """How often and where cases run, and what that may cost."""

    repeat: int
    concurrency: int
    judge_concurrency: int
    executor: str
    ray_address: str | None
    ray_num_cpus: float | None
    ray_num_gpus: float | None
    ray_runtime_env: str | None
    sandbox: str
    cache: Path | None  # None: nothing is cached
    cache_target: bool
    prices: Prices
    limits: Limits
    trust: bool  # what the settings reach beyond those of the base


class CompareSettings(Struct, frozen=True, kw_only=True):
    """What the run is compared with."""

    baseline: str | None
    baseline_named: bool  # a flag or an action input names it: then it must exist
    base: str
    base_setup: tuple[str, ...]
    share: tuple[str, ...]
    rerun: tuple[str, ...]  # of one case of another tool
    reading: Reading  # of its results
    verify: str
    verify_repeats: int
    mark: Mark | None
    against: str | None  # what the same cases are also measured as, or the target to compare the others with
    margin: float
    changed_only: bool
    changed_cases: bool  # of the others, only the cases that a change affects are run
    depends_on: tuple[str, ...]  # absolute


class RedactionSettings(Struct, frozen=True, kw_only=True):
    """What is never written."""

    redact: Content
    redact_patterns: tuple[str, ...]  # of text


class GithubSettings(Struct, frozen=True, kw_only=True):
    """What the action finds, writes and says."""

    output_dir: str
    accept_label: str | None
    blame: BlameLimits | None  # None: the lines that lost cases are not searched
    baseline_artifact: str | None
    baseline_branch: str
    baseline_workflow: str | None  # its file's name
    baseline_wait: float  # seconds
    comment: str
    comment_id: str | None
    annotations: bool
    require_credentials: bool
