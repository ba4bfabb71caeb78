"""`runevals.yaml`, read and checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runevals.dialects.reading import Place, Source, read_source
from runevals.errors import InvalidSettings, InvalidSuite
from runevals.records import SuiteProblem
from runevals.redact import KEY_SHAPES
from runevals.schema_check import complaints

PLACES = ("runevals.yaml", "runevals.yml", ".github/runevals.yaml")
LOOKS_LIKE_A_KEY = re.compile(KEY_SHAPES)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """The values of the file by setting name; `base` is what its paths are relative to."""

    found: bool
    shown: str
    base: Path
    values: Mapping[str, Any] = field(default_factory=dict)


def read_settings_file(cwd: Path, repository: Path, named: str | None) -> SettingsFile:
    """The named file, else the first of the usual places in `cwd` and in the repository's root.

    Raises InvalidSuite with every problem of the file, InvalidSettings where a named one is absent.
    """
    path = _find(cwd, repository, named)
    if path is None:
        return SettingsFile(found=False, shown="", base=cwd)
    shown = _shown(path, cwd)
    base = path.parent.parent if path.parent.name == ".github" else path.parent
    source = read_source(path, shown)
    problems = [
        source.problem(complaint.place, complaint.message, key=complaint.key)
        for complaint in complaints("runevals", "settings-1", source.value)
    ]
    problems += _literal_keys(source)
    if problems:
        raise InvalidSuite(problems)
    return SettingsFile(found=True, shown=shown, base=base, values=_flat(source.value))


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


def _texts(value: object, place: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*place, index))


def _flat(value: Any) -> dict[str, Any]:
    """File shape → setting names: the two nested groups that the file has are spread out."""
    flat = {name: item for name, item in value.items() if name not in ("version", "errors", "baseline")}
    if "limit" in value.get("errors", {}):
        flat["errors_limit"] = value["errors"]["limit"]
    baseline = value.get("baseline")
    if isinstance(baseline, str):
        flat["baseline"] = baseline
    elif isinstance(baseline, dict):
        if "path" in baseline:
            flat["baseline"] = baseline["path"]
        if "required" in baseline:
            flat["baseline_required"] = baseline["required"]
    return flat
