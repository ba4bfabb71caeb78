"""Several targets side by side: the request of each, the same rounds for all, and one compared with another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from runevals.records import AgainstComparison, Comparison, Conclusion, RunReport
from runevals.records.errors import InvalidSettings, RunevalsError, TargetRefused
from runevals.reports import RESULTS, is_packed_name, suffix_of
from runevals.run.baseline.from_files import is_remote
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.evaluate import Evaluation
from runevals.run.measurement import Measurement, OtherSide
from runevals.run.request import RunRequest
from runevals.settings.resolve import Settings, each_target, resolve
from runevals.settings.target_names import file_name
from runevals.verdict.against import against_target
from runevals.verdict.outcome import conclusion_of


class Job(Struct):
    """One target on its way through the stages. Its error ends it, and not the others."""

    request: RunRequest
    base: StoredBase = StoredBase()
    reused: Conclusion | tuple[str, ...] = ()  # of the base, or notices why it is run
    head: Measurement | RunReport | None = None
    other: OtherSide | None = None  # what `against` names, if that is no target
    refusal: str = ""  # why the rest of it was not measured
    report: RunReport | None = None
    comparison: Comparison | None = None
    against: AgainstComparison | None = None
    error: RunevalsError | None = None


def each(jobs: Sequence[Job], stage: Callable[[Job], None]) -> Sequence[Job]:
    """Takes every job through a stage → those that it did not end. Raises an error if none is left.

    What a service refuses may be excused, so that another error goes first.
    """
    for job in jobs:
        try:
            stage(job)
        except RunevalsError as error:
            job.error = error
    left = [job for job in jobs if job.error is None]
    if not left:
        raise min(filter(None, (job.error for job in jobs)), key=lambda error: isinstance(error, TargetRefused))
    return left


def requests_of_each(request: RunRequest) -> Sequence[RunRequest]:
    """What each target is run with, as if it were the only one; the request itself if it is."""
    if not request.settings.targets or request.settings.evaluate_only:
        return (request,)
    requests = []
    for name, raw in each_target(request.settings, request.raw).items():
        requests.append(replace(request, name=name, settings=_with_own_baseline(resolve(raw), name), raw=raw))
    return requests


def _with_own_baseline(settings: Settings, name: str) -> Settings:
    """Each target has a base of its own: `base.json` → `base.mini.json`. Raises InvalidSettings."""
    source = settings.compare.baseline
    if source is None:
        return settings
    if is_remote(source) or Path(source).is_dir():
        raise InvalidSettings(
            "baseline: of several targets, it is a file (base.json means "
            f"{of_target(Path('base.json'), name)} and so on); name one, or run the base itself with --base REF"
        )
    return settings.with_baseline(str(of_target(Path(source), name)))


def of_target(path: Path, name: str) -> Path:
    """The file of one target: `results.json` → `results.mini.json`."""
    suffix = f"{suffix_of(RESULTS)}.gz" if is_packed_name(path.name) else path.suffix
    return path.with_name(f"{path.name[: -len(suffix)]}.{file_name(name)}{suffix}")


def reused_by_all(jobs: Sequence[Job], settings: Settings) -> list[Conclusion]:
    """The results of the base (`changed_only`) if they can be those of every target; else of none."""
    reused = {job.request.name: job.reused for job in jobs if isinstance(job.reused, Conclusion)}
    if len(reused) < len(jobs):
        return []
    against = against_each({name: one.report for name, one in reused.items() if one.report.cases}, settings)
    for job in jobs:
        conclusion, of_other = reused[job.request.name], against.get(job.request.name)
        if of_other is None:
            continue
        again = conclusion_of(conclusion.report, None, job.request.settings.rules, conclusion.mark, of_other)
        if again.verdict.exit_code:
            return []
        reused[job.request.name] = replace(conclusion, gates=again.gates, against=again.against)
    return list(reused.values())


def measure_together(jobs: Sequence[Job]) -> None:
    """The rounds of all targets in turn, so that an outage affects all of them alike."""
    sides = []
    for job in jobs:
        assert isinstance(job.head, Measurement)  # noqa: S101 - it was opened
        sides.append(OtherSide(job.request.name, job.head))

    def rounds() -> Iterator[Evaluation]:
        for number in range(1, max(each.side.plan.repeat for each in sides) + 1):
            for each in sides:
                yield from each.round(number)

    for _ in jobs[0].request.progress(*(each.side for each in sides))(rounds()):
        pass
    for job, side in zip(jobs, sides, strict=True):
        job.head, job.refusal = side.side.report(), side.problem


def against_each(reports: dict[str, RunReport], settings: Settings) -> Mapping[str, AgainstComparison]:
    """Every other target against the one that `--against` names, if that one was measured."""
    if settings.compare.against not in reports:
        return {}
    alpha = settings.rules.regression.alpha
    return against_target(reports, settings.compare.against, margin=settings.compare.margin, alpha=alpha)
