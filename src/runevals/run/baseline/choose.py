"""Which base a run is compared with: a stored result, else the base's commit, run now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from runevals.records import Conclusion, FinalVerdict
from runevals.records.errors import WORLD_REFUSED, NoSuiteFound, RunevalsError, WorldRefused
from runevals.run.baseline.from_files import read_baseline
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.measurement import Baseline
from runevals.run.redaction.redactors import base_without_patterns
from runevals.settings.resolve import Settings

RunBase = Callable[[str], Baseline]  # measures a commit; raises RunevalsError


def find_stored(settings: Settings, of_job: StoredBase | None) -> StoredBase:
    """The result that the settings name, else the one that the job found. Raises as `read_baseline`.

    An address that does not answer is unreadable if it is known which commit can be run instead.
    """
    try:
        baseline, notices = read_baseline(settings)
    except WorldRefused as error:
        if settings.base_side is None:
            raise
        return StoredBase(commit=settings.base_side.commit, unreadable=_first_line(error))
    stored = StoredBase(baseline=baseline, notices=notices)
    if baseline is None and of_job is not None:
        stored = replace(of_job, notices=(*notices, *of_job.notices))
    # It may be older than the patterns.
    return replace(stored, baseline=base_without_patterns(stored.baseline, settings))


def chosen(stored: StoredBase, settings: Settings, run: RunBase) -> StoredBase:
    """`stored`, or the base's commit run now where its stored result cannot be read."""
    if stored.unreadable is None:
        return stored
    if settings.verify == "off":
        return _not_run(stored, "it is not run again (verify: off)")
    if stored.commit is None:
        return _not_run(stored, "nothing says which commit to run instead")
    return _run_now(stored, stored.commit, run)


def _run_now(stored: StoredBase, commit: str, run: RunBase) -> StoredBase:
    try:
        baseline = run(commit)
    except NoSuiteFound as error:
        notice = f"no baseline: the base {commit[:7]} has nothing to run: {_first_line(error)}"
        return StoredBase(notices=(*stored.notices, notice), commit=commit)
    except RunevalsError as error:
        return _not_run(stored, f"the base {commit[:7]} cannot be run: {_first_line(error)}")
    notice = f"the base was run anew: {stored.unreadable}"
    return StoredBase(baseline=baseline, notices=(*stored.notices, notice), commit=commit)


def _not_run(stored: StoredBase, why: str) -> StoredBase:
    unreadable = f"{stored.unreadable}; {why}"
    return replace(stored, unreadable=unreadable, notices=(*stored.notices, f"no baseline: {unreadable}"))


def _first_line(error: RunevalsError) -> str:
    return str(error).partition("\n")[0]


def concluded(conclusion: Conclusion, stored: StoredBase, settings: Settings) -> Conclusion:
    """The conclusion, unmeasured where a base could be neither read nor run: nobody knows what was lost."""
    informs = settings.on_incomparable == "pass"
    if stored.unreadable is None or informs or conclusion.verdict.outcome != "passed":
        return conclusion
    headline = f"Not measured – the stored result of the base cannot be used: {stored.unreadable}"
    verdict = FinalVerdict(outcome="unmeasured", headline=headline, exit_code=WORLD_REFUSED)
    return replace(conclusion, verdict=verdict)
