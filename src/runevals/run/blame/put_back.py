"""Runs of lost cases in a worktree of the head, with hunks put back; the user's checkout is only read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from runevals.lib.nullable import if_known, total
from runevals.lib.storage.files import remove_files, write_whole
from runevals.records import AttemptReport
from runevals.records.errors import ExternalError, InvalidSettings, RunevalsError
from runevals.repository.git import Head
from runevals.repository.git_changes import changed_files
from runevals.repository.worktree import copy_changes, worktree
from runevals.run.baseline.checkout import base_settings
from runevals.run.baseline.editable_installs import with_own_packages
from runevals.run.baseline.prepare import prepare
from runevals.run.baseline.relocate import rerooted
from runevals.run.blame.hunks import ChangeHunks
from runevals.run.default_target import with_target
from runevals.run.load import suites_of
from runevals.run.measurement import Measurement
from runevals.run.request import RunRequest
from runevals.run.sides import open_side
from runevals.settings.resolve import RawSettings, Settings, resolve
from runevals.verdict.blame_search import HunkSet
from runevals.verdict.evidence import OUTCOME, values_of
from runevals.verdict.plan import PASS

Key = tuple[str, str]  # suite and key of a case
Least = Mapping[str, float]  # what a run must have, and how much of it at least
PASSES: Least = {OUTCOME: PASS}

DEPLOYED = (
    "the target would be asked at the same address with the hunks put back, and answers as it is deployed now; "
    "nothing can be found out like this"
)


class CannotPutBack(ExternalError):
    """The change cannot be run with all hunks put back, perhaps as others belong to them."""


class PutBackRunner(Struct, kw_only=True):
    """Runs cases with hunks put back. One set of hunks is put back at a time."""

    request: RunRequest
    words: RawSettings  # of the worktree
    checkout: Path
    change: ChangeHunks
    lost: Mapping[Key, Least] = {}  # what decides of a case; else whether it passes
    calls: Counter[Key] = field(default_factory=Counter)  # of the target
    costs: dict[Key, float | None] = {}
    # The last error of a run; before any:
    trouble: str = "the base has them under other names: commit the renaming alone, and compare with it (--base)"
    _here: HunkSet | None = None  # the set that is put back now
    _side: Measurement | None = None
    _head: Settings | None = None
    _opened: ExitStack = field(default_factory=ExitStack)

    def measure(self, put_back: HunkSet, needed: Mapping[Key, int]) -> Mapping[Key, Sequence[float]] | None:
        """Whether each of so many runs of these cases is as on the base; None: the run is to stop.

        Raises RunevalsError if the head, or the head with everything put back, cannot be run.
        """
        return if_known(partial(outcomes, lost=self.lost), self.runs(put_back, needed))

    def runs(self, put_back: HunkSet, needed: Mapping[Key, int]) -> Mapping[Key, Sequence[AttemptReport]] | None:
        """As `measure`, with all that is known of each run."""
        if self.request.budget.stop.problem is not None:
            return None
        try:
            attempts = self._attempts(self._with(put_back), needed)
        except RunevalsError as error:
            self._close()
            self.trouble = error.first_line
            if len(put_back) in (0, len(self.change.hunks)):
                if put_back:
                    raise CannotPutBack(f"the change cannot be run with all hunks put back: {error}") from None
                raise ExternalError(f"the change cannot be run in a worktree: {error}") from None
            return {}
        return None if self.request.budget.stop.problem is not None else attempts

    def require_other_target(self) -> None:
        """Raises InvalidSettings if the target is deployed, and asked the same with everything put back."""
        self._with(frozenset())
        self._with(frozenset(range(len(self.change.hunks))))

    def _attempts(self, side: Measurement, needed: Mapping[Key, int]) -> dict[Key, tuple[AttemptReport, ...]]:
        measured = side.of_cases(list(needed), max(needed.values()))
        trials = [
            trial for trial in measured.plan.trials if trial.attempt <= needed[trial.case.suite, trial.case.key]
        ]
        phase = f"{sum(self.calls.values())} calls so far"
        for _ in self.request.progress(measured, phase=phase, total=len(trials))(measured.evaluations(trials)):
            pass
        attempts = {(case.suite, case.key): case.attempts for case in measured.report().cases}
        for key, runs in attempts.items():
            self.calls[key] += sum(len(run.turns) for run in runs)
            self.costs[key] = total([self.costs.get(key, 0.0), *map(_cost, runs)])
            errors = [turn.error.message for run in runs for turn in run.turns if turn.error is not None]
            self.trouble = errors[-1] if errors else self.trouble
        return attempts

    def _with(self, put_back: HunkSet) -> Measurement:
        """The head with these hunks put back, opened to be measured."""
        if self._side is None or self._here != put_back:
            self._close()
            self._write(put_back)
            settings = self._settings()
            head = self._head = self._head or settings
            settings = replace(settings, load=replace(settings.load, suites=head.load.suites))
            target, all_hunks = settings.target, len(self.change.hunks)
            if target and len(put_back) == all_hunks and target.is_deployed_as(head.target):
                raise InvalidSettings(DEPLOYED)
            suites = suites_of(settings)
            request = replace(
                self.request,
                settings=with_target(settings, suites.suites),
                suites=suites,
                notices=(),
                journal=None,
            )
            self._side = self._opened.enter_context(open_side(request, "with hunks put back"))
            self._here = put_back
        return self._side

    def _write(self, put_back: HunkSet) -> None:
        for name, content in self.change.contents(put_back).items():
            path = self.checkout / name
            if content is not None:
                write_whole(path, [content])
            elif path.parent.is_dir():
                remove_files(path.parent, [path.name])

    def _settings(self) -> Settings:
        """The settings of the worktree as it is now; judge and limits stay those of the run."""
        run = self.request.settings
        here = with_own_packages(resolve(self.words), run.repository)
        measure = replace(here.measure, limits=run.measure.limits, cache=run.measure.cache)
        return replace(
            here,
            not_from=run.repository,
            judges=run.judges,
            no_judge=run.no_judge,
            measure=replace(measure, cache_target=False, repeat=1),
            rules=run.rules,
            redaction=replace(here.redaction, redact_patterns=run.redaction.redact_patterns),
        )

    def _close(self) -> None:
        self._here = self._side = None
        self._opened.close()


@contextmanager
def put_back_runner(
    request: RunRequest, head: str, change: ChangeHunks, lost: Mapping[Key, Least] = {}
) -> Iterator[PutBackRunner]:
    """The runner in a worktree of the commit `head`, with what is not committed yet. Raises RunevalsError."""
    settings = request.settings
    with worktree(settings.repository, head) as checkout:
        copy_changes(changed_files(settings.repository, head) or (), settings.repository, checkout)
        words = replace(request.raw, of_base=True)  # whose only target stands for each of several
        words = rerooted(words, checkout / settings.cwd.relative_to(settings.repository), Head(head, "HEAD"))
        # Two versions of a file, written in one second, would have the same compiled form.
        environment = {**words.environment, "PYTHONDONTWRITEBYTECODE": "1"}
        # The base's settings decide here, too.
        words = replace(words, environment=environment, base_side=settings.base_side, of_change=settings.of_change)
        there = replace(base_settings(words, settings), not_from=settings.repository)
        prepare(settings, with_own_packages(there, settings.repository), request.budget.stop)
        runner = PutBackRunner(request=request, words=words, checkout=checkout, change=change, lost=lost)
        try:
            yield runner
        finally:
            runner._close()


def _cost(attempt: AttemptReport) -> float | None:
    costs = [turn.cost_usd for turn in attempt.turns]
    return total([0.0, *costs, *(result.cost_usd or 0.0 for turn in attempt.turns for result in turn.results)])


def outcomes(attempts: Mapping[Key, Sequence[AttemptReport]], lost: Mapping[Key, Least]) -> dict[Key, list[float]]:
    """Whether each run of the cases has what was lost, or passes, without those that errored."""
    return {
        key: [float(_has(run, lost.get(key, PASSES))) for run in runs if run.status.measured]
        for key, runs in attempts.items()
    }


def _has(run: AttemptReport, least: Least) -> bool:
    values = values_of(run)
    return all((values.get(unit) or 0.0) >= value for unit, value in least.items())
