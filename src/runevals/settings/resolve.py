"""All a run can be told, resolved once: flag > action input > environment > file > default."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from runevals.lib.chat.prices import Prices
from runevals.records import Gate, GateRules, RegressionRule, Weakening
from runevals.records.rules import Content, Fetching, Limits, Mark, Selection, SuiteEntry
from runevals.settings.ci_shard import shard_of
from runevals.settings.evaluators import Definitions, read_definitions
from runevals.settings.file import BaseSide, SettingsFile, read_settings_file
from runevals.settings.gates import check_mark, check_names, gates_of
from runevals.settings.protected import held_back, prices_told, who_tells
from runevals.settings.table import ROUNDS_IN_CI, SETTINGS, Setting
from runevals.settings.target import JudgeSettings, RawEndpoint, TargetSettings, judge_settings, target_settings
from runevals.settings.values import checked, parsed, read_mark, texts

CACHE = ".evals/cache"
RESULTS = ".evals/results"  # where a run without --output writes
BY_NAME = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything settled. `origins` says for each name where its value came from."""

    cwd: Path
    repository: Path
    suites: tuple[SuiteEntry, ...]
    everything: bool
    target: TargetSettings | None
    judges: tuple[JudgeSettings, ...]  # with several, the median of their scores counts
    no_judge: bool
    repeat: int
    concurrency: int
    executor: str
    ray_address: str | None
    judge_concurrency: int
    selection: Selection
    evaluators: tuple[str, ...]
    baseline: str | None
    baseline_named: bool  # by flag or action input: then it must exist
    base: str
    base_setup: tuple[str, ...]
    share: tuple[str, ...]
    verify: str
    verify_repeats: int
    rules: GateRules
    mark: Mark | None
    quarantine: Path
    accept_label: str | None
    changed_only: bool
    depends_on: tuple[str, ...]  # absolute
    definitions: Definitions
    sandbox: str
    fetching: Fetching
    mcp_config: str | None
    prices: Prices
    limits: Limits
    redact: Content
    redact_patterns: tuple[str, ...]  # of what is never written
    output_dir: str
    cache: Path | None  # None: nothing is kept
    cache_target: bool
    baseline_artifact: str | None
    baseline_branch: str
    baseline_workflow: str | None  # its file's name
    baseline_wait: float  # seconds
    comment: str
    comment_id: str | None
    annotations: bool
    require_credentials: bool
    evaluate_only: bool = False
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    origins: Mapping[str, str] = field(default_factory=dict)
    file: SettingsFile | None = None
    base_side: BaseSide | None = None
    not_from: Path | None = None  # the checkout whose code must not run as this one's

    def value_of(self, name: str) -> object:
        """The field with this name, of the settings or of a record in them; None if there is none."""
        return next((getattr(record, name) for record in self._records if hasattr(record, name)), None)

    @property
    def _records(self) -> tuple[object, ...]:
        return self, self.selection, self.rules

    @property
    def attempts(self) -> int:
        """Attempts per case at most: one if the target always answers alike."""
        return 1 if self.target is not None and self.target.deterministic else self.repeat

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables that hold the keys of target and judge."""
        names = () if self.target is None else self.target.key_names
        return (*names, *(judge.api_key_env for judge in self.judges))


@dataclass(frozen=True, slots=True, kw_only=True)
class RawSettings:
    """What a run was told, before it is settled. `flags` holds only the given ones."""

    flags: Mapping[str, object] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    cwd: Path = field(default_factory=Path.cwd)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    evaluate_only: bool = False
    base_side: BaseSide | None = None  # of a change: who decides over it
    of_base: bool = False  # said in a checkout of that base itself


def resolve(told: RawSettings, file: SettingsFile | None = None) -> Settings:
    """Settles every setting; the settings file is looked for unless it is given.

    Raises InvalidSettings, InvalidSuite for the file, with all problems found.
    """
    repository = repository_root(told.cwd)
    file = _file_of(told, file)
    guarding = told.base_side
    judged = _has_judge(told)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for setting in SETTINGS:
        value, origin = _from_strings(setting, told)
        of_file, shown = who_tells(setting.name, file, guarding, judged=judged)
        if origin is None and setting.name in of_file:
            value, origin = checked(setting, of_file[setting.name], f"{shown}: {setting.name}"), shown
        if origin is None:
            value, origin = setting.default, "default"
        values[setting.name], origins[setting.name] = value, origin
    gates_told, shown = who_tells("gates", file, guarding)
    gates = gates_of(gates_told.get("gates", ()), shown)
    check_mark(values["mark"], gates)
    check_names(values["fail_on"] or (), origins["fail_on"], gates)
    suites = _suites(values["suites"], origins["suites"], file, told.cwd, repository)
    given = RawEndpoint(
        values=values,
        origins=origins,
        file=file,
        cwd=told.cwd,
        repository=repository,
        environment=told.environment,
        base_side=guarding,
        base_values=guarding.values if guarding is not None else file.values if told.of_base else {},
    )
    return Settings(
        cwd=told.cwd,
        repository=repository,
        suites=suites,
        everything=values["all"],
        target=target_settings(given),
        judges=judge_settings(given),
        no_judge=values["no_judge"],
        repeat=_repeat(values["repeat"], told),
        concurrency=values["concurrency"],
        executor=values["executor"],
        ray_address=values["ray_address"],
        judge_concurrency=values["judge_concurrency"],
        selection=Selection(
            category=tuple(values["category"]),
            tag=tuple(values["tag"]),
            filter=tuple(values["filter"]),
            shard=None
            if values["shard"] is None
            else shard_of(values["shard"], origins["shard"], told.environment),
        ),
        evaluators=tuple(values["evaluators"]),
        baseline=_baseline(values["baseline"], given.folder("baseline")),
        baseline_named=not given.is_in_file("baseline"),
        base=values["base"],
        base_setup=tuple(values["base_setup"]),
        share=tuple(values["share"]),
        verify=values["verify"],
        verify_repeats=values["verify_repeats"],
        rules=_rules(values, gates, guarding),
        mark=None if values["mark"] is None else read_mark(values["mark"], origins["mark"]),
        quarantine=given.folder("quarantine") / values["quarantine"],
        accept_label=values["accept_label"],
        changed_only=_changed_only(values["changed_only"], origins["changed_only"], told.base_side),
        depends_on=tuple(str(given.folder("depends_on") / pattern) for pattern in values["depends_on"]),
        definitions=read_definitions(file.values.get("definitions", ()), file.shown, file.base, repository),
        sandbox=values["sandbox"],
        prices=prices_told(file, guarding),
        fetching=_fetching(who_tells("url_fetch", file, guarding)[0].get("url_fetch", {})),
        mcp_config=values["mcp_config"],
        redact=values["redact"],
        redact_patterns=tuple(who_tells("redact_patterns", file, guarding)[0].get("redact_patterns", ())),
        limits=Limits(
            cost_usd=values["max_cost"],
            tokens=values["max_tokens"],
            calls=values["max_calls"],
            duration_s=values["max_duration"],
        ),
        output_dir=values["output_dir"],
        cache=_cache(values["cache"], told),
        cache_target=values["cache_target"],
        baseline_artifact=values["baseline_artifact"],
        baseline_branch=values["baseline_branch"],
        baseline_workflow=values["baseline_workflow"],
        baseline_wait=values["baseline_wait"],
        comment=values["comment"],
        comment_id=values["comment_id"],
        annotations=values["annotations"],
        require_credentials=values["require_credentials"],
        evaluate_only=told.evaluate_only,
        environment=told.environment,
        origins=origins,
        file=file if file.found else None,
        base_side=told.base_side,
    )


def ignored_changes(told: RawSettings, file: SettingsFile | None = None) -> tuple[Weakening, ...]:
    """What the settings file of a change says otherwise than the base's about how the change is judged.

    The base's settings hold instead. Raises as `resolve`.
    """
    if told.base_side is None:
        return ()
    return tuple(held_back(_file_of(told, file), told.base_side, judged=_has_judge(told)))


def _file_of(told: RawSettings, file: SettingsFile | None) -> SettingsFile:
    """The settings file, looked for unless it is given."""
    file = file or read_settings_file(told.cwd, repository_root(told.cwd), config_of(told))
    of_base = None if told.base_side is None else told.base_side.file
    if not file.found and of_base is not None:
        return replace(of_base, found=True, values={})  # removed by the change: its guards stay
    return file


def _rules(values: Mapping[str, Any], gates: tuple[Gate, ...], base_side: BaseSide | None) -> GateRules:
    return GateRules(
        regression=RegressionRule(
            alpha=values["alpha"],
            min_effect=values["min_effect"],
            max_base_age_days=values["max_base_age"],
            max_fresh_runs=values["suspects_max_runs"],
        ),
        gates=gates,
        fail_on=None if values["fail_on"] is None else tuple(values["fail_on"]),
        min_pass_rate=values["min_pass_rate"],
        errors_limit=values["errors_limit"],
        baseline_required=values["baseline_required"],
        on_incomparable=values["on_incomparable"],
        on_inconclusive=values["on_inconclusive"],
        labels_of_base=base_side is not None,
    )


def _repeat(wanted: int | None, told: RawSettings) -> int:
    """Attempts per case at most; a plan makes one where the target always answers alike."""
    if wanted is not None:
        return wanted
    return ROUNDS_IN_CI if told.environment.get("CI") and not told.evaluate_only else 1


def _fetching(written: Mapping[str, Any]) -> Fetching:
    return Fetching(enabled=written.get("enabled"), allow_hosts=tuple(written.get("allow_hosts", ())))


def _cache(named: str | None, told: RawSettings) -> Path | None:
    """Where answers are kept. In CI nowhere unless it is named: a change could bring a folder along."""
    if named is None:
        return None if told.environment.get("CI") else told.cwd / CACHE
    return None if named == "none" else told.cwd / named


def _has_judge(told: RawSettings) -> bool:
    """Whether the base of a change has a judge: by its settings, or by the word of whoever starts the run."""
    outside = any(_from_strings(BY_NAME[name], told)[1] is not None for name in ("judge", "judge_model"))
    azure = bool(told.environment.get("AZURE_AI_OPENAI_ENDPOINT"))
    side = told.base_side
    return outside or azure or (side is not None and (side.unreadable is not None or "judge" in side.values))


def _changed_only(value: object, origin: str, base_side: BaseSide | None) -> bool:
    """On unless told otherwise on a pull request."""
    if origin == "default" and base_side is not None:
        return base_side.on_pull_request
    return bool(value)


def config_of(told: RawSettings) -> str | None:
    """The settings file that is named, by whatever way; None where the usual places are to be looked at."""
    config, _ = _from_strings(BY_NAME["config"], told)
    return None if config is None else str(config)


@cache
def defaults() -> Settings:
    """Every setting at its default, without a file, an environment or a target."""
    nowhere = Path("/")
    return resolve(
        RawSettings(cwd=nowhere, environment={}), file=SettingsFile(found=False, shown="", base=nowhere)
    )


def repository_root(cwd: Path) -> Path:
    """The nearest folder upwards with a `.git`; `cwd` itself outside a repository."""
    for folder in (cwd, *cwd.parents):
        if (folder / ".git").exists():
            return folder
    return cwd


def _from_strings(setting: Setting, told: RawSettings) -> tuple[object, str | None]:
    """The value and its origin from flag, action input or environment; (None, None) where none names it."""
    flag = told.flags.get(setting.name)
    if flag is not None and flag != () and flag is not False:
        value = texts(flag) if setting.kind == "texts" and isinstance(flag, str) else flag
        return checked(setting, value, f"--{setting.name.replace('_', '-')}"), "flag"
    sources: Sequence[tuple[Mapping[str, str], str, str]] = (
        (told.inputs, setting.name, f"input {setting.name}"),
        (told.environment, f"RUNEVALS_{setting.name.upper()}", f"RUNEVALS_{setting.name.upper()}"),
    )
    for source, key, shown in sources:
        text = source.get(key, "").strip()
        if text:
            return parsed(setting, text, shown), shown
    return None, None


def input_of(setting: Setting, inputs: Mapping[str, str]) -> object:
    """What only an action input tells, its default where it does not. Raises InvalidSettings."""
    text, shown = inputs.get(setting.name, "").strip(), f"input {setting.name}"
    return parsed(setting, text, shown) if text else setting.default


def _suites(value: Any, origin: str, file: SettingsFile, cwd: Path, repository: Path) -> tuple[SuiteEntry, ...]:
    inside = file.base.resolve().is_relative_to(repository.resolve())  # else it is the user's own, named by a flag
    from_file = file.found and origin == file.shown
    entries = ({"path": entry} if isinstance(entry, str) else entry for entry in value)
    return tuple(
        SuiteEntry(
            path=entry["path"],
            base=file.base if from_file else cwd,
            evaluators=tuple(entry.get("evaluators", ())),
            from_file=from_file and inside,
        )
        for entry in entries
    )


def _baseline(value: str | None, base: Path) -> str | None:
    if value is None or value == "none":
        return None
    if value.startswith(("http://", "https://")):
        return value
    return str(base / value)
