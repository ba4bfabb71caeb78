"""On a laptop: what settings reach beyond the main branch's is said, and of lines of others it is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import at_terminal, confirmed, notice
from runevals.records.errors import InvalidSettings, InvalidSuite
from runevals.repository import git
from runevals.settings.capabilities import Ledger, beyond, capabilities, of_workflow, servers_at
from runevals.settings.file import SettingsFile, base_settings_file
from runevals.settings.resolve import Settings

_MADE_HERE = ("commit", "rebase", "revert")  # how the entry of a commit begins in git's log of references


def require_trusted(settings: Settings) -> None:
    """Says what settings reach beyond those of the main branch; of lines of others it asks, once for each content.

    Raises InvalidSettings if the answer is no, or nobody can be asked. In CI the base decides.
    """
    if not (settings.in_ci or settings.not_from or settings.file is None or settings.measure.trust):
        _require_trusted(settings, settings.file)


def _require_trusted(settings: Settings, file: SettingsFile) -> None:
    repository = settings.repository
    used = ("judge",) if settings.evaluate_only else ("target", "judge")
    of_file = [what for what in used if settings.origins[what] == file.display_name]
    reached = _reached(settings, file, {what: file.values[what] for what in of_file if what in file.values}, None)
    granted = of_workflow(settings.environment, "judge")
    if not beyond(reached, granted) or git.why_unavailable(repository) is not None:
        return
    branch = git.default_branch(repository) or ""
    tips = (git.commit_of(repository, f"refs/{place}/{branch}") for place in ("remotes/origin", "heads"))
    base = next((git.common_ancestor(repository, tip) for tip in filter(None, tips)), None)
    if base is None:
        return
    of_main = _values_at(settings, file, base)
    new = beyond(reached, {**granted, **_reached(settings, file, of_main or {}, base)})
    theirs = _of_others(settings, file, new, base) if new else {}
    if theirs or (new and of_main is not None):
        what = "; ".join(dict.fromkeys(f"{setting} {reach}" for reach, setting in (theirs or new).items()))
        _settle(f"{what}: {branch} does not name that", str(repository) if theirs else None)


def _reached(settings: Settings, file: SettingsFile, values: Mapping[str, Any], commit: str | None) -> Ledger:
    return capabilities(values, settings.environment, servers_at(settings.repository, file.base, commit))


def _values_at(settings: Settings, file: SettingsFile, commit: str) -> Mapping[str, Any] | None:
    """The values of the settings file in a commit, for the target that runs; None without a readable one."""
    repository, former = settings.repository, None
    with suppress(InvalidSuite):
        read = partial(git.files_at, repository, commit)
        former = base_settings_file((settings.cwd,), repository, str(file.path), read)
    if former is None:
        return None
    target = former.values.get("targets", {}).get(settings.target_name, former.values.get("target"))
    return {**former.values, "target": target}


def _of_others(settings: Settings, file: SettingsFile, new: Ledger, base: str) -> Ledger:
    """What of it is committed, if another than the user of this checkout wrote a commit of these settings."""
    committed = _reached(settings, file, _values_at(settings, file, "HEAD") or {}, "HEAD")
    theirs = {reach: setting for reach, setting in new.items() if reach in committed}
    if not theirs:
        return {}
    user = os.environ.get("GIT_AUTHOR_EMAIL") or git.git(settings.repository, "config", "user.email")
    log = _log(settings.repository, "--walk-reflogs", "--all", "--format=%H %gs")
    here = {(commit, user) for commit, how in log if how.startswith(_MADE_HERE)}
    return {} if here.issuperset(_log(settings.repository, "--format=%H %ae", f"{base}..HEAD")) else theirs


def _log(repository: Path, *words: str) -> list[tuple[str, str]]:
    """(commit, what is said of it) of each line of git's log."""
    lines = (git.git(repository, "log", *words) or "").splitlines()
    return [(commit, text) for commit, _, text in (line.partition(" ") for line in lines)]


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
