"""The same settings, for another checkout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from runevals.lib.checkout import repository_root
from runevals.lib.ci import in_ci
from runevals.repository.git import Head
from runevals.repository.worktree import with_paths_moved
from runevals.settings.resolve import RawSettings


def rerooted(raw: RawSettings, cwd: Path, head: Head | None = None) -> RawSettings:
    """`raw` for a checkout of another commit, which is `head` if that is known, with `cwd` as the current folder.

    Paths that were given absolutely, as flags or in variables such as PYTHONPATH, would lead back into the first
    checkout and run its code as the other's. Variables of the job's event are left out: they speak of the first.
    It still is a job of a CI system.
    """
    old, new = (repository_root(folder.resolve()) for folder in (raw.cwd, cwd))
    roots = _spellings(old, [*_texts(list(raw.flags.values())), *raw.inputs.values(), *raw.environment.values()])

    def moved(value: object) -> object:
        if isinstance(value, str):
            return with_paths_moved(value, roots, new)
        if isinstance(value, list | tuple):
            return type(value)(moved(item) for item in value)
        return value

    def all_moved(values: Mapping[str, str]) -> dict[str, str]:
        return {
            name: with_paths_moved(value, roots, new)
            for name, value in values.items()
            if not name.startswith("GITHUB_")
        }

    ours = {"CI": raw.environment.get("CI") or "true"} if in_ci(raw.environment) else {}
    return replace(
        raw,
        flags={name: moved(value) for name, value in raw.flags.items()},
        inputs=all_moved(raw.inputs),
        environment={**all_moved(raw.environment), **ours},
        cwd=cwd,
        base_side=None,
        head=head,
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _spellings(root: Path, texts: Iterable[str]) -> set[str]:
    """The path of `root`, and its paths through links that are in `texts`: PWD is as the shell entered it."""
    words = {word for text in texts for word in re.split(r"[\s:;,='\"]+", text) if word.startswith("/")}
    folders = {folder for word in words for folder in (Path(word), *Path(word).parents)}
    return {str(root), *(str(folder) for folder in folders if _is_same(folder, root))}


def _is_same(folder: Path, root: Path) -> bool:
    with suppress(OSError, ValueError):
        return folder.samefile(root)
    return False
