"""`runevals.yaml`, or `[tool.runevals]` of `pyproject.toml`, read and checked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.checkout import repository_root
from runevals.lib.nullable import without, without_none
from runevals.lib.parsing.shapes import object_in
from runevals.lib.parsing.source import JsonPath, Source, decoded, is_of_git, parse_text, read_text, resolved_path
from runevals.lib.storage.files import path_from, relative_name
from runevals.lib.text.secrets import KEY_SHAPES
from runevals.records import FileProblem, Location
from runevals.records.errors import InvalidSettings, InvalidSuite
from runevals.settings.gates import check_names, gate_problems, gates_of
from runevals.settings.places import PLACES, TABLE, contents_here, settings_file_in, settings_table
from runevals.settings.target_names import OF_ONE_TARGET, WITHOUT_SKILL, is_of_one_target, target_problems
from runevals.settings.values import baseline_address, read_mark, require_artifact_name

RESULTS = ".evals/results"  # of the runs of a project
LOOKS_LIKE_A_KEY = re.compile(KEY_SHAPES)
_RENAMED: Mapping[tuple[str, ...], str] = {  # names of earlier versions: read, with a notice
    ("on_inconclusive",): "on_unknown",
    ("baseline", "on_incomparable"): "on_unknown",
    ("suspects", "max_runs"): "fresh_runs",
}


class SettingsFile(Struct, frozen=True, kw_only=True):
    """The values of the file by setting name; `base` is what its paths are relative to."""

    base: Path
    exists: bool = False
    display_name: str = ""
    values: Mapping[str, Any] = {}
    path: Path | None = None
    places: Mapping[str, Location] = {}  # of its top-level keys
    notices: tuple[str, ...] = ()  # about settings that have another name now


class BaseSide(Struct, frozen=True, kw_only=True):
    """The side of a change that decides over it: the base's commit and settings.

    `file` None: the base has no settings file, or an unreadable one: the defaults decide.
    """

    commit: str
    began_at: str | None = None  # the commit at which the change began
    file: SettingsFile | None = None
    forked: SettingsFile | None = None  # the file at the merge base: the change alters what differs from it
    on_pull_request: bool = False
    unreadable: str | None = None  # why its settings cannot be read, though it has a file of them

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of the base's settings file."""
        return {} if self.file is None else self.file.values

    @property
    def display_name(self) -> str:
        """The origin of these values, for messages."""
        return f"{'settings' if self.file is None else self.file.display_name} of {self.commit[:7]}"


def read_settings_file(cwd: Path, repository: Path, config: str | None) -> SettingsFile:
    """The file `config`, else the first of the usual places in `cwd` and in the repository's root.

    Raises InvalidSuite with every problem of the file, InvalidSettings if `config` does not exist.
    """
    path = _find(cwd, repository, config)
    if path is None:
        return SettingsFile(base=cwd)
    _require_inside(path, repository, relative_name(path, cwd))
    path = path if config is None else path.resolve()
    display_name = _called(path, cwd, repository)
    return _settings_file(path, cwd, repository, *_parsed(read_text(path, display_name), path, display_name))


def _called(path: Path, cwd: Path, repository: Path) -> str:
    """The file as seen from the folder; results name it, and no folder above the repository."""
    return path_from(path, cwd) if path.is_relative_to(repository) else str(path)


def _settings_file(
    path: Path, cwd: Path, repository: Path, source: Source, notices: tuple[str, ...]
) -> SettingsFile:
    """The file with its checked values. Raises InvalidSuite with every problem."""
    base = path.parent.parent if path.parent.name == ".github" else path.parent
    values, keys = _values(source, os.path.relpath(base, repository)), cast("Mapping[str, Any]", source.value)
    return SettingsFile(
        exists=True,
        display_name=_called(path, cwd, repository),
        base=base,
        values=values,
        path=path,
        places={name: source.locate((name,), key=True) for name in keys},
        notices=notices,
    )


def base_settings_file(
    here: Sequence[Path],
    repository: Path,
    config: str | None,
    read: Callable[[Sequence[str]], Iterable[bytes | None]],
    above: Sequence[Path] = (),
) -> SettingsFile | None:
    """The settings file of another commit, found at the same places; `read` gives files of its root.

    `here` is the current folder under all its names, `above` those whose settings hold in it if it has none. None
    if that commit has no settings file.

    Raises InvalidSuite with every problem of the file.
    """
    cwd, folders = here[0], tuple(dict.fromkeys((*here, *above)))

    known: dict[Path, bytes | None] = {}

    def contents_of(paths: Sequence[Path]) -> Iterable[bytes | None]:
        # Not resolved: a link of the work tree must not decide which file is the base's settings.
        names = {path: path_from(path, repository) for path in paths}
        inside = {path: name for path, name in names.items() if not name.startswith("../")}
        known.update(zip(inside, read([*inside.values()]), strict=True))
        return map(known.get, paths)

    searched, places = (folders, PLACES) if config is None else (here, (config,))
    path = settings_file_in(searched, places, contents_of)
    if path is None:
        return None
    of_base = f"{_called(path, cwd, repository)} of the base"
    source, notices = _parsed(decoded(known[path] or b"", of_base), path, of_base)
    return _settings_file(path, cwd, repository, source, notices)


def _parsed(text: str, path: Path, display_name: str) -> tuple[Source, tuple[str, ...]]:
    """The settings in this text, under today's names, and notices of others. Raises InvalidSuite."""
    if path.suffix == ".toml":
        from runevals.lib.parsing.toml import read_toml

        source = read_toml(text, display_name)
        if (table := settings_table(source.value)) is None:
            raise InvalidSuite([source.problem((), f"has no table [{'.'.join(TABLE)}]")])
        source = source.within(TABLE, table)
    else:
        source = parse_text(text, path.suffix, display_name)
    value, notices = _with_new_names(source.value)
    return replace(source, value=value), tuple(f"{source.path}: {notice}" for notice in notices)


def _values(source: Source, folder: str) -> Mapping[str, Any]:
    """The checked values of a settings file in this folder. Raises InvalidSuite with every problem."""
    problems, value = source.schema_problems("runevals.settings", "settings-1"), object_in(source.value)
    if is_of_one_target(value.get("targets", {})):
        others = (problem for problem in problems if not problem.pointer.startswith("/targets"))
        problems = [source.problem(("targets",), OF_ONE_TARGET, key=True), *others]
    problems += _literal_keys(source)
    if {"judge", "judges"} <= value.keys():
        problems.append(source.problem(("judges",), "stands beside 'judge'; name one, or list them all here"))
    gates = ((("gates", number, key), message) for number, key, message in gate_problems(value.get("gates", ())))
    for stage in (target_problems(value), gates, _unusable(value, folder)):
        problems = problems or [source.problem(place, message) for place, message in stage]
    if problems:
        raise InvalidSuite(problems)
    return _flat(value)


def _unusable(value: Mapping[str, Any], folder: str) -> Iterator[tuple[JsonPath, str]]:
    """(place, problem) of values that stop a run which uses them.

    A change that brings one does not use it: the base's value holds. Every run after its merge would stop.
    """
    flat, gates = _flat(value), gates_of(value.get("gates", ()))
    of_baseline: JsonPath = ("baseline",) if isinstance(value.get("baseline"), str) else ("baseline", "path")
    checks: list[tuple[JsonPath, Any, Callable[[Any], object]]] = [
        (("fail_on",), flat.get("fail_on"), lambda names: check_names(names, gates)),
        (("mark",), flat.get("mark"), read_mark),
        (of_baseline, flat.get("baseline"), baseline_address),
        (("baseline", "artifact"), flat.get("baseline_artifact"), require_artifact_name),
        (("quarantine",), flat.get("quarantine"), lambda path: _require_below(path, folder)),
        *(
            (("share", n), path, lambda path: _require_below(path, folder))
            for n, path in enumerate(flat.get("share", ()))
        ),
    ]
    for place, written, check in checks:
        try:
            if written:
                check(written)
        except InvalidSettings as error:
            yield place, str(error)


def _require_below(path: str, folder: str) -> None:
    """Raises InvalidSettings for a path of a settings file in this folder that leads out of the repository."""
    first = Path(os.path.normpath(Path(folder, path))).parts[:1]
    if not folder.startswith("..") and first in ((), ("..",), ("/",)):
        raise InvalidSettings(f"{path} is outside the repository, or all of it")


def _find(cwd: Path, repository: Path, config: str | None) -> Path | None:
    if config is not None:
        path = cwd / config
        if not path.is_file():
            raise InvalidSettings(f"there is no settings file {config}")
        return path
    return settings_file_in((cwd, repository), PLACES, contents_here)


def project_folder(cwd: Path) -> Path:
    """Where results and the cache of a run are, relative to `cwd`: beside its settings, else there."""
    path = _find(cwd, repository_root(cwd), None)
    return Path("" if path is None else os.path.relpath(path.parent, cwd).removesuffix(".github"))


def results_folder(cwd: Path) -> Path:
    """Where runs are kept, relative to `cwd`."""
    return project_folder(cwd) / RESULTS


def _require_inside(path: Path, repository: Path, display_name: str) -> None:
    """Raises InvalidSettings for a link that leads out of the repository, or to git's own files.

    A change can commit one. A path that is outside itself is one that the command line names.
    """
    there = resolved_path(path)
    outside = there is None or not there.is_relative_to(repository.resolve()) or is_of_git(there, repository)
    if outside and Path(os.path.normpath(path)).is_relative_to(repository):
        raise InvalidSettings(f"{display_name} leads out of the repository; put the file there, without a link")


def _literal_keys(source: Source) -> Iterator[FileProblem]:
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


_SPREAD = frozenset({"$schema", "version", "errors", "baseline", "evaluators", "judges", "redact"})
_NESTED: Mapping[tuple[str, ...], str] = {  # where the file has the value of a setting
    ("judges",): "judge",
    ("errors", "limit"): "errors_limit",
    ("evaluators",): "definitions",
    ("redact", "content"): "redact",
    ("redact", "patterns"): "redact_patterns",
    ("baseline", "path"): "baseline",
    **{("baseline", one): f"baseline_{one}" for one in ("artifact", "branch", "required", "wait", "workflow")},
}


def _flat(value: Any) -> dict[str, Any]:
    """The file's nested groups as flat setting names."""
    flat = without(value, _SPREAD)
    if isinstance(value.get("against"), dict):  # {without: skill}
        flat["against"] = WITHOUT_SKILL
    if isinstance(value.get("baseline"), str):
        flat["baseline"] = value["baseline"]
    flat |= {"redact": "full"} if "redact" in value else {}
    return flat | without_none(**{name: _taken(value, path)[0] for path, name in _NESTED.items()})


def _with_new_names(value: Any) -> tuple[Any, tuple[str, ...]]:
    """The values of a settings file under today's names, and a sentence on each that has another.

    A value under today's name goes before one under an earlier name.
    """
    notices = []
    for path, name in _RENAMED.items():
        old, rest = _taken(value, path)
        if old is not None:
            value = {name: old, **rest}
            notices.append(f"the setting {'.'.join(path)} is now called {name}")
    return value, tuple(notices)


def _taken(value: Any, path: tuple[str, ...]) -> tuple[Any, Any]:
    """(what is at this path, the values without it); None if nothing is."""
    first, *inner = path
    if not isinstance(value, dict) or first not in value:
        return None, value
    if not inner:
        return value[first], {name: item for name, item in value.items() if name != first}
    old, rest = _taken(value[first], tuple(inner))
    others = {name: item for name, item in value.items() if name != first or rest}
    return old, {**others, first: rest} if rest else others
