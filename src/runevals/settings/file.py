"""`runevals.yaml`, read and checked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from runevals.lib.parsing.source import JsonPath, Source, parse_source, read_source
from runevals.lib.text.secrets import KEY_SHAPES
from runevals.records import SuiteProblem
from runevals.records.errors import InvalidSettings, InvalidSuite
from runevals.settings.retired import retired_in, without_retired

PLACES = ("runevals.yaml", "runevals.yml", ".github/runevals.yaml")
LOOKS_LIKE_A_KEY = re.compile(KEY_SHAPES)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """The values of the file by setting name; `base` is what its paths are relative to."""

    found: bool
    shown: str
    base: Path
    values: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None


# What decides over a change is read from the base's file, not from the one that the change brings along.
GUARDED = (
    "accept_label",
    "alpha",
    "annotations",
    "base",
    "base_setup",
    "baseline",
    "baseline_artifact",
    "baseline_branch",
    "baseline_required",
    "baseline_wait",
    "baseline_workflow",
    "category",
    "comment",
    "comment_id",
    "errors_limit",
    "executor",  # a change could else have its code run on other machines
    "fail_on",
    "gates",
    "judge",
    "mark",
    "max_base_age",
    "max_calls",
    "max_cost",
    "max_duration",
    "max_tokens",
    "min_effect",
    "min_pass_rate",
    "on_incomparable",
    "on_inconclusive",
    "quarantine",
    "redact",
    "redact_patterns",
    "require_credentials",
    "sandbox",
    "share",
    "suspects_max_runs",
    "tag",
    "url_fetch",
    "verify",
    "verify_repeats",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseSide:
    """The side of a change that decides over it: the base's commit and settings.

    `file` None: the base has no settings, or none that can be read, and what it decides is at its default.
    """

    commit: str
    file: SettingsFile | None = None
    forked: SettingsFile | None = None  # as the change began: what it alters is told by the difference
    on_pull_request: bool = False
    unreadable: str | None = None  # why its settings cannot be read, though it has a file of them

    @property
    def values(self) -> Mapping[str, Any]:
        """What the base's settings say."""
        return {} if self.file is None else self.file.values

    @property
    def shown(self) -> str:
        """Where these values came from, in words."""
        return f"{'settings' if self.file is None else self.file.shown} of {self.commit[:7]}"


def read_settings_file(cwd: Path, repository: Path, named: str | None) -> SettingsFile:
    """The named file, else the first of the usual places in `cwd` and in the repository's root.

    Raises InvalidSuite with every problem of the file, InvalidSettings where a named one is absent.
    """
    path = _find(cwd, repository, named)
    if path is None:
        return SettingsFile(found=False, shown="", base=cwd)
    shown = _shown(path, cwd)
    base = path.parent.parent if path.parent.name == ".github" else path.parent
    values = _values(read_source(path, shown))
    return SettingsFile(found=True, shown=shown, base=base, values=values, path=path)


def base_settings_file(
    here: Sequence[Path], repository: Path, named: str | None, read: Callable[[str], bytes | None]
) -> SettingsFile | None:
    """The settings file of another commit, found at the same places; `read` gives a file of its root.

    `here` is the folder that we are in, by all its names.

    None where that commit has none. Raises InvalidSuite with every problem of the file.
    """
    cwd, folders = here[0], tuple(dict.fromkeys((*here, repository)))
    paths = (
        [folder / named for folder in here]
        if named is not None
        else [folder / place for folder in folders for place in PLACES]
    )
    for path in paths:
        # Not resolved: a link of the work tree must not say where the base keeps its settings.
        relative = os.path.relpath(path, repository).replace(os.sep, "/")
        if relative.startswith("../"):
            continue
        found = read(relative)
        if found is None:
            continue
        shown = _shown(path, cwd)
        base = path.parent.parent if path.parent.name == ".github" else path.parent
        source = parse_source(found, path.suffix, f"{shown} of the base")
        values = _values(replace(source, value=without_retired(source.value)))
        return SettingsFile(found=True, shown=shown, base=base, values=values, path=path)
    return None


def _values(source: Source) -> Mapping[str, Any]:
    """The checked values of a settings file. Raises InvalidSuite with every problem."""
    problems = [*retired_in(source)] or source.schema_problems("runevals.settings", "settings-1")
    problems += _literal_keys(source)
    if isinstance(source.value, dict) and {"judge", "judges"} <= source.value.keys():
        problems.append(source.problem(("judges",), "stands beside 'judge'; name one, or list them all here"))
    if problems:
        raise InvalidSuite(problems)
    return _flat(source.value)


def _find(cwd: Path, repository: Path, named: str | None) -> Path | None:
    if named is not None:
        path = cwd / named
        if not path.is_file():
            raise InvalidSettings(f"there is no settings file {named}")
        return path.resolve()
    folders = (cwd,) if repository == cwd else (cwd, repository)
    candidates = (folder / place for folder in folders for place in PLACES)
    return next((path for path in candidates if path.is_file()), None)


def _shown(path: Path, cwd: Path) -> str:
    return path.relative_to(cwd).as_posix() if path.is_relative_to(cwd) else str(path)


def _literal_keys(source: Source) -> Iterator[SuiteProblem]:
    for place, value in _texts(source.value, ()):
        if "\0" in value:
            yield source.problem(place, "holds a NUL character, which no path or argument can")
        if LOOKS_LIKE_A_KEY.search(value):
            message = "holds what looks like a key; name its environment variable with api_key_env instead"
            yield source.problem(place, message)


def _texts(value: object, place: JsonPath) -> Iterator[tuple[JsonPath, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*place, index))


_SPREAD = frozenset({"$schema", "version", "errors", "baseline", "evaluators", "judges", "redact", "suspects"})


def _flat(value: Any) -> dict[str, Any]:
    """File shape → setting names: the nested groups that the file has are spread out."""
    flat = {name: item for name, item in value.items() if name not in _SPREAD}
    if "judges" in value:
        flat["judge"] = value["judges"]
    if "limit" in value.get("errors", {}):
        flat["errors_limit"] = value["errors"]["limit"]
    if "max_runs" in value.get("suspects", {}):
        flat["suspects_max_runs"] = value["suspects"]["max_runs"]
    if "evaluators" in value:
        flat["definitions"] = value["evaluators"]
    if "redact" in value:
        flat["redact"] = value["redact"].get("content", "full")
        if "patterns" in value["redact"]:
            flat["redact_patterns"] = value["redact"]["patterns"]
    baseline = value.get("baseline")
    if isinstance(baseline, str):
        flat["baseline"] = baseline
    elif isinstance(baseline, dict):
        if "path" in baseline:
            flat["baseline"] = baseline["path"]
        own = ("artifact", "branch", "required", "wait", "workflow")
        flat |= {f"baseline_{name}": baseline[name] for name in own if name in baseline}
        if "on_incomparable" in baseline:
            flat["on_incomparable"] = baseline["on_incomparable"]
    return flat
