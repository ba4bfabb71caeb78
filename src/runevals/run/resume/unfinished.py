"""Unfinished runs: their options and the folder of their answers."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from itertools import filterfalse
from pathlib import Path
from typing import Any

from msgspec import Struct

from runevals.lib.checkout import repository_root
from runevals.lib.nullable import if_known
from runevals.lib.storage.cache import SignedCache
from runevals.lib.storage.file_lock import AlreadyLocked, file_lock
from runevals.lib.storage.files import IGNORE, folders_with_mark, remove, require_no_link, write_whole
from runevals.lib.storage.text_log import TextLog
from runevals.lib.terminal import notice
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import plural
from runevals.records import Conclusion
from runevals.records.errors import CannotWrite, InvalidSettings
from runevals.records.report import NO_CHECKS
from runevals.repository.git import tracked_in, why_unavailable
from runevals.run.live import live_judges, live_target
from runevals.run.redaction.redactors import text_redactor
from runevals.run.resume.code_fingerprint import MOST_FILES, Code, addresses, code_of, what_changed
from runevals.run.resume.journal import Journal
from runevals.sandbox import Sandbox
from runevals.settings.resolve import Settings
from runevals.version import __version__

RUNS = Path(".evals", "runs")
OPTIONS = "options.json"
ANSWERS = "answers.log"
LOCK = "lock"
FILES = (OPTIONS, ANSWERS, LOCK, IGNORE)  # all that the folder of a run can have
MOST_KEPT = 20  # unfinished runs; the oldest goes when another begins


class UnfinishedRun:
    """A run in its folder, from its first answer to its conclusion."""

    def __init__(self, folder: Path, words: str | None = None, *, secret: bytes | None = None) -> None:
        """`words` holds the options of a new run; a resumed one has them in its folder.

        With a `secret`, it is one whose words come from elsewhere, and only answers signed with it are believed.
        """
        self.folder = folder
        self._words = words
        self._secret = secret

    @contextmanager
    def journal(self, *targets: Settings) -> Iterator[Journal]:
        """The journal that its answers are written to and, on resuming, read from.

        `targets` are the settings of each target.
        """
        paid = any(each.target is not None and each.target.traits.is_paid for each in targets)
        log = TextLog(self.folder / ANSWERS, lambda text: notice(f"Warning: {text}"), durable=paid)
        answers = log.count()
        if self._words is not None:
            self._begin(self._words)
        elif self._secret is None or answers != 0:
            notice(f"Resuming {self.folder.name}, which has {plural(answers, 'answer')}")
        with _alone(self.folder):
            try:
                with Sandbox(workers=1) as sandbox:  # for the patterns; it starts nothing without any
                    redact = text_redactor(targets[0], sandbox, targets[1:])
                    yield Journal(cache=SignedCache(log, self._secret or b""), side="head", redact=redact)
            finally:
                nothing = log.count() == 0
                log.close()
                if nothing:
                    remove(self.folder, FILES)

    def _begin(self, words: str) -> None:
        """Creates its folder and removes old ones. If that fails, a notice says that the run cannot be resumed."""
        runs = self.folder.parent
        try:
            for old in folders_with_mark(runs, OPTIONS)[: 1 - MOST_KEPT]:
                remove(runs / old, FILES)
            write_whole(self.folder / OPTIONS, words)
        except (OSError, CannotWrite) as error:
            notice(f"Warning: this run cannot be resumed: {error}")

    def end(self, *conclusions: Conclusion, written: bool) -> str | None:
        """Removes the folder of a finished run; for another, the words that resume it, if that may get further."""
        left = [*filterfalse(lambda one: written and _is_measured(one), conclusions)]
        if not left:
            remove(self.folder, FILES)
            return None
        why = {getattr(one.report.run.stopped, "code", 0) for one in left}
        why |= {one.report.totals.passed + one.report.totals.failed for one in left}  # what was measured goes on
        if "limit_unknown" in why or why <= {0, "refused"} or not (self.folder / OPTIONS).exists():
            return None
        return f"run --resume {self.folder.name}"


def _is_measured(conclusion: Conclusion) -> bool:
    report = conclusion.report
    if report.run.stopped is not None or (conclusion.verdict.outcome == "unmeasured" and not report.cases):
        return False
    lacks_evidence = {*report.errors} == {NO_CHECKS.code}  # which it would lack again
    return lacks_evidence or not any(case.unmeasured for case in report.cases)


def _alone(folder: Path) -> AbstractContextManager[object]:
    """Locks the run. Raises InvalidSettings if another process has it."""
    try:
        return file_lock(folder / LOCK)
    except AlreadyLocked:
        problem = "is still running in another process; wait for it, or stop it first"
        raise InvalidSettings(f"--resume: the run {folder.name} {problem}") from None


def worth_a_journal(*targets: Settings) -> bool:
    """Whether the run makes calls that are worth storing."""
    return any(live_target(each) is not None or live_judges(each) for each in targets)


def journalled(
    options: Mapping[str, Any], paths: tuple[str, ...], before: ResumableRun | None, *targets: Settings
) -> UnfinishedRun | None:
    """The run to resume, or a new one; None if it has no calls worth storing. `targets`: the settings of each.

    Raises InvalidSettings if the stored answers are of another program or endpoint.
    """
    if before is not None:
        _require_same(before, targets)
        return before.run
    return _begun(options, paths, targets) if worth_a_journal(*targets) else None


def _begun(options: Mapping[str, Any], paths: tuple[str, ...], targets: Sequence[Settings]) -> UnfinishedRun:
    """A new run; its folder is created with its journal."""
    name = f"{datetime.now().astimezone():%Y-%m-%d_%H-%M-%S}-{secrets.token_hex(2)}"
    words = {key: value for key, value in options.items() if key != "resume" and value not in (None, (), False)}
    content = {
        "version": __version__,
        "options": words,
        "paths": list(paths),
        "code": code_of(targets, options.get("output") or ()),
        "addresses": addresses(*targets),
    }
    folder = targets[0].cwd / RUNS / name
    require_no_link(folder)
    return UnfinishedRun(folder, json.dumps(content, indent=1, default=list))


class ResumableRun(Struct, frozen=True, kw_only=True):
    """A run that can be resumed: its options, paths, code fingerprint and endpoints."""

    run: UnfinishedRun
    options: Mapping[str, Any]
    paths: tuple[str, ...]
    version: object
    code: Code | None
    addresses: list[str]


def unfinished(run_name: str, cwd: Path) -> ResumableRun:
    """The run with this name, or the newest if the name is empty. Raises InvalidSettings.

    One that git has somebody committed: it is no run that was made here.
    """
    runs = cwd / RUNS
    repository = repository_root(cwd)
    committed = tracked_in(repository, cwd / RUNS.parts[0])
    if committed is None:
        raise InvalidSettings(f"--resume: git cannot tell if a run was committed: {why_unavailable(repository)}")
    there = [
        name
        for name in folders_with_mark(runs, OPTIONS)
        # nothing committed is the folder, is in it, or has it (a submodule, say)
        if not any(path.is_relative_to(runs / name) or (runs / name).is_relative_to(path) for path in committed)
    ]
    if not there:
        raise InvalidSettings(f"--resume: there is no unfinished run in {RUNS}: run it anew")
    if run_name and run_name not in there:
        raise InvalidSettings(f"--resume: there is no unfinished run '{run_name}', only {', '.join(there[-5:])}")
    folder = runs / (run_name or there[-1])
    require_no_link(*(folder / name for name in FILES))
    try:
        content = json.loads((folder / OPTIONS).read_text(encoding="utf-8"))
        flags = {
            key: tuple(value) if isinstance(value, list) else value for key, value in content["options"].items()
        }
        return ResumableRun(
            run=UnfinishedRun(folder),
            options=flags,
            paths=tuple(content["paths"]),
            version=content["version"],
            code=if_known(dict, content["code"]),
            addresses=list(content["addresses"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidSettings(f"--resume: {folder / OPTIONS} cannot be read ({error}); run it anew") from None


def _require_same(before: ResumableRun, targets: Sequence[Settings]) -> None:
    """Raises InvalidSettings if the stored answers are of another program or endpoint."""
    if before.version != __version__:
        raise InvalidSettings(f"--resume: the run is of runevals {before.version}; run it anew")
    if before.addresses != addresses(*targets):
        raise InvalidSettings(
            "--resume: the target or a judge has another address now than when the run began (OPENAI_BASE_URL, "
            "base_url, target.url); go back to it, or run it anew"
        )
    if before.code is None:
        raise InvalidSettings(
            f"--resume: there are more than {MOST_FILES} files here that git does not have, too many to know "
            "whether the program under test is still the same; run it anew"
        )
    if (what := what_changed(before.code, targets)) is not None:
        raise InvalidSettings(
            f"--resume: the files here have changed since the run began ({one_line(what, 200)}), and with them, "
            "maybe, the program under test; go back to them (a flag such as `--resume --max-cost 5` changes a "
            "setting), or run it anew"
        )
