"""The settings as keyword arguments of Python, so that an editor completes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict


class SettingsArguments(TypedDict, total=False):
    """The name and type of each row of `settings/table.py`."""

    suites: str | Sequence[str]
    all: bool
    config: str
    mcp_config: str
    target: str
    model: str | Sequence[str]
    judge: str
    judge_model: str
    no_judge: bool
    repeat: int
    concurrency: int
    executor: Literal["local", "ray"]
    ray_address: str
    ray_num_cpus: float
    ray_num_gpus: float
    ray_runtime_env: str
    judge_concurrency: int
    category: str | Sequence[str]
    tag: str | Sequence[str]
    filter: str | Sequence[str]
    shard: str
    evaluators: str | Sequence[str]
    baseline: str
    base: Literal["stored", "run"]
    base_setup: str | Sequence[str]
    rerun: str | Sequence[str]
    columns: str | Sequence[str]
    share: str | Sequence[str]
    verify: Literal["auto", "interleaved", "off"]
    verify_repeats: int
    alpha: float
    min_effect: float
    max_base_age: float
    mark: str
    against: str
    margin: float
    on_unknown: Literal["pass", "unmeasured", "fail"]
    edits: Literal["warn", "accept"]
    fresh_runs: int
    plugins: str | Sequence[str]
    quarantine: str
    accept_label: str
    sandbox: Literal["strict", "reduced"]
    trust: bool
    changed_only: bool | str
    depends_on: str | Sequence[str]
    min_pass_rate: float
    fail_on: str | Sequence[str]
    errors_limit: float
    baseline_required: bool
    redact: Literal["full", "hashes", "none"]
    max_cost: float
    max_tokens: int
    max_calls: int
    max_duration: float
    cache: str
    cache_target: bool
    output_dir: str
    baseline_artifact: str
    baseline_branch: str
    baseline_workflow: str
    baseline_wait: float
    comment: Literal["always", "on-change", "on-failure", "never"]
    comment_id: str
    annotations: bool
    require_credentials: bool
