"""Plugins of installed packages, found by entry points: each room names its group of them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from runevals.lib.checkout import repository_root
from runevals.records.errors import RunevalsError, UnusablePlugin

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

P = ParamSpec("P")
R = TypeVar("R")

GROUPS = "runevals."  # how the name of each group begins
_SECTION = f"[{GROUPS}"
_LISTS: set[frozenset[str]] = set()  # of packages; each leaves out the plugins of all others


def load_only(packages: Collection[str]) -> None:
    """From now on loads the plugins of these packages only; of none, as before.

    What an earlier call left out stays out: a project of the change has a list of its own.
    """
    if packages:
        _LISTS.add(frozenset(map(_normalised, packages)))


def left_out() -> tuple[str, ...]:
    """The packages, with their versions, whose plugins are not loaded."""
    packages = {package for entries in _entries().values() for _, package in entries}
    return tuple(sorted(package for package in packages if not _is_listed(package)))


def _is_listed(package: str) -> bool:
    return all(_normalised(package.partition(" ")[0]) in names for names in _LISTS)


def _normalised(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def plugins(group: str, reserved: Collection[str] = ()) -> dict[str, object]:
    """The plugins of `group` by name. Raises UnusablePlugin: an unusable plugin stops the run.

    `reserved` are the built-in names, which a plugin must not use.
    """
    values: dict[str, object] = {}
    owner: dict[str, str] = {}
    for entry, package in _entries().get(group, ()):
        if not _is_listed(package):
            continue  # before its code is imported
        unusable = partial(_unusable, group, entry.name, package)
        if entry.name in reserved:
            raise unusable("the name is built in; the package must choose another")
        if entry.name in values:
            raise unusable(f"{owner[entry.name]} also has a plugin of that name")
        try:
            values[entry.name] = entry.load()
        except (Exception, SystemExit) as error:  # whatever a package does while it is imported
            raise unusable(f"{type(error).__name__}: {error}") from error
        owner[entry.name] = package
    return values


def is_any_installed() -> bool:
    """Whether a plugin of any group is installed."""
    return bool(_entries())


def require(group: str, name: str, plugin: object, has: Iterable[str]) -> None:
    """Raises UnusablePlugin if a plugin lacks a part of its contract."""
    missing = [part for part in has if not hasattr(plugin, part)]
    if missing:
        raise unusable_plugin(group, name, f"it has no {', '.join(missing)}")


def guarded(group: str, name: str, call: Callable[P, R]) -> Callable[P, R]:
    """Calls a part of a plugin; an error in it becomes UnusablePlugin."""

    def guard(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except RunevalsError:
            raise
        except Exception as error:  # whatever a package does
            raise unusable_plugin(group, name, f"{type(error).__name__}: {error}") from error

    return guard


def unusable_plugin(group: str, name: str, reason: str) -> UnusablePlugin:
    """What to raise of a plugin."""
    package = next(package for entry, package in _entries()[group] if entry.name == name)
    return _unusable(group, name, package, reason)


def _unusable(group: str, name: str, package: str, reason: str) -> UnusablePlugin:
    return UnusablePlugin(
        f"the plugin '{name}' of the package {package} (entry point {group}) cannot be used: {reason}\n"
        f"Repair or update {package.split(' ', maxsplit=1)[0]}, or uninstall it"
    )


@cache
def _entries() -> Mapping[str, tuple[tuple[EntryPoint, str], ...]]:
    """All entry points of runevals by group, sorted by name."""
    folders = [folder for folder in _search_path() if _may_hold_plugins(folder)]
    if not folders:
        return {}
    from importlib import metadata  # 15 ms that most installations need not pay

    groups: dict[str, list[tuple[EntryPoint, str]]] = {}
    packages: set[str] = set()
    for distribution in metadata.distributions(path=folders):
        if _SECTION not in (distribution.read_text("entry_points.txt") or ""):
            continue  # most of them: their metadata would take longer to read than all the rest
        name = distribution.metadata["Name"]
        if name in packages:
            continue  # the first on the path is imported
        packages.add(name)
        for entry in distribution.entry_points:
            if entry.group.startswith(GROUPS):
                groups.setdefault(entry.group, []).append((entry, f"{name} {distribution.version}"))
    return {
        group: tuple(sorted(entries, key=lambda item: (item[0].name, item[1])))
        for group, entries in groups.items()
    }


def _may_hold_plugins(folder: str) -> bool:
    """Whether a package in it has entry points of ours; also true for what is not a folder, such as an archive."""
    if not Path(folder).is_dir():
        return Path(folder).exists()
    with suppress(OSError), os.scandir(folder) as entries:  # not ours to read, or gone
        return any(_names_plugins(entry.path) for entry in entries if entry.name.lower().endswith("-info"))
    return False


def _names_plugins(metadata: str) -> bool:
    with suppress(OSError):
        return _SECTION.encode() in Path(metadata, "entry_points.txt").read_bytes()
    return False


def _search_path() -> Iterator[str]:
    """The folders of installed packages, without those of the checkout: a change must not add plugins.

    A virtual environment may be in the checkout.
    """
    checkout, environment = repository_root(Path.cwd()), Path(sys.prefix).resolve()
    for folder in filter(None, sys.path):
        path = Path(folder).resolve()
        own = path.is_relative_to(environment) and environment.is_relative_to(checkout)
        if own or not path.is_relative_to(checkout):
            yield folder
