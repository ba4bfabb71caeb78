"""The request for one run, as one record; stages return a changed copy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Unpack

from msgspec import Struct, field
from msgspec.structs import replace

from runevals.lib.terminal import notice
from runevals.records import CaseReport, Conclusion, MarkRun, Weakening
from runevals.records.rules import Limits
from runevals.run import load
from runevals.run.baseline.marks import FindMark
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.measurement import Progress, silent
from runevals.run.resume.journal import Journal
from runevals.run.world.budget import Budget, Stop
from runevals.settings.arguments import SettingsArguments
from runevals.settings.resolve import RawSettings, Settings, require_known, resolve
from runevals.suites.load import LoadedSuites
from runevals.targets import Target


class RunRequest(Struct, frozen=True, kw_only=True):
    """The settings and suites of a run, its base, and the notices of earlier stages.

    `raw` is what the settings were made of: it makes those of the base, too, in a checkout of the base.
    """

    settings: Settings
    name: str = ""  # of its target, if the run has several
    suites: LoadedSuites = LoadedSuites(suites=())
    raw: RawSettings = field(default_factory=RawSettings)
    base: str | None = None  # the ref whose commit is run first
    stored: StoredBase | None = None  # of an earlier run; taken if the settings name no base
    earlier: Conclusion | None = None  # of the same commit, by an earlier attempt of this job
    has_page: bool = False  # a page shows its results, and how many wrong answers its suites notice
    finds_lines: bool = False  # searches the lines that lost cases, if the settings allow it
    journal: Journal | None = None  # answers of an unfinished run
    find_mark: FindMark | None = None  # finds the run of a mark; None: among the results in this folder
    mark: MarkRun | None = None  # the run that the settings' mark names
    weakenings: tuple[Weakening, ...] = ()  # of settings and quarantine: what a change would decide about itself
    base_results: Mapping[tuple[str, str], CaseReport] = {}  # by suite and key, of unaffected cases
    notices: tuple[str, ...] = ()  # of stages before the measurement
    budget: Budget = field(default_factory=lambda: Budget(Limits(), Stop()))
    target: Callable[[], Target] | None = None  # makes it, in place of the one that the settings name
    progress: Progress = silent
    tell: Callable[[str], None] = notice

    @classmethod
    def of(cls, *paths: str | Path, cwd: Path | None = None, **settings: Unpack[SettingsArguments]) -> RunRequest:
        """The request of a run in `cwd`, with its settings file; `paths` are suites, `settings` are as flags.

        Raises InvalidSettings, InvalidSuite, NoSuiteFound.
        """
        require_known(settings)
        flags: dict[str, object] = {**settings, **({"suites": [str(path) for path in paths]} if paths else {})}
        raw = RawSettings(flags=flags, cwd=cwd or Path.cwd())
        resolved = resolve(raw)
        return cls(settings=resolved, suites=load.suites_of(resolved), raw=raw)

    @classmethod
    def limited(
        cls, settings: Settings, raw: RawSettings, progress: Progress, base: str | None = None
    ) -> RunRequest:
        """The request of a command that measures by itself, within the limits of these settings."""
        suites, budget = load.suites_of(settings), Budget(settings.measure.limits, Stop())
        return cls(settings=settings, suites=suites, raw=raw, base=base, budget=budget, progress=progress)

    def noting(self, *notices: str) -> RunRequest:
        """The request with further notices."""
        return replace(self, notices=(*self.notices, *notices))


def load_suites(
    *paths: str | Path, cwd: Path | None = None, **settings: Unpack[SettingsArguments]
) -> LoadedSuites:
    """The suites that a run in `cwd` would have. Raises as `RunRequest.of`."""
    return RunRequest.of(*paths, cwd=cwd, **settings).suites
