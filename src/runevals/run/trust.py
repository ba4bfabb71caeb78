"""On a laptop: what settings reach beyond the main branch's is said, and of lines of others it is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import at_terminal, confirmed, notice
from runevals.records.errors import InvalidSettings, InvalidSuite
from runevals.repository import git
from runevals.settings.capabilities import Ledger, beyond, capabilities, of_workflow, servers_at
from runevals.settings.file import base_settings_file
from runevals.settings.resolve import Settings

_MADE_HERE = ("commit", "rebase", "revert")  # how the entry of a commit begins in git's log of references


def require_trusted(settings: Settings) -> None:
    """Says what settings reach beyond those of the main branch; of lines of others it asks, once for each content.

    Raises InvalidSettings if the answer is no, or nobody can be asked. In CI the base decides.
    """
    if not (settings.in_ci or settings.not_from or settings.file is None or settings.measure.trust):
        _require_trusted(settings, settings.repository)


def _require_trusted(settings: Settings, repository: Path) -> None:
    values = settings.file.values if settings.file is not None else {}
    from_file = {what: values[what] for what in ("target", "judge") if _is_of_file(settings, what)}
    reached = _reached(settings, from_file, None)
    granted = of_workflow(settings.environment, "judge")
    if not beyond(reached, granted) or git.why_unavailable(repository) is not None:
        return
    branch = git.default_branch(repository) or ""
    tips = (git.commit_of(repository, f"refs/{place}/{branch}") for place in ("remotes/origin", "heads"))
    tip = next(filter(None, tips), None)
    base = None if tip is None else git.common_ancestor(repository, tip)
    if base is None:
        return
    of_main = _values_at(settings, base)
    new = beyond(reached, {**granted, **_reached(settings, of_main or {}, base)})
    theirs = _of_others(settings, new, base)
    if theirs or (new and of_main is not None):
        what = "; ".join(dict.fromkeys(f"{setting} {reach}" for reach, setting in (theirs or new).items()))
        _settle(f"{what}: {branch} does not name that", str(repository) if theirs else None)


def _is_of_file(settings: Settings, what: str) -> bool:
    """Whether the settings file says what is used here."""
    assert settings.file is not None  # noqa: S101 - it is there
    used = what == "judge" or not settings.evaluate_only
    return used and what in settings.file.values and settings.origins[what] == settings.file.display_name


def _reached(settings: Settings, values: Mapping[str, Any], commit: str | None) -> Ledger:
    assert settings.file is not None  # noqa: S101 - it is there
    servers = servers_at(settings.repository, settings.file.base, commit)
    return capabilities(values, settings.environment, servers)


def _values_at(settings: Settings, commit: str) -> Mapping[str, Any] | None:
    """The values of the settings file in a commit, for the target that runs; None without a readable one."""
    assert settings.file is not None  # noqa: S101 - it is there
    repository = settings.repository
    try:
        file = base_settings_file(
            (settings.cwd,),
            repository,
            str(settings.file.path),
            lambda path: git.file_at(repository, commit, path),
        )
    except InvalidSuite:
        return None
    if file is None:
        return None
    target = file.values.get("targets", {}).get(settings.target_name, file.values.get("target"))
    return {**file.values, "target": target}


def _of_others(settings: Settings, new: Ledger, base: str) -> Ledger:
    """What of it is committed, if another than the user of this checkout wrote a commit of these settings."""
    if not new or settings.file is None:
        return {}
    committed = _reached(settings, _values_at(settings, "HEAD") or {}, "HEAD")
    theirs = {reach: setting for reach, setting in new.items() if reach in committed}
    commits = git.git(settings.repository, "log", "--format=%H %ae", f"{base}..HEAD") if theirs else None
    written = [line.partition(" ") for line in (commits or "").splitlines()]
    log = git.git(settings.repository, "log", "--walk-reflogs", "--all", "--format=%H %gs") or ""
    here = {
        commit
        for commit, _, how in (line.partition(" ") for line in log.splitlines())
        if how.startswith(_MADE_HERE)
    }
    user = git.git(settings.repository, "config", "user.email")
    return theirs if any(author != user or commit not in here for commit, _, author in written) else {}


@cache
def _settle(sentence: str, repository: str | None) -> None:
    """Says it once. Raises InvalidSettings for what is others' (`repository`) and not trusted."""
    notice(f"Notice: {sentence}")
    if repository is None:
        return
    known = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state", "runevals", "trusted")
    mark = sha256(f"{repository}\0{sentence}".encode()).hexdigest()
    marks = known.read_text(encoding="utf-8").split() if known.is_file() else []
    if mark in marks:
        return
    why = f"another author committed settings with which this run would go further: {sentence}"
    if not at_terminal():
        raise InvalidSettings(f"{why}; look at them, then run it at a terminal, or with --trust")
    if not confirmed("Another author committed these settings. Run them here?"):
        raise InvalidSettings(why)
    write_whole(known, "".join(f"{one}\n" for one in (*marks, mark)))
