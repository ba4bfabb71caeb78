"""The settings of a run, resolved once: flag > action input > environment > file > default."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, convert, field
from msgspec.structs import replace

from runevals.lib.checkout import repository_root
from runevals.lib.ci import in_ci, may_be_change
from runevals.lib.nullable import if_known
from runevals.lib.parsing.shapes import options_by_name
from runevals.lib.parsing.source import path_inside
from runevals.lib.plugins import load_only
from runevals.lib.text.secrets import remember_keys
from runevals.lib.text.suggest import MISSPELT, did_you_mean, nearest
from runevals.records import GateRules, RegressionRule
from runevals.records.errors import InvalidSettings, RunevalsError
from runevals.records.quiet import Quiet
from runevals.records.rules import BlameLimits, Fetching, Limits, Reading, Selection, SuiteEntry
from runevals.repository.git import Head, head_of, words_at
from runevals.settings.capabilities import (
    Ledger,
    capabilities,
    of_workflow,
    program_variables,
    require_granted,
    require_names,
    servers_at,
)
from runevals.settings.file import BaseSide, SettingsFile, project_folder, read_settings_file
from runevals.settings.gates import check_mark, check_names, check_target, gates_of
from runevals.settings.judge import JudgeSettings, judge_settings
from runevals.settings.protected import changes_not_applied, effective_source, prices_of
from runevals.settings.stages import (
    CompareSettings,
    GithubSettings,
    LoadSettings,
    MeasureSettings,
    RedactionSettings,
)
from runevals.settings.table import ROUNDS_IN_CI, SETTINGS, Setting
from runevals.settings.target import RawEndpoint, target_settings
from runevals.settings.target_names import is_name
from runevals.settings.targets import TargetChoice, check_against, choose_targets
from runevals.settings.values import baseline_address, checked, parsed, read_mark, require_artifact_name, texts
from runevals.targets.kind import TargetSettings

if TYPE_CHECKING:
    from runevals.records import Weakening
    from runevals.settings.evaluators import Definitions

CACHE = ".evals/cache"  # without a folder for the caches of the user
_PREFIX = "RUNEVALS_"  # of the variable of each setting
_OTHER_VARIABLES = frozenset({"RUNEVALS_SUITE"})  # for a `rerun`, which may start runevals
R = TypeVar("R", bound=Struct)
BY_NAME = {setting.name: setting for setting in SETTINGS}


class Settings(Quiet, frozen=True, kw_only=True):
    """The resolved settings of a run. `origins` names for each setting the source of its value."""

    hidden = frozenset({"environment"})

    cwd: Path
    repository: Path
    target: TargetSettings | None
    target_name: str | None  # in `targets`
    targets: tuple[str, ...]  # the names of several targets or their models; then `target` is None
    removed_targets: tuple[str, ...]  # of the base's settings; the change does not have them
    judges: tuple[JudgeSettings, ...]  # with several, the median of their scores counts
    no_judge: bool
    selection: Selection
    load: LoadSettings
    measure: MeasureSettings
    compare: CompareSettings
    rules: GateRules
    redaction: RedactionSettings
    github: GithubSettings
    evaluate_only: bool = False
    environment: Mapping[str, str] = {}
    env: str | None = None
    of_change: bool = False  # a CI system may run this for a change
    program_variables: tuple[str, ...] | None = None  # variables of programs under test; None: all but the job's
    origins: Mapping[str, str] = {}
    file: SettingsFile | None = None
    base_side: BaseSide | None = None
    not_from: Path | None = None  # the checkout whose code must not run as this one's
    head: Head = Head()

    def value_of(self, name: str) -> object:
        """The field with this name, of the settings or of a record in them; None if there is none."""
        stages = (self.load, self.measure, self.compare, self.redaction, self.github)
        records = (self, self.selection, self.rules, self.rules.regression, *stages)
        return next((getattr(record, name) for record in records if hasattr(record, name)), None)

    @property
    def attempts(self) -> int:
        """Attempts per case at most: one if the target is deterministic."""
        return 1 if self.target is not None and self.target.deterministic else self.measure.repeat

    def repeated(self, repeat: int, *, cached: bool = False) -> Settings:
        """With so many attempts per case; `cached`: as far as the settings allow, from the cache."""
        measure = replace(self.measure, repeat=repeat, cache_target=cached and self.measure.cache_target)
        return replace(self, measure=measure)

    def with_baseline(self, baseline: str | None) -> Settings:
        """Compared with this one."""
        return replace(self, compare=replace(self.compare, baseline=baseline))

    @property
    def in_ci(self) -> bool:
        """Whether a CI system runs this."""
        return in_ci(self.environment)

    @property
    def notices(self) -> tuple[str, ...]:
        """About settings of the file, and of the base's, that have another name now, and about a gate left out."""
        of_base = None if self.base_side is None else self.base_side.file
        has_lift = any(gate["metric"] == "lift" for gate in self.file_values.get("gates", ()))
        left_out = ["--against none leaves out the gate on lift"] if has_lift and not self.compare.against else []
        notices = (notice for file in (self.file, of_base) if file is not None for notice in file.notices)
        return (*notices, *left_out)

    @property
    def file_path(self) -> Path | None:
        """The settings file; None if there is none here."""
        return None if self.file is None else self.file.path

    @property
    def file_base(self) -> Path:
        """What the paths of the settings file are relative to, and what lies beside it."""
        return self.cwd if self.file is None else self.file.base

    @property
    def file_values(self) -> Mapping[str, Any]:
        """What the settings file sets; empty without one."""
        return {} if self.file is None else self.file.values

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables that hold the keys of target and judge."""
        names = () if self.target is None else self.target.key_names
        return (*names, *(judge.api_key_env for judge in self.judges))


class RawSettings(Struct, frozen=True, kw_only=True):
    """The settings as they were given, before they are resolved. `flags` has only those on the command line."""

    flags: Mapping[str, object] = {}
    inputs: Mapping[str, str] = {}
    cwd: Path = field(default_factory=Path.cwd)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    env: str | None = None  # the name of a dotenv file that is in it
    evaluate_only: bool = False
    base_side: BaseSide | None = None  # the base's commit and settings, which decide over a change
    of_base: bool = False  # read in a checkout of that base itself
    of_change: bool | None = None  # a CI system runs this for a change; None: its variables say so
    head: Head | None = None  # what is checked out, where it is known


def resolve(raw: RawSettings, file: SettingsFile | None = None) -> Settings:
    """Resolves every setting; the settings file is searched for unless it is given.

    Raises InvalidSettings, and InvalidSuite with all problems of the file.
    """
    _require_known_variables(raw.environment)
    repository, targets = repository_root(raw.cwd), _targets(raw, _file_of(raw, file))
    file, base_side = targets.file, targets.base_side
    judged = _has_judge(raw)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for setting in SETTINGS:
        value, origin = _from_strings(setting, raw)
        file_values, source = effective_source(setting.name, file, base_side, judged=judged)
        if origin is None and setting.name in file_values:
            value, origin = checked(setting, file_values[setting.name], f"{source}: {setting.name}"), source
        if origin is None:
            value, origin = setting.default, "default"
        values[setting.name], origins[setting.name] = value, origin
    load_only(values["plugins"] if in_ci(raw.environment) else ())
    if targets.name is not None:
        values["target"], origins["target"] = file.values["target"], file.display_name

    def of_file(name: str, default: object) -> Any:
        return effective_source(name, file, base_side)[0].get(name, default)

    check_against(values["against"], _source_of("against", origins, file), targets)
    gates = gates_of(of_file("gates", ()))
    check_mark(values["mark"], gates)
    check_names(values["fail_on"] or (), gates, f"{_source_of('fail_on', origins, file)}: ")
    if values["against"] == "none" and origins["against"] == _flag("against") and not in_ci(raw.environment):
        gates = tuple(gate for gate in gates if gate.metric != "lift")
    check_target(values["against"], gates)
    require_artifact_name(values["baseline_artifact"] or "", f"{_source_of('baseline_artifact', origins, file)}: ")
    shard = None
    if values["shard"]:
        from runevals.settings.ci_shard import shard_of

        shard = shard_of(values["shard"], _source_of("shard", origins, file), raw.environment)
    mark = values["mark"] and read_mark(values["mark"], f"{_source_of('mark', origins, file)}: ")
    endpoints = RawEndpoint(
        values=values,
        origins=origins,
        file=file,
        cwd=raw.cwd,
        repository=repository,
        environment=raw.environment,
        base_side=base_side,
        base_values=base_side.values if base_side is not None else file.values if raw.of_base else {},
    )
    endpoints = replace(endpoints, values={**values, "target": None}) if targets.several else endpoints
    require_names(endpoints.values)
    of_change = raw.of_change
    if of_change is None:
        of_change = may_be_change(raw.environment, has_base=base_side is not None)
    variables = program_variables(endpoints.values["target"], _granted(endpoints) if of_change else None)
    blame, against = of_file("blame", {}), values["against"]
    side = raw.base_side if origins["changed_only"] == "default" else None
    settings = Settings(
        cwd=raw.cwd,
        repository=repository,
        target=None if targets.several else target_settings(endpoints, variables),
        target_name=targets.name,
        targets=targets.several,
        removed_targets=targets.removed,
        judges=judge_settings(endpoints),
        no_judge=values["no_judge"],
        selection=_record(Selection, values, shard=shard),
        load=_record(
            LoadSettings,
            values,
            suites=_suites(values["suites"], origins["suites"], file, raw.cwd, repository),
            everything=values["all"],
            definitions=_definitions(file, repository),
            side_by_side=(),
            fetching=convert(of_file("url_fetch", {}), Fetching),
            quarantine=_quarantine(endpoints),
        ),
        measure=_record(
            MeasureSettings,
            values,
            # At most; a plan makes one if the target is deterministic.
            repeat=values["repeat"] or (ROUNDS_IN_CI if in_ci(raw.environment) and not raw.evaluate_only else 1),
            cache=_cache(values["cache"], raw),
            prices=prices_of(file, base_side),
            limits=Limits(
                cost_usd=values["max_cost"],
                tokens=values["max_tokens"],
                calls=values["max_calls"],
                duration_s=values["max_duration"],
            ),
        ),
        compare=_record(
            CompareSettings,
            values,
            baseline=_baseline(endpoints),
            baseline_named=not endpoints.is_in_file("baseline"),
            reading=Reading(columns=values["columns"]),
            mark=mark,
            # Of one of several targets that runs alone, no other target; on a pull request, changed_only is on.
            against=None if against == "none" or (against in targets.known and not targets.several) else against,
            changed_only=side.on_pull_request if side is not None else bool(values["changed_only"]),
            changed_cases=values["changed_only"] == "cases",
            depends_on=tuple(str(endpoints.folder("depends_on") / pattern) for pattern in values["depends_on"]),
        ),
        rules=_record(
            GateRules,
            values,
            regression=RegressionRule(
                alpha=values["alpha"],
                min_effect=values["min_effect"],
                max_base_age_days=values["max_base_age"],
                max_fresh_runs=values["fresh_runs"],
                accepts_edits=values["edits"] == "warn",
                max_errors=values["errors_limit"],
            ),
            gates=gates,
            labels_of_base=base_side is not None,
        ),
        redaction=_record(RedactionSettings, values, redact_patterns=tuple(of_file("redact_patterns", ()))),
        github=_record(
            GithubSettings,
            values,
            blame=None
            if blame == "off"
            else BlameLimits(runs=blame.get("max_runs"), cost_usd=blame.get("max_cost")),
        ),
        evaluate_only=raw.evaluate_only,
        environment=raw.environment,
        env=raw.env,
        of_change=of_change,
        program_variables=variables,
        origins=origins,
        file=file if file.exists else None,
        base_side=base_side,
        head=raw.head or head_of(repository),
    )
    remember_keys(settings.environment, settings.key_names, words_at(repository, settings.head.commit))
    if not settings.targets:
        return settings
    return replace(settings, load=replace(settings.load, side_by_side=tuple(_side_by_side(settings, raw, file))))


def _baseline(raw: RawEndpoint) -> str | None:
    """Where the results of the base are kept; None if nothing names a place."""
    source = raw.values["baseline"]
    if source in (None, "none"):
        return None
    return baseline_address(source, "baseline: ") or str(raw.folder("baseline") / source)


def _granted(raw: RawEndpoint) -> Ledger:
    """What a change may reach. Raises InvalidSettings for what it must not, and cannot reach without a key."""
    side = raw.base_side
    from_file = {what: raw.values[what] for what in ("target", "judge") if raw.source_of(what)[1]}
    here = servers_at(raw.repository, raw.folder("target"))
    at_base = (
        here if side is None or side.file is None else servers_at(raw.repository, side.file.base, side.commit)
    )
    of_base = capabilities(raw.base_values, raw.environment, at_base)
    reached = capabilities(from_file, raw.environment, here)
    if raw.values["trust"]:
        of_base |= reached
    require_granted(reached, of_base, raw.environment)
    return {**of_base, **of_workflow(raw.environment, "target")}


def _side_by_side(settings: Settings, raw: RawSettings, file: SettingsFile) -> Iterator[TargetSettings]:
    """The settings of several targets; an error in one of them is raised when it is run."""
    for of_one in each_target(settings, raw).values():
        with suppress(RunevalsError):
            yield from filter(None, (resolve(of_one, file).target,))


def _record(record: type[R], values: Mapping[str, object], **own: object) -> R:
    """A record of settings: its fields have the names of settings, except those given here."""
    return record(**{name: values[name] for name in set(record.__struct_fields__) - own.keys()}, **own)


def each_target(settings: Settings, raw: RawSettings) -> Mapping[str, RawSettings]:
    """The settings of each of several targets, by its name, as if it were run alone; empty if there is one."""
    option = "model" if _option("model", raw) == settings.targets else "target"
    return {name: replace(raw, flags={**raw.flags, option: name, "against": "none"}) for name in settings.targets}


def for_target(raw: RawSettings, name: object) -> RawSettings:
    """As written, but for the one of several targets with this name."""
    return each_target(resolve(raw), raw).get(str(name), raw)


def ignored_changes(raw: RawSettings, file: SettingsFile | None = None) -> tuple[Weakening, ...]:
    """The protected settings that a change alters; the base's values are used instead. Raises as `resolve`."""
    if raw.base_side is None:
        return ()
    return tuple(changes_not_applied(_file_of(raw, file), raw.base_side, judged=_has_judge(raw)))


def require_known(names: Iterable[str]) -> None:
    """Raises InvalidSettings if there is no setting with one of these names."""
    for name in names:
        if name not in BY_NAME:
            raise InvalidSettings(f"there is no setting '{name}'{did_you_mean(name, BY_NAME)}")


def _file_of(raw: RawSettings, file: SettingsFile | None) -> SettingsFile:
    """The settings file, searched for unless it is given."""
    file = file or read_settings_file(raw.cwd, repository_root(raw.cwd), config_of(raw))
    of_base = None if raw.base_side is None else raw.base_side.file
    if not file.exists and of_base is not None:
        return replace(of_base, exists=True, values={})  # removed by the change: its guards stay
    return file


def _targets(raw: RawSettings, file: SettingsFile) -> TargetChoice:
    """Which targets run. Raises InvalidSettings. A base without the target that is asked for has none."""
    target, models, against = (_option(name, raw) for name in ("target", "model", "against"))
    if raw.of_base and target is not None and "target" in file.values and is_name(str(target)):
        file = replace(file, values={**file.values, "targets": {str(target): file.values["target"]}})
    several = models if isinstance(models, tuple) else () if models is None else (str(models),)
    of_file = effective_source("against", file, raw.base_side)[0].get("against")
    return choose_targets(file, raw.base_side, target, several, against or of_file)


def _option(name: str, raw: RawSettings) -> object:
    """The value of a setting that an option, an input or a variable sets; None if none does."""
    return _from_strings(BY_NAME[name], raw)[0]


def _source_of(name: str, origins: Mapping[str, str], file: SettingsFile) -> str:
    """The value's place as it is written: the option, variable or input, or a line of the settings file."""
    origin = origins[name]
    if origin.endswith((_flag(name), name.upper(), f"input {name}")):
        return origin
    return f"{file.places.get(name, origin) if origin == file.display_name else origin}: {name}"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _cache(folder: str | None, raw: RawSettings) -> Path | None:
    """The cache folder. In CI only one that is named: a change could commit a folder with forged answers."""
    if folder is not None:
        return None if folder == "none" else raw.cwd / folder
    if in_ci(raw.environment):
        return None
    shared = raw.environment.get("XDG_CACHE_HOME")
    return (
        Path(shared, "runevals") if shared else Path(os.path.normpath(raw.cwd / project_folder(raw.cwd) / CACHE))
    )


def _has_judge(raw: RawSettings) -> bool:
    """Whether the base of a change has a judge: in its settings, or by the options of this run."""
    by_option = any(_from_strings(BY_NAME[name], raw)[1] is not None for name in ("judge", "judge_model"))
    azure, side = bool(raw.environment.get("AZURE_AI_OPENAI_ENDPOINT")), raw.base_side
    return by_option or azure or (side is not None and (side.unreadable is not None or "judge" in side.values))


def config_of(raw: RawSettings) -> str | None:
    """The settings file that an option names; None if the usual places are to be searched."""
    return if_known(str, _option("config", raw))


@cache
def defaults() -> Settings:
    """Every setting at its default, without a file, an environment or a target."""
    nowhere = Path("/")
    return resolve(RawSettings(cwd=nowhere, environment={}), file=SettingsFile(base=nowhere))


def _require_known_variables(environment: Mapping[str, str]) -> None:
    """Raises InvalidSettings for a variable that looks like a setting's: a limit would be missing silently."""
    known = [setting.name.upper() for setting in SETTINGS]
    for variable in environment:
        name = variable.removeprefix(_PREFIX)
        if name in (variable, *known) or variable in _OTHER_VARIABLES:
            continue
        if guess := nearest(name, known, least=MISSPELT):
            raise InvalidSettings(f"the variable {variable} is no setting; did you mean {_PREFIX}{guess}?")


def _from_strings(setting: Setting, raw: RawSettings) -> tuple[object, str | None]:
    """The value and its origin from flag, action input or environment; (None, None) if none of them sets it."""
    flag = raw.flags.get(setting.name)
    if flag is not None and flag != () and flag is not False:
        value = texts(flag) if setting.kind == "texts" and isinstance(flag, str) else flag
        return checked(setting, value, _flag(setting.name)), _flag(setting.name)
    sources: Sequence[tuple[Mapping[str, str], str, str]] = (
        (raw.inputs, setting.name, f"input {setting.name}"),
        (raw.environment, f"{_PREFIX}{setting.name.upper()}", f"{_PREFIX}{setting.name.upper()}"),
    )
    for source, key, name in sources:
        text = source.get(key, "").strip()
        if text:
            return parsed(setting, text, name), name
    return None, None


def _quarantine(raw: RawEndpoint) -> Path:
    """The list. Raises UsageError for one outside of the repository that the command line does not name."""
    folder, name = raw.folder("quarantine"), str(raw.values["quarantine"])
    if raw.is_in_file("quarantine") and (folder / name).is_file():
        path_inside(raw.repository, name, base=folder, what="quarantine")
    return folder / name


def input_of(setting: Setting, inputs: Mapping[str, str]) -> object:
    """The value of a setting that only an action input can set. Raises InvalidSettings."""
    text, name = inputs.get(setting.name, "").strip(), f"input {setting.name}"
    return parsed(setting, text, name) if text else setting.default


def _definitions(file: SettingsFile, repository: Path) -> Definitions:
    """Evaluators under an id of their own. Raises InvalidSettings."""
    if not (written := file.values.get("definitions", ())):
        return {}
    from runevals.settings.evaluators import read_definitions  # with the catalogue of all

    return read_definitions(written, file.display_name, file.base, repository)


def _suites(value: Any, origin: str, file: SettingsFile, cwd: Path, repository: Path) -> tuple[SuiteEntry, ...]:
    inside = file.base.resolve().is_relative_to(repository.resolve())  # otherwise a flag names a file of the user
    from_file = file.exists and origin == file.display_name
    base = file.base if from_file else cwd
    of_file = [entry for entry in file.values.get("suites", ()) if isinstance(entry, dict)]
    places = [(entry, str(file.base / entry["path"])) for entry in of_file]
    others = [(entry, match) for entry, path in places if not from_file for match in glob(path, recursive=True)]
    options = {os.path.realpath(path): entry for entry, path in (*others, *places)}  # named otherwise, too
    paths = [entry if isinstance(entry, str) else entry["path"] for entry in value]
    entries = {path: options.get(os.path.realpath(base / path), {}) for path in paths}
    return tuple(
        SuiteEntry(
            path=path,
            base=base,
            evaluators=options_by_name(entries[path].get("evaluators")),
            columns=entries[path].get("columns", {}),
            from_file=from_file and inside,
        )
        for path in paths
    )
