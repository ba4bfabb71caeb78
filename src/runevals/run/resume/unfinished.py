"""Runs that were ended before they were done: what they were told, and where their answers are."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from runevals import __version__
from runevals.lib.chat.providers import PROVIDERS
from runevals.lib.git import tracked_in, why_unavailable
from runevals.lib.sandbox import Sandbox
from runevals.lib.storage.cache import FILES, Cache, SignedCache
from runevals.lib.storage.file_lock import AlreadyLocked, file_lock
from runevals.lib.storage.files import folders_with_mark, remove, require_no_link, write_whole
from runevals.lib.terminal import notice
from runevals.lib.text.numbers import plural
from runevals.records import Conclusion
from runevals.records.errors import CannotWrite, InvalidSettings
from runevals.run.redaction.redactors import text_redactor
from runevals.run.resume.code_fingerprint import MOST_FILES, Code, addresses, changed, code_of
from runevals.run.resume.journal import Journal
from runevals.settings.resolve import Settings, repository_root

RUNS = Path(".evals", "runs")
TOLD = "told.json"
LOCK = "lock"
_FILES = (TOLD, LOCK, *FILES)  # all that we ever put into the folder of a run
PAID = (*PROVIDERS, "http", "a2a")
MOST_KEPT = 20  # unfinished runs; the oldest goes when another begins


class UnfinishedRun:
    """A run in its folder, from its first answer to its conclusion."""

    def __init__(self, folder: Path, words: str | None = None, *, secret: bytes | None = None) -> None:
        """`words` are what a new run was told; one that goes on has them in its folder.

        With a `secret`, it is one whose words come from elsewhere, and only answers signed with it are believed.
        """
        self.folder = folder
        self._words = words
        self._secret = secret

    @contextmanager
    def journal(self, settings: Settings) -> Iterator[Journal]:
        """Where its answers are written, and read from where it goes on."""
        paid = settings.target is not None and settings.target.type in PAID
        cache = Cache(self.folder, lambda told: notice(f"Warning: {told}"), durable=paid)
        answers = cache.info().answers
        new = self._words is not None
        if self._words is not None:
            self._begin(self._words)
        elif self._secret is None or answers != 0:
            found = "answers that cannot be read" if answers is None else plural(answers, "answer")
            notice(f"Resuming {self.folder.name}, which has {found}")
        with _alone(self.folder):
            try:
                with Sandbox(workers=1) as sandbox:  # for the patterns; it starts nothing without any
                    redact, kept = text_redactor(settings, sandbox), SignedCache(cache, self._secret or b"")
                    yield Journal(kept=kept, side="head", redact=redact, new=new)
            finally:
                nothing = cache.info().answers == 0
                cache.close()
                if nothing:
                    remove(self.folder, _FILES)

    def _begin(self, words: str) -> None:
        """Makes its folder, and room for it. Where that cannot be, the run cannot be resumed, and says so."""
        runs = self.folder.parent
        try:
            for old in folders_with_mark(runs, TOLD)[: 1 - MOST_KEPT]:
                remove(runs / old, _FILES)
            write_whole(self.folder / TOLD, words)
        except (OSError, CannotWrite) as error:
            notice(f"Warning: this run cannot be resumed: {error}")

    def end(self, conclusion: Conclusion, *, written: bool) -> str | None:
        """Forgets a run that was measured and written; of another, how it can go on."""
        errors = any(case.unmeasured and not case.unchecked for case in conclusion.report.cases)
        if written and conclusion.report.run.stopped is None and not errors:
            remove(self.folder, _FILES)
            return None
        if not (self.folder / TOLD).exists():
            return None
        return f"Go on, asking only for what is missing: runevals run --resume {self.folder.name}"


def _alone(folder: Path) -> AbstractContextManager[object]:
    """Keeps other processes from the run. Raises InvalidSettings where one is at it."""
    try:
        return file_lock(folder / LOCK)
    except AlreadyLocked:
        told = "still goes on in another process; wait for it, or end it first"
        raise InvalidSettings(f"--resume: the run {folder.name} {told}") from None


def worth_a_journal(settings: Settings) -> bool:
    """Whether anything is asked that would have to be asked again."""
    target = settings.target
    asked = not settings.evaluate_only and target is not None and target.type != "recorded"
    judged = not settings.no_judge and any(judge.type != "recorded" for judge in settings.judges)
    return asked or judged


def begun(told: Mapping[str, Any], paths: tuple[str, ...], settings: Settings) -> UnfinishedRun:
    """A new run; its folder is made with its journal."""
    name = f"{datetime.now().astimezone():%Y-%m-%d_%H-%M-%S}-{secrets.token_hex(2)}"
    words = {key: value for key, value in told.items() if key != "resume" and value not in (None, (), False)}
    content = {
        "version": __version__,
        "told": words,
        "paths": list(paths),
        "code": code_of(settings, told.get("output") or ()),
        "addresses": addresses(settings),
    }
    folder = settings.cwd / RUNS / name
    require_no_link(folder)
    return UnfinishedRun(folder, json.dumps(content, indent=1, default=list))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumableRun:
    """A run that can go on: its flags, its paths, what code it was of, and whom it asked."""

    run: UnfinishedRun
    told: Mapping[str, Any]
    paths: tuple[str, ...]
    version: object
    code: Code | None
    addresses: list[str]


def unfinished(named: str, cwd: Path) -> ResumableRun:
    """The run with this name, the newest where it is empty. Raises InvalidSettings.

    One that git has somebody committed: it is no run that was made here.
    """
    runs = cwd / RUNS
    repository = repository_root(cwd)
    committed = tracked_in(repository, cwd / RUNS.parts[0])
    if committed is None:
        raise InvalidSettings(
            f"--resume: git cannot tell whether a run was committed: {why_unavailable(repository)}"
        )
    there = [name for name in folders_with_mark(runs, TOLD) if not _is_of(runs / name, committed)]
    if not there:
        raise InvalidSettings(f"--resume: there is no unfinished run in {RUNS}")
    if named and named not in there:
        raise InvalidSettings(f"--resume: there is no unfinished run '{named}'; there are {', '.join(there[-5:])}")
    folder = runs / (named or there[-1])
    require_no_link(*(folder / name for name in _FILES))
    try:
        content = json.loads((folder / TOLD).read_text(encoding="utf-8"))
        flags = {key: tuple(value) if isinstance(value, list) else value for key, value in content["told"].items()}
        return ResumableRun(
            run=UnfinishedRun(folder),
            told=flags,
            paths=tuple(content["paths"]),
            version=content["version"],
            code=None if content["code"] is None else dict(content["code"]),
            addresses=list(content["addresses"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidSettings(f"--resume: {folder / TOLD} cannot be read ({error}); run it anew") from None


def _is_of(folder: Path, committed: Collection[Path]) -> bool:
    """Whether anything of these is the folder, is in it, or has it (a submodule, say)."""
    return any(path.is_relative_to(folder) or folder.is_relative_to(path) for path in committed)


def require_same(before: ResumableRun, settings: Settings) -> None:
    """Raises InvalidSettings where kept answers are those of another program or endpoint than are here."""
    if before.version != __version__:
        raise InvalidSettings(f"--resume: the run is of runevals {before.version}; run it anew")
    if before.addresses != addresses(settings):
        raise InvalidSettings(
            "--resume: the target or a judge has another address now than when the run began (OPENAI_BASE_URL, "
            "base_url, target.url); go back to it, or run it anew"
        )
    if before.code is None:
        raise InvalidSettings(
            f"--resume: there are more than {MOST_FILES} files here that git does not have, too many to know "
            "whether the program under test is still the same; run it anew"
        )
    if changed(before.code, settings):
        raise InvalidSettings(
            "--resume: the files here have changed since the run began, and with them, maybe, the program under "
            "test; go back to them, or run it anew"
        )
