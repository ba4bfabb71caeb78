"""All a run can be told, resolved once: flag > action input > environment > file > default."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from runevals.endpoints import Given, JudgeSettings, TargetSettings, judge_settings, target_settings
from runevals.errors import InvalidSettings
from runevals.gate_settings import check_names, gates_of
from runevals.nearest import did_you_mean
from runevals.records import Gate
from runevals.settings_file import SettingsFile, read_settings_file

Kind = Literal["text", "texts", "whole", "number", "yes_no"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One thing a run can be told: `name` is its flag, its action input and, in capitals, its variable."""

    name: str
    kind: Kind
    help: str
    default: object = None
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    as_input: bool = True  # also an input of the action


SETTINGS: tuple[Setting, ...] = (
    Setting(name="suites", kind="texts", help="Suite files, folders and globs.", default=()),
    Setting(name="all", kind="yes_no", help="Run every suite found, not only the first.", default=False),
    Setting(name="config", kind="text", help="The settings file (default: runevals.yaml)."),
    Setting(
        name="target",
        kind="text",
        help="The system under test: openai[:MODEL], recorded:FILE, command:PROGRAM or python:FILE.py:FUNCTION.",
    ),
    Setting(name="model", kind="text", help="The model that the target is asked for."),
    Setting(name="judge", kind="text", help="The model that grades: MODEL, azure or recorded:FILE."),
    Setting(name="judge_model", kind="text", help="The judge's model."),
    Setting(name="no_judge", kind="yes_no", help="Run without a judge; its checks are skipped.", default=False),
    Setting(name="repeat", kind="whole", help="Attempts per case.", default=1, minimum=1),
    Setting(name="concurrency", kind="whole", help="Target calls at once.", default=16, minimum=1),
    Setting(name="judge_concurrency", kind="whole", help="Judge calls at once.", default=8, minimum=1),
    Setting(name="category", kind="texts", help="Run only cases of this category.", default=(), as_input=False),
    Setting(name="tag", kind="texts", help="Run only cases with this tag.", default=(), as_input=False),
    Setting(name="filter", kind="texts", help="Run only cases whose key matches.", default=(), as_input=False),
    Setting(name="evaluators", kind="texts", help="Evaluators for rows, by name.", default=(), as_input=False),
    Setting(name="baseline", kind="text", help="The base's results document, a folder of them, or its address."),
    Setting(
        name="verify",
        kind="text",
        help="Run the base again before a red blocks: auto or off.",
        default="auto",
        choices=("auto", "off"),
    ),
    Setting(
        name="verify_repeats",
        kind="whole",
        help="Attempts per case of that fresh run.",
        default=6,
        minimum=1,
        as_input=False,
    ),
    Setting(
        name="min_pass_rate",
        kind="number",
        help="The least share of cases that must pass, 0–1.",
        minimum=0,
        maximum=1,
    ),
    Setting(
        name="fail_on",
        kind="texts",
        help="The gates that may fail the run; `none` for none.",
    ),
    Setting(
        name="errors_limit",
        kind="number",
        help="The share of cases, 0–1, that may stay unmeasured.",
        default=0.0,
        minimum=0,
        maximum=1,
        as_input=False,
    ),
    Setting(
        name="baseline_required",
        kind="yes_no",
        help="No baseline is a failure.",
        default=False,
        as_input=False,
    ),
    Setting(name="output_dir", kind="text", help="Where the action writes its files.", default=".evals/results"),
)
_BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEntry:
    """A suite as the settings or the command line name it; relative to `base`."""

    path: str
    base: Path
    evaluators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything settled. `origins` says for each name where its value came from."""

    cwd: Path
    repository: Path
    suites: tuple[SuiteEntry, ...]
    everything: bool
    target: TargetSettings | None
    judge: JudgeSettings | None
    no_judge: bool
    repeat: int
    concurrency: int
    judge_concurrency: int
    category: tuple[str, ...]
    tag: tuple[str, ...]
    filter: tuple[str, ...]
    evaluators: tuple[str, ...]
    baseline: str | None
    baseline_named: bool  # by flag or action input: then it must exist
    baseline_required: bool
    verify: str
    verify_repeats: int
    min_pass_rate: float | None
    fail_on: tuple[str, ...] | None
    gates: tuple[Gate, ...]
    errors_limit: float
    output_dir: str
    evaluate_only: bool = False
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    origins: Mapping[str, str] = field(default_factory=dict)
    file: str | None = None

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables that hold the keys of target and judge."""
        return tuple(told.api_key_env for told in (self.target, self.judge) if told is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a run was told, before it is settled. `flags` holds only the given ones."""

    flags: Mapping[str, object] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    cwd: Path = field(default_factory=Path.cwd)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    evaluate_only: bool = False


def resolve(told: Told) -> Settings:
    """Settles every setting. Raises InvalidSettings, InvalidSuite for the file, with all problems found."""
    repository = repository_root(told.cwd)
    config, _ = _from_strings(_BY_NAME["config"], told)
    file = read_settings_file(told.cwd, repository, None if config is None else str(config))
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for setting in SETTINGS:
        value, origin = _from_strings(setting, told)
        if origin is None and setting.name in file.values:
            value, origin = (
                _checked(setting, file.values[setting.name], f"{file.shown}: {setting.name}"),
                file.shown,
            )
        if origin is None:
            value, origin = setting.default, "default"
        values[setting.name], origins[setting.name] = value, origin
    gates = gates_of(file.values.get("gates", ()), file.shown)
    check_names(values["fail_on"] or (), origins["fail_on"], gates)
    suites = _suites(values["suites"], origins["suites"], file, told.cwd)
    given = Given(
        values=values,
        origins=origins,
        file=file,
        cwd=told.cwd,
        repository=repository,
        environment=told.environment,
    )
    return Settings(
        cwd=told.cwd,
        repository=repository,
        suites=suites,
        everything=values["all"],
        target=target_settings(given),
        judge=judge_settings(given),
        no_judge=values["no_judge"],
        repeat=values["repeat"],
        concurrency=values["concurrency"],
        judge_concurrency=values["judge_concurrency"],
        category=tuple(values["category"]),
        tag=tuple(values["tag"]),
        filter=tuple(values["filter"]),
        evaluators=tuple(values["evaluators"]),
        baseline=_baseline(values["baseline"], origins["baseline"], file, told.cwd),
        baseline_named=origins["baseline"] not in ("default", file.shown),
        baseline_required=values["baseline_required"],
        verify=values["verify"],
        verify_repeats=values["verify_repeats"],
        min_pass_rate=values["min_pass_rate"],
        fail_on=None if values["fail_on"] is None else tuple(values["fail_on"]),
        gates=gates,
        errors_limit=values["errors_limit"],
        output_dir=values["output_dir"],
        evaluate_only=told.evaluate_only,
        environment=told.environment,
        origins=origins,
        file=file.shown if file.found else None,
    )


def repository_root(cwd: Path) -> Path:
    """The nearest folder upwards with a `.git`; `cwd` itself outside a repository."""
    for folder in (cwd, *cwd.parents):
        if (folder / ".git").exists():
            return folder
    return cwd


def _from_strings(setting: Setting, told: Told) -> tuple[object, str | None]:
    """The value and its origin from flag, action input or environment; (None, None) where none names it."""
    flag = told.flags.get(setting.name)
    if flag is not None and flag != () and flag is not False:
        value = _texts(flag, "") if setting.kind == "texts" and isinstance(flag, str) else flag
        return _checked(setting, value, f"--{setting.name.replace('_', '-')}"), "flag"
    sources: Sequence[tuple[Mapping[str, str], str, str]] = (
        (told.inputs, setting.name, f"input {setting.name}"),
        (told.environment, f"RUNEVALS_{setting.name.upper()}", f"RUNEVALS_{setting.name.upper()}"),
    )
    for source, key, shown in sources:
        text = source.get(key, "").strip()
        if text:
            return _checked(setting, _PARSERS[setting.kind](text, shown), shown), shown
    return None, None


def _checked(setting: Setting, value: object, shown: str) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = setting.minimum, setting.maximum
        if (low is not None and not value >= low) or (high is not None and not value <= high):
            bounds = f"at least {low:g}" if high is None else f"from {low:g} to {high:g}"
            raise InvalidSettings(f"{shown} is {value:g}; it must be {bounds}")
    if setting.kind == "whole" and isinstance(value, float):
        value = int(value)  # 3.0 in a file is the whole number 3
    for word in value if isinstance(value, list | tuple) else (value,):
        if setting.choices and word not in setting.choices:
            hint = did_you_mean(str(word), setting.choices)
            raise InvalidSettings(f"{shown} is '{word}'; it must be one of {', '.join(setting.choices)}{hint}")
    return value


def _whole(text: str, shown: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidSettings(f"{shown} must be a whole number, but is '{text}'") from None


def _number(text: str, shown: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidSettings(f"{shown} must be a number, but is '{text}'") from None


def _yes_no(text: str, shown: str) -> bool:
    if text.lower() in ("true", "yes", "1", "on"):
        return True
    if text.lower() in ("false", "no", "0", "off"):
        return False
    raise InvalidSettings(f"{shown} must be true or false, but is '{text}'")


def _texts(text: str, _shown: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace("\n", ",").split(",") if part.strip())


def _text(text: str, _shown: str) -> str:
    return text


_PARSERS: Mapping[Kind, Callable[[str, str], object]] = {
    "text": _text,
    "texts": _texts,
    "whole": _whole,
    "number": _number,
    "yes_no": _yes_no,
}


def _suites(value: Any, origin: str, file: SettingsFile, cwd: Path) -> tuple[SuiteEntry, ...]:
    base = file.base if file.found and origin == file.shown else cwd
    return tuple(
        SuiteEntry(path=entry, base=base)
        if isinstance(entry, str)
        else SuiteEntry(path=entry["path"], base=base, evaluators=tuple(entry.get("evaluators", ())))
        for entry in value
    )


def _baseline(value: str | None, origin: str, file: SettingsFile, cwd: Path) -> str | None:
    if value is None or value == "none":
        return None
    if value.startswith(("http://", "https://")):
        return value
    return str((file.base if file.found and origin == file.shown else cwd) / value)
