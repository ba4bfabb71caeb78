"""The same settings, for another checkout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from runevals.settings.resolve import RawSettings, repository_root


def rerooted(raw: RawSettings, cwd: Path) -> RawSettings:
    """`raw` for a checkout of another commit, with `cwd` as the current folder.

    Paths that were given absolutely, as flags or in variables such as PYTHONPATH, would lead back into the first
    checkout and run its code as the other's. Variables of the job's event are left out: they speak of the first.
    """
    old, new = (str(repository_root(folder.resolve())) for folder in (raw.cwd, cwd))

    def moved(value: object) -> object:
        if isinstance(value, str):
            return value.replace(old, new)
        if isinstance(value, list | tuple):
            return type(value)(moved(item) for item in value)
        return value

    def all_moved(values: Mapping[str, str]) -> dict[str, str]:
        return {name: value.replace(old, new) for name, value in values.items() if not name.startswith("GITHUB_")}

    return replace(
        raw,
        flags={name: moved(value) for name, value in raw.flags.items()},
        inputs=all_moved(raw.inputs),
        environment=all_moved(raw.environment),
        cwd=cwd,
        base_side=None,
    )
